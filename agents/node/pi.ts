// SPDX-License-Identifier: MIT
//
// pi.ts: the extension for pi. Pending notifications are added inside tool results and inside messages that a person types during a run; with a
// prompt they are a message after it, so that the person's own words stay as typed. pi writes each message to its session file as one line with the
// delivery's id, so that the deliveries of a killed session are known.
import { homedir } from "node:os";
import { join } from "node:path";
import { type TextPart, aroundParts, aroundText } from "./compose.ts";
import { closeKit, commandEnvironment, openKit, openKitAgain } from "./kit.ts";
import { forkedFrom, heldDeliveries } from "./pi_transcript.ts";
import type { Entry, PiApi, PiContext, PiMessage } from "./pi_types.ts";
import { sessionPath } from "./paths.ts";
import { type Delivery, type Driver, Session, type Start, type Turn, Withdrawn } from "./session.ts";

/** A turn of tidings that pi is about to run. */
interface Starting {
  turn: Turn;
  delivery: Delivery | undefined;
}

const CUSTOM_TYPE = "tidings";
const LEAVING_MS = 10_000; // after that time, something has prevented the person from leaving
const RETRY_MS = 50; // pi settles at once after an error, or else waits and tries again

class Conversation implements Driver {
  readonly session: Session;
  #pi: PiApi;
  #ctx: PiContext;
  #unsettled = new Set<string>();
  #offered: Turn | undefined; // sent to pi, which has not started it yet
  #starting: Starting | undefined;
  #promptComes = false; // the run's first user message is next
  #withPrompt: Delivery | undefined; // is added to that message, not to a separate one
  #aborting = false;
  #compacting = false;
  #leaving = false; // something else comes before a turn of tidings
  #stopped: { reason?: string; error?: string } = {};
  #words = ""; // the last words of the run
  #attempt = 0; // the number of retries in this run
  #retry: ReturnType<typeof setTimeout> | undefined;

  constructor(pi: PiApi, ctx: PiContext, session: (driver: Driver) => Session) {
    this.#pi = pi;
    this.#ctx = ctx;
    this.session = session(this);
  }

  // -- actions that tidings asks for ---------------------------------------------------------------------------------------------------------------

