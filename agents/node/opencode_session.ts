// SPDX-License-Identifier: MIT
//
// opencode_session.ts: a conversation in opencode: its carriers until they are stored, and the begin and end of opencode's turns. opencode stores each
// part as one row, with the delivery's id in its metadata; the event that a part was stored settles the delivery.
import { join } from "node:path";
import { type Additions } from "./compose.ts";
import { describe, log } from "./kit.ts";
import { addToPrompt, addToResult, editedPaths, heldDeliveries, holds, neutralize } from "./opencode_parts.ts";
import type { BusEvent, Client, MessageInfo, Model, Part, SessionInfo, StoredMessage, ToolOutput } from "./opencode_types.ts";
import { inHome, sessionPath } from "./paths.ts";
import { type Driver, Session, type Start, type Turn } from "./session.ts";

const RECENT = 200; // messages; unsettled deliveries are among the last ones
const SECOND_IDLE_MS = 1000;
const PROMPT_MS = 5000; // after that time, a new session was not begun with a prompt
const ABORTED = "MessageAbortedError";
const RATE = /rate.?limit|too many requests|quota|usage.?limit/i;

/** The surroundings of a conversation. */
export interface Place {
  client: Client;
  directory: string;
  isOneShot: boolean;
  others(id?: string): Conversation | undefined;
}

/** Calls opencode. An exception rejects the promise. */
const asked = async <T>(call: () => T | Promise<T>): Promise<T> => call();

interface Unsettled {
  added: Additions;
  callId: string | undefined;
}

export class Conversation implements Driver {
  readonly session: Session;
  readonly id: string;
  parent: string | undefined; // the session whose subagent this is
  #client: Client;
  #folder: string;
  #isOneShot: boolean;
  #last: { agent?: string; model?: MessageInfo["model"] } = {}; // the agent and model that the person has chosen
  #unsettled = new Map<string, Unsettled>();
  #failedParts = new Set<string>(); // results of failed tools that were carriers, or could have been
  #offered: Turn | undefined; // sent to opencode, which has not started it yet
  #unnamed: Turn | undefined; // was sent to the model, but tidings could not take its start
  #promptDue = 0; // the time until which a person's first prompt is expected
  #aborting = false;
  #busies = 0; // how often opencode has reported in this turn that it is busy: at its begin, and before each request
  #error: MessageInfo["error"];
  #ending: ReturnType<typeof setTimeout> | undefined;
  #compacting = false;
  #unread = new Set<string>(); // deliveries that no answered request of the model has contained
  #inRequest = new Set<string>(); // deliveries in the running request
  #lost = new Set<string>(); // deliveries that the model never read and never will
  #summarized = false; // since the last request to the model
  #lostMessages = false; // opencode has removed messages since the last question what is left
  #rewinding: Promise<void> | undefined;
  #others: Place["others"];
  #agent: string | undefined; // the agent of this session, if it is a subagent's
  #asking = ""; // the message that the model is answering
  #words = ""; // its answer's last text
  #context = 0; // the model's limit of tokens; 0: not known yet
  #background = new Set<string>(); // sessions of subagents that work in the background

  constructor(place: Place, id: string, session: (driver: Driver) => Session) {
    this.id = id;
    this.#client = place.client;
    this.#folder = place.directory;
    this.#isOneShot = place.isOneShot;
    this.#others = place.others;
    this.session = session(this);
  }

  // -- the session -------------------------------------------------------------------------------------------------------------------------