  /** `pi -p` answers only one prompt, so no other turn is started in it. */
  get #isOneShot(): boolean {
    return this.#ctx.mode === "print" || this.#ctx.mode === "json";
  }

  /** Is this a run that a command of an assistant has started? */
  get isCalled(): boolean {
    return this.#isOneShot && this.session.isCalled;
  }

  start(turn: Turn): Start {
    if (this.#isOneShot) return "never";
    if (this.#leaving || !this.#ctx.isIdle() || !this.#ctx.model) return "later";
    this.#offered = turn;
    this.#pi.sendUserMessage(turn.text);
    return "started";
  }

  /** Text that was typed ahead is not lost with the run: the terminal puts it back into its editor; elsewhere the next run begins with it. */
  abort(): void {
    if (!this.#isOneShot) this.stop();
  }

  stop(): void {
    this.#aborting = true;
    this.#ctx.abort();
  }

  // -- the session -------------------------------------------------------------------------------------------------------------------------

  /** pi may start a session twice in a row. */
  rebind(ctx: PiContext): void {
    this.#ctx = ctx;
  }

  /** A run that a command of an assistant has started has no folder, because pushes to the folder are meant for the assistant. */
  attach(takeover = false): void {
    const entries = this.#ctx.sessionManager.getEntries();
    const isNew = !entries.some((entry) => entry.type === "message");
    const cwd = this.isCalled ? undefined : this.#ctx.cwd;
    if (isNew && !takeover) this.session.opened(cwd);
    else this.session.resumed(cwd, heldDeliveries(entries), takeover);
  }

  /** Attaches when the person has prompted already: a turn that this offers has to wait until that run has ended. */
  attachLate(): void {
    this.#leaving = true;
    this.attach();
  }

  #configured(): void {
    const folder = process.env.PI_CODING_AGENT_DIR || join(homedir(), ".pi", "agent");
    const files = [join(folder, "settings.json"), join(folder, "models.json"), join(this.#ctx.cwd, ".pi", "settings.json")];
    this.session.configuredBy(files, "pi reads it with /reload");
  }

  /** pi will abort what runs and go to another session, unless somebody forbids it. Queued
   * messages must not keep it here. */
  mayLeave(): void {
    this.#leaving = true;
    setTimeout(() => (this.#leaving = false), LEAVING_MS).unref();
  }

  leave(reason: string): void {
    this.settle(true);
    if (reason === "new") this.session.leaveBehind();
    else this.session.leave();
  }

  /** The person went to another place in the tree: the model now reads only that branch. */
  branched(): void {
    this.settle(true);
    this.session.reportSurely("session.rewound", { deliveries: heldDeliveries(this.#ctx.sessionManager.getBranch(), Infinity) });
  }

  compacting(begins: boolean): void {
    if (this.#compacting === begins) return;
    this.#compacting = begins;
    this.session.reportSurely(begins ? "session.compacting" : "session.compacted");
    if (!begins && this.#offered) this.session.hold(this.#offered); // pi refuses messages while it compacts
  }

  // -- prompts -----------------------------------------------------------------------------------------------------------------------------

  /** True: this is a turn of tidings that was withdrawn. */
  refuses(source: string, text: string): boolean {
    this.#leaving = false;
    this.#dropStarting();
    const turn = this.#offered;
    if (source !== "extension" || !turn || turn.text !== text) return false;
    this.#offered = undefined;
    try {
      this.#starting = { turn, delivery: this.session.startTurn(turn) };
      return false;
    } catch (error) {
      if (error instanceof Withdrawn) return true;
      throw error;
    }
  }

  /** Drops a turn of tidings that pi has taken but not run, because there is no model or another extension has taken it. */
  #dropStarting(): void {
    const starting = this.#starting;
    if (!starting) return;
    this.#starting = undefined;
    if (starting.delivery?.id) this.session.settle(starting.delivery.id, false);
    this.session.turnEnded("aborted");
  }

  /** Returns the text after the prompt. */
  promptAddition(): { text: string; delivery: string | undefined } | undefined {
    if (this.session.lost) this.attach(true);
    this.#configured();
    let delivery = this.#starting ? this.#starting.delivery : this.session.prompt();
    if (this.session.lost) {
      this.attach(true); // only this prompt has shown that it was taken over
      delivery = this.session.prompt();
    }
    this.#promptComes = true;
    this.#withPrompt = undefined;
    if (!delivery) return undefined;
    const text = aroundText("", delivery).trim();
    if (delivery.id) this.#unsettled.add(delivery.id);
    // A message from the queue must be in one record with its delivery: if pi were killed between two records, the queue would offer the message
    // again.
    if (text && this.#starting?.turn.source !== "user") return { text, delivery: delivery.id };
    this.#withPrompt = delivery;
    return undefined;
  }

  runStarted(): void {
    const starting = this.#starting;
    this.#starting = undefined;
    this.#leaving = false;
    this.#stopped = {};
    if (!this.session.running) this.#attempt = 0;
    if (!this.session.running) this.session.turnStarted(starting?.turn);
  }

  // -- messages, before pi writes them ----------------------------------------------------------------------------------------------------

  message(message: PiMessage): PiMessage | undefined {
    if (message.role === "assistant") this.#answered(message);
    if (message.role === "user" && this.#promptComes) {
      this.#promptComes = false;
      return this.#carry(message, this.#withPrompt);
    }
    if (message.role === "toolResult") return this.#result(message);
    return message.role === "user" ? this.#carry(message, this.session.prompt()) : undefined;
  }

  #answered(message: PiMessage): void {
    const { usage, content } = message;
    this.#stopped = { reason: message.stopReason, error: message.errorMessage };
    const text = Array.isArray(content) ? content.findLast((part) => part.type === "text" && part.text)?.text : content;
    if (text) this.#words = text;
    if (!usage || message.stopReason === "error") return;
    const tokens = usage.totalTokens ?? (usage.input ?? 0) + (usage.output ?? 0) + (usage.cacheRead ?? 0) + (usage.cacheWrite ?? 0);
    this.session.used(tokens, this.#ctx.model?.contextWindow ?? 0);
  }

  /** Returns the tool's output, made harmless, with its notifications. */
  #result(message: PiMessage): PiMessage | undefined {
    const parts = (Array.isArray(message.content) ? message.content : []).map((part) => (part.type === "text" && part.text ? { ...part, text: this.session.harmless(part.text) } : part));
    const isChanged = parts.some((part, at) => part.text !== (message.content as TextPart[])[at].text);
    const result = isChanged ? { ...message, content: parts } : message;
    return this.#carry(result, this.session.toolResult(message.toolCallId ?? "", message.toolName ?? "")) ?? (isChanged ? result : undefined);
  }

  #carry(message: PiMessage, delivery: Delivery | undefined): PiMessage | undefined {
    if (!delivery) return undefined;
    const content = typeof message.content === "string" ? [{ type: "text", text: message.content }] : message.content;
    const parts: TextPart[] = (content ?? []).map((part) => ({ ...part }));
    aroundParts(parts, delivery);
    if (!delivery.id) return { ...message, content: parts };
    this.#unsettled.add(delivery.id);
    return { ...message, content: parts, tidings: { delivery: delivery.id } };
  }

  /** Settles deliveries that pi has written. `final`: deliveries that are not written by now never will be. */
  settle(final = false): void {
    if (!this.#unsettled.size) return;
    const held = new Set(this.#written(final) ? heldDeliveries(this.#ctx.sessionManager.getEntries()) : []);
    for (const id of [...this.#unsettled]) {
      if (!held.has(id) && !final) continue;
      this.#unsettled.delete(id);
      this.session.settle(id, held.has(id));
    }
  }

  /** pi writes a new session only after the assistant's first answer. */
  #written(final: boolean): boolean {
    const manager = this.#ctx.sessionManager;
    if (final || !manager.getSessionFile()) return true;
    return manager.getEntries().some((entry: Entry) => entry.type === "message" && entry.message?.role === "assistant");
  }

  // -- the run's end -----------------------------------------------------------------------------------------------------------------------

  /** pi does not report whether it will try again; if it does not settle soon, it does. */
  runEnded(): void {
    const { reason, error } = this.#stopped;
    clearTimeout(this.#retry);
    if (reason !== "error") return;
    this.#retry = setTimeout(() => this.session.retries(++this.#attempt, error), RETRY_MS);
    this.#retry.unref();
  }

  settled(): void {
    const { reason, error } = this.#stopped;
    clearTimeout(this.#retry);
    const aborted = this.#aborting || reason === "aborted";
    this.#aborting = false;
    this.#promptComes = false;
    this.settle(true);
    this.compacting(false);
    this.session.turnEnded(aborted ? "aborted" : reason === "error" ? "failed" : "finished", error);
    if (this.#isOneShot) this.session.endedForCaller(reason === "error" ? `It failed: ${error ?? ""}` : this.#words);
  }

  edited(path: unknown, callId: string): void {
    if (typeof path !== "string" || !path) return;
    const whole = path.startsWith("~/") ? join(homedir(), path.slice(2)) : path;
    this.session.filesChanged(this.#ctx.cwd, [sessionPath(this.#ctx.cwd, whole)], callId);
  }
}

function enter(pi: PiApi, ctx: PiContext, forkedFromFile: string | undefined, open = openKit): Conversation | undefined {
  const kit = open("pi", ctx.cwd);
  if (!kit) return undefined;
  const id = ctx.sessionManager.getSessionId();
  const parent = forkedFromFile && forkedFrom(forkedFromFile);
  const conversation = new Conversation(pi, ctx, (driver) => new Session(kit, id, driver));
  if (parent && parent !== id) {
    const before = new Session(kit, parent, conversation);
    before.report("session.forked", { child: id });
    before.leave();
  }
  if (!conversation.isCalled) Object.assign(process.env, commandEnvironment(id));
  return conversation;
}

export default function tidings(pi: PiApi): void {
  let now: Conversation | undefined;

  pi.on("session_start", (event, ctx) => {
    if (now?.session.id === ctx.sessionManager.getSessionId()) now.rebind(ctx);
    else {
      now = enter(pi, ctx, event.reason === "fork" ? event.previousSessionFile : undefined);
      now?.attach(); // this may start a turn, whose input comes back here at once
      if (event.reason === "new") now?.session.follow();
    }
  });
  pi.on("session_shutdown", (event) => {
    now?.leave(event.reason);
    now = undefined;
    if (event.reason === "quit") closeKit();
  });
  pi.on("session_before_switch", () => now?.mayLeave());
  pi.on("session_before_fork", () => now?.mayLeave());
  pi.on("session_tree", () => now?.branched());
  pi.on("model_select", () => now?.session.ready());
  pi.on("session_before_compact", () => now?.compacting(true));
  pi.on("session_compact", () => now?.compacting(false));
  pi.on("session_compact_failed", () => now?.compacting(false));

  pi.on("input", (event) => (now?.refuses(event.source, event.text) ? { action: "handled" } : undefined));
  pi.on("before_agent_start", (event, ctx) => {
    if (!now) {
      now = enter(pi, ctx, undefined, openKitAgain);
      now?.attachLate();
    }
    const paragraph = now?.session.instructions(false);
    if (paragraph) event.systemPromptOptions.sections[CUSTOM_TYPE] = paragraph;
    const added = now?.promptAddition();
    if (!added) return undefined;
    return { message: { customType: CUSTOM_TYPE, content: added.text, display: true, details: { tidings: { delivery: added.delivery } } } };
  });
  pi.on("agent_start", () => now?.runStarted());
  pi.on("agent_end", () => now?.runEnded());
  pi.on("before_provider_request", () => {
    now?.settle();
    now?.session.enters("streaming");
  });
  pi.on("tool_execution_start", (event) => {
    now?.settle();
    now?.session.callRuns(event?.toolName ?? "", event?.toolCallId ?? "");
  });
  pi.on("tool_execution_end", (event) => now?.session.callEnded(event?.toolCallId ?? ""));
  pi.on("tool_result", (event) => {
    if (!event.isError && (event.toolName === "edit" || event.toolName === "write")) now?.edited(event.input.path, event.toolCallId);
  });
  pi.on("message_end", (event) => {
    const message = now?.message(event.message);
    return message && { message };
  });
  pi.on("turn_end", () => now?.settle());
  pi.on("ui_prompt_start", () => now?.session.asks("user-input"));
  pi.on("ui_prompt_end", () => now?.session.answered());
  pi.on("agent_settled", () => now?.settled());
}