  /** A subagent's session has no folder, because pushes to the folder are meant for the session that a person sees. */
  #cwd(): string | undefined {
    return this.parent || this.isCalled ? undefined : this.#folder;
  }

  /** Is this a run that a command of an assistant has started? */
  get isCalled(): boolean {
    return this.#isOneShot && this.session.isCalled;
  }

  opened(info: SessionInfo): void {
    this.parent = info.parentID;
    this.#agent = info.agent;
    this.session.opened(this.#cwd());
    this.#sign(info);
  }

  /** opencode copies a session's metadata into its forks, so a fork has the id of another session. */
  #sign({ metadata }: SessionInfo): void {
    if (this.parent || metadata?.tidings?.session === this.id) return;
    const body = { metadata: { ...metadata, tidings: { session: this.id } } };
    asked(() => this.#client.session.update?.({ path: { id: this.id }, body })).catch((error) => log("opencode", `session ${this.id}: its mark: ${describe(error)}`));
  }

  /** Reports the files by which opencode is configured. A subagent's session has no files of its own. */
  #configured(): void {
    if (this.parent) return;
    const names = ["opencode.json", "opencode.jsonc"];
    const folders = [inHome("XDG_CONFIG_HOME", ".config", "opencode"), this.#folder, join(this.#folder, ".opencode")];
    const named = process.env.OPENCODE_CONFIG ? [process.env.OPENCODE_CONFIG] : [];
    this.session.configuredBy([...named, ...folders.flatMap((folder) => names.map((name) => join(folder, name)))], "opencode reads it when it starts again");
  }

  /** Attaches to a session that this process has not begun. False: opencode does not return its messages. */
  async attach(takeover = false): Promise<boolean> {
    const path = { id: this.id };
    const [info, messages] = await Promise.all([this.#client.session.get({ path }), this.#client.session.messages({ path, query: { limit: RECENT } })]);
    if (!info.data || !messages.data) {
      log("opencode", `session ${this.id}: its messages cannot be read: ${describe(info.error ?? messages.error)}`);
      return false;
    }
    const prompt = messages.data.findLast((message) => message.info.role === "user")?.info;
    if (prompt) this.#last = { agent: prompt.agent, model: prompt.model };
    this.parent = info.data.parentID;
    this.#agent = info.data.agent;
    this.#folder = info.data.directory;
    this.session.resumed(this.#cwd(), heldDeliveries(messages.data), takeover);
    this.#sign(info.data);
    return true;
  }

  async #takeOver(): Promise<void> {
    try {
      await this.attach(true);
    } catch (error) {
      log("opencode", `session ${this.id}: it cannot be taken over: ${describe(error)}`);
    }
  }

  /** opencode removes reverted messages when the next prompt comes, before it calls the prompt's hook. */
  removed(): void {
    this.#lostMessages = true;
  }

  /** Asks once which messages are left, after any number of removals, and again if tidings did not take the answer. A prompt waits for that. */
  #rewind(): Promise<void> {
    if (this.#lostMessages) this.#rewinding ??= this.#askWhatIsLeft().finally(() => (this.#rewinding = undefined));
    return this.#rewinding ?? Promise.resolve();
  }

  /** Does not throw. A message that is removed during the question may still be in the answer; then it asks again. */
  async #askWhatIsLeft(): Promise<void> {
    let taken = true;
    while (taken && this.#lostMessages) {
      this.#lostMessages = false;
      taken = await this.#takeWhatIsLeft();
    }
    if (!taken) this.#lostMessages = true;
  }

  async #takeWhatIsLeft(): Promise<boolean> {
    try {
      const { data, error } = await this.#client.session.messages({ path: { id: this.id } });
      if (!data) throw error;
      return this.session.rewound(heldDeliveries(data).filter((id) => !this.#lost.has(id)));
    } catch (error) {
      log("opencode", `session ${this.id}: what a revert has left cannot be read: ${describe(error)}`);
      return false;
    }
  }

  closed(): void {
    clearTimeout(this.#ending);
    this.session.closed();
  }

  leave(): void {
    clearTimeout(this.#ending);
    this.session.leave();
  }

  /** May the session be left? Nothing runs in it, and it belongs to this process. */
  get mayBeLeft(): boolean {
    return !this.session.running && !this.session.lost && !this.#offered && !this.#background.size;
  }

  leaveBehind(): void {
    clearTimeout(this.#ending);
    this.session.leaveBehind();
  }

  /** The person who has begun this session will prompt at once, so a waiting turn comes after that prompt. */
  follow(): void {
    this.#promptDue = Date.now() + PROMPT_MS;
    this.session.follow();
  }

  compacting(begins: boolean): void {
    if (this.#compacting === begins) return;
    this.#compacting = begins;
    if (!begins) this.#summarized = true;
    this.session.reportSurely(begins ? "session.compacting" : "session.compacted");
  }

  // -- actions that tidings asks for ---------------------------------------------------------------------------------------------------------------

  start(turn: Turn): Start {
    if (this.#isOneShot) return "never";
    if (this.#offered || Date.now() < this.#promptDue) return "later"; // a withdrawn offer is still on its way
    this.#offered = turn;
    const parts = [{ type: "text", text: turn.text, metadata: { tidings: { turn: turn.ids } } }];
    asked(() => this.#client.session.promptAsync({ path: { id: this.id }, body: { ...this.#last, parts } })).then(
      ({ error }) => error && this.#refused(turn, error),
      (error) => this.#refused(turn, error),
    );
    return "started";
  }

  #refused(turn: Turn, error: unknown): void {
    if (this.#offered !== turn) return;
    this.#offered = undefined;
    log("opencode", `session ${this.id}: the prompt was refused: ${describe(error)}`);
    this.session.report("turn.declined", { messages: turn.ids });
  }

  abort(): void {
    if (!this.#isOneShot) this.stop();
  }

  /** opencode reports idle too early; it is idle when the abort has been answered. */
  stop(): void {
    if (this.#aborting) return;
    const done = (): void => {
      this.#aborting = false;
      this.#error = { name: ABORTED };
      this.#end();
    };
    this.#aborting = true;
    asked(() => this.#client.session.abort({ path: { id: this.id } })).then(done, (error) => {
      log("opencode", `session ${this.id}: abort: ${describe(error)}`);
      done();
    });
  }

  // -- carriers ----------------------------------------------------------------------------------------------------------------------------

  /** Throws Withdrawn if this is a turn that tidings has started and withdrawn; then opencode stores nothing. */
  async prompt(message: MessageInfo, parts: Part[]): Promise<void> {
    const ids = parts.find((part) => part.metadata?.tidings?.turn)?.metadata?.tidings?.turn;
    const turn = this.#offered;
    this.#promptDue = 0;
    const isOurs = ids !== undefined && turn !== undefined && ids.join("\0") === turn.ids.join("\0");
    if (isOurs) this.#offered = undefined; // opencode has started it, even if something fails below
    this.#last = { agent: message.agent, model: message.model };
    this.#asking = message.id;
    this.#words = "";
    if (this.session.lost) await this.#takeOver();
    await this.#rewind();
    this.#configured();
    let delivery = isOurs ? this.session.startTurn(turn) : this.session.prompt();
    if (isOurs && !this.session.running && !this.session.lost) this.#unnamed = turn;
    if (!isOurs && this.session.lost) {
      await this.#takeOver(); // only this prompt has shown that another process has the session
      delivery = this.session.prompt();
    }
    if (!delivery) return;
    const shown = isOurs && turn.source === "system";
    if (addToPrompt(parts, delivery, { delivery: delivery.id }, shown)) this.#carried(delivery.id, delivery, undefined);
    else if (delivery.id) this.session.settle(delivery.id, false);
  }

  toolResult(tool: string, callId: string, output: ToolOutput): void {
    if (typeof output.output !== "string" && !Array.isArray(output.content)) return;
    neutralize(tool, output, (text) => this.session.harmless(text));
    const delivery = this.session.toolResult(callId, tool);
    if (!delivery) return;
    if (addToResult(output, delivery, { delivery: delivery.id })) this.#carried(delivery.id, delivery, callId);
    else if (delivery.id) this.session.settle(delivery.id, false);
  }

  #carried(id: string | undefined, added: Additions, callId: string | undefined): void {
    if (!id) return;
    this.#unsettled.set(id, { added, callId });
    this.#unread.add(id);
  }

  /** Reports the files that a call has changed to the session that a person sees. */
  edited(seen: Conversation, tool: string, callId: string, args: unknown, metadata: Record<string, unknown> | undefined): void {
    const paths = editedPaths(tool, args, metadata).map((path) => sessionPath(seen.#folder, path));
    seen.session.filesChanged(seen.#folder, paths, callId);
  }

  /** The model is about to be asked. Only the summarizer has read notifications that were
   * compacted before the model could read them. */
  asks(messages: StoredMessage[]): void {
    if (this.#compacting) return;
    this.#inRequest = new Set(heldDeliveries(messages));
    if (!this.#summarized) return;
    this.#summarized = false;
    for (const id of this.#unread) {
      if (this.#inRequest.has(id) || this.#unsettled.has(id)) continue;
      this.#unread.delete(id);
      this.#lost.add(id);
      this.#lostMessages = true;
    }
  }

  /** opencode calls no hook when a tool has failed. Before the next request, the result is found and changed in opencode's store. */
  async failedResults(messages: StoredMessage[]): Promise<void> {
    const last = messages.at(-1);
    if (last?.info.role !== "assistant" || this.#compacting) return;
    for (const part of last.parts) {
      if (part.type !== "tool" || part.state?.status !== "error" || this.#failedParts.has(part.id) || part.state.metadata?.tidings) continue;
      this.#failedParts.add(part.id);
      await this.#failedResult(part, part.state);
    }
  }

  async #failedResult(part: Part, state: NonNullable<Part["state"]>): Promise<void> {
    const delivery = this.session.toolResult(part.callID ?? "", part.tool ?? "");
    if (!delivery) return;
    const before = { error: state.error, metadata: state.metadata };
    const result: ToolOutput = { output: this.session.harmless(state.error ?? ""), metadata: state.metadata };
    addToResult(result, delivery, { delivery: delivery.id });
    state.error = result.output;
    state.metadata = result.metadata as typeof state.metadata;
    const stored = await this.#store(part);
    if (!stored) Object.assign(state, before);
    if (delivery.id) this.session.settle(delivery.id, stored);
  }

  async #store(part: Part): Promise<boolean> {
    try {
      const answer = await this.#client._client?.patch({
        url: "/session/{id}/message/{messageID}/part/{partID}",
        path: { id: part.sessionID, messageID: part.messageID, partID: part.id },
        body: part,
        headers: { "Content-Type": "application/json" },
      });
      if (answer && !answer.error) return true;
      log("opencode", `session ${this.id}: a failed tool's result cannot be changed: ${describe(answer?.error ?? "no such route")}`);
    } catch (error) {
      log("opencode", `session ${this.id}: a failed tool's result cannot be changed: ${describe(error)}`);
    }
    return false;
  }

  /** Call it when opencode has stored a part. */
  stored(part: Part): void {
    const { state } = part;
    if (part.type === "step-finish" && !this.#compacting) this.#answered(part);
    if (part.type === "text" && part.text && part.messageID !== this.#asking && !this.#compacting) this.#words = part.text;
    if (part.tool === "task" && state?.metadata?.background && state.metadata.sessionId) this.#goesOn(state.metadata.sessionId);
    if (part.type === "tool" && state?.status === "running") this.session.callRuns(part.tool ?? "", part.callID ?? "");
    else if (part.type === "tool" && (state?.status === "completed" || state?.status === "error")) this.session.callEnded(part.callID ?? "");
    const id = part.metadata?.tidings?.delivery ?? state?.metadata?.tidings?.delivery;
    const unsettled = id !== undefined ? this.#unsettled.get(id) : undefined;
    if (id !== undefined && unsettled && (!state || state.status === "completed")) this.#settle(id, !state || holds(state.output, unsettled.added));
    if (state?.status !== "error") return;
    for (const [other, { callId }] of this.#unsettled) if (callId === part.callID) this.#settle(other, false);
  }

  /** Call it when the model has answered a request, and so has read it. */
  #answered({ tokens }: Part): void {
    for (const read of this.#inRequest) this.#unread.delete(read);
    if (!tokens || this.parent) return;
    this.session.used(tokens.input + tokens.output + (tokens.reasoning ?? 0) + (tokens.cache?.read ?? 0) + (tokens.cache?.write ?? 0), this.#context);
  }

  isAskedOf(model: Model | undefined): void {
    this.#context = model?.limit?.context ?? 0;
  }

  #settle(id: string, written: boolean): void {
    this.#unsettled.delete(id);
    if (!written) this.#unread.delete(id);
    this.session.settle(id, written);
  }

  // -- turns -------------------------------------------------------------------------------------------------------------------------------

  status(status: NonNullable<BusEvent["properties"]["status"]>): void {
    if (status.type === "retry") {
      const isLimit = status.next !== undefined && RATE.test(status.message ?? "");
      this.session.retries(status.attempt, status.message, isLimit ? (status.next ?? 0) - Date.now() : undefined);
    }
    if (status.type !== "busy" || this.#aborting) return;
    if (this.#ending !== undefined) this.#end();
    this.#error = undefined;
    this.#busies++;
    if (!this.session.running) this.session.turnStarted(this.#unnamed);
    this.#unnamed = undefined;
    if (this.#busies > 1) this.session.enters("streaming");
  }

  // -- subagents ---------------------------------------------------------------------------------------------------------------------------

  /** A subagent works in the background; opencode itself tells the model when it has ended. */
  #goesOn(subagent: string): void {
    if (this.#background.has(subagent)) return;
    this.#background.add(subagent);
    this.session.report("handle.state", { handle: subagent, tool: "task", state: "running" });
  }

  #subagentEnded(id: string, agent: string | undefined, words: string, failed: boolean): void {
    if (!this.#background.delete(id)) this.session.subagentEnded(`${agent ?? "subagent"} ${id}`, words);
    else this.session.report("handle.state", { handle: id, tool: "task", state: failed ? "failed" : "stopped" });
  }

  #endedForOthers(error: MessageInfo["error"]): void {
    const words = error ? `It failed: ${error.data?.message ?? error.name}` : this.#words;
    if (this.parent) this.#others(this.parent)?.#subagentEnded(this.id, this.#agent, words, error !== undefined);
    else if (this.#isOneShot) this.session.endedForCaller(words);
  }

  // -- the turn's end ----------------------------------------------------------------------------------------------------------------------

  /** Notes an error, which is not the turn's end yet: opencode may continue, for example with a compaction. */
  failed(error: MessageInfo["error"]): void {
    if (this.session.running) this.#error = error;
    else if (this.#offered) this.#refused(this.#offered, error?.data);
  }

  /** After an abort opencode reports idle when the stream has ended, and mostly again when it is ready for the next prompt. */
  idle(): void {
    if (this.#aborting || !this.session.running || !this.#busies) return;
    if (this.#error?.name === ABORTED && this.#ending === undefined) this.#ending = setTimeout(() => this.#end(), SECOND_IDLE_MS);
    else this.#end();
  }

  #end(): void {
    clearTimeout(this.#ending);
    this.#ending = undefined;
    const error = this.#error;
    this.#error = undefined;
    this.#busies = 0;
    for (const id of [...this.#unsettled.keys()]) this.#settle(id, false);
    this.compacting(false);
    const lost = this.#lost.size > 0;
    this.session.turnEnded(!error ? "finished" : error.name === ABORTED ? "aborted" : "failed", error?.data?.message ?? error?.name);
    this.#endedForOthers(error);
    if (lost) void this.#rewind(); // tidings accepts this event only between turns
  }
}
