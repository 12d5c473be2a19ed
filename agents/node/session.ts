// SPDX-License-Identifier: MIT
//
// session.ts: one conversation of a host. It reports the conversation's state, carriers and turns to tidings, and passes the actions that tidings asks
// for to the host through a driver. It never throws into the host: errors go to the log, and the host continues as if tidings were not there.
import { alertBeside, alertNoMore, collectMailboxes } from "./alerts.ts";
import { type Additions, additions } from "./compose.ts";
import { Former } from "./former.ts";
import { type Kit, describe, log, mayPass, pauseAfter } from "./kit.ts";
import { changedFiles, fileStamp, fromHome } from "./paths.ts";
import type { Action, Reply } from "./tidings.d.ts";
import { type TurnData, TurnEvents } from "./turn_events.ts";

/** A turn that tidings offers. */
export interface Turn {
  source: "user" | "system";
  ids: string[];
  text: string;
}

/** `later`: the host cannot start it now; the session asks again. `never`: the offer is declined, and its messages wait for another one. */
export type Start = "started" | "later" | "never";

/** The actions of the host. They may be called at any time, even during another call. */
export interface Driver {
  start(turn: Turn): Start;
  abort(): void; // stops the model's stream; when the host has settled, it calls turnEnded("aborted")
  stop(): void; // a user asks for the turn's end: like abort, but stops tools too, even if the process then ends
}

/** The additions to a carrier. */
export interface Delivery extends Additions {
  id: string | undefined; // the delivery to settle
}

/** Thrown if the offer was withdrawn: the host must not send this turn's request. */
export class Withdrawn extends Error {}

type Phase = "streaming" | "tools";
const SHELLS = new Set(["bash", "shell"]);
const NOT_OFFERED = new Set(["TIDINGS_E_FIRED", "TIDINGS_E_NOT_FOUND", "TIDINGS_E_STATE"]);

/** Repairs half characters, at which a host may have cut a text, so that the event is not refused. */
const wellFormed = (_key: string, value: unknown): unknown => (typeof value === "string" ? value.toWellFormed() : value);
const quote = (text: string): string => JSON.stringify(text.toWellFormed());

export class Session {
  readonly id: string;
  #quoted: string; // the id as JSON
  running = false;
  lost = false; // another process owns the session, so nothing is reported or delivered here
  #kit: Kit;
  #driver: Driver;
  #phase: Phase | undefined;
  #calls = new Set<string>(); // running calls of shells
  #questions = 0; // questions that a person has not answered
  #begun: [tool: string, callId: string][] = []; // calls that began during a question
  #timer: ReturnType<typeof setTimeout> | undefined;
  #due = 0; // when the timer fires
  #held: Turn | undefined; // an offer that the host cannot start yet
  #again: ReturnType<typeof setTimeout> | undefined;
  #turns = new TurnEvents((type, data) => this.#isReported(type, data));
  #paragraph: string | undefined; // for the system prompt; it does not change
  #ring = (): void => this.wake();
  #former: Former;
  #share = -1; // the last reported use of the context, in steps of 5 %

  constructor(kit: Kit, id: string, driver: Driver) {
    this.id = id;
    this.#quoted = quote(id);
    this.#kit = kit;
    this.#driver = driver;
    this.#former = new Former(kit, id, (what, call) => this.#isTaken(what, call));
    kit.rang.set(id, this.#ring);
  }

  /** Ends the reports of this process. The conversation itself may continue in another process. */
  leave(): void {
    const held = this.#held;
    this.#drop();
    this.#turns.flush();
    this.#turns.forget();
    if (held && !this.lost) this.report("turn.declined", { messages: held.ids });
    clearTimeout(this.#timer);
    if (this.#kit.rang.get(this.id) !== this.#ring) return; // another object of this process has the session now
    this.#kit.rang.delete(this.id);
    alertNoMore(this.#kit, this.id);
  }

  /** The same, if another conversation replaces this one. */
  leaveBehind(): void {
    this.leave();
    if (!this.lost) this.#former.leave();
  }

  follow(): void {
    this.#former.follow(() => this.#turns.isCurrent());
  }

  // -- the session's life ----------------------------------------------------------------------------------------------------------------

  /** Opens a new conversation; without `cwd` it is not found by its folder. */
  opened(cwd: string | undefined): void {
    this.#starts("session.opened", cwd);
  }

  /** Resumes a session, with the deliveries that its transcript holds. A process that only opens a session which is open in another one leaves it
   * there; a prompt of a person takes it over. */
  resumed(cwd: string | undefined, deliveries: string[], takeover = false): void {
    this.#starts("session.resumed", cwd, { deliveries: deliveries.slice(-MOST_DELIVERIES), takeover });
  }

  #starts(type: string, cwd: string | undefined, more?: object): void {
    this.lost = false;
    this.#turns.forget();
    this.#turns.report(type, { cwd, host: this.#kit.hostName, ...more });
  }

  /** Reports an event of the session's life or of a turn. False: the store cannot take it now. */
  #isReported(type: string, data?: TurnData): boolean {
    if (!this.#isTaken(type, () => this.#send(type, data))) return false;
    if (data?.cwd === undefined || this.lost) return true;
    alertBeside(this.#kit, this.id);
    collectMailboxes(this.#kit, this.id);
    return true;
  }

  /** Reports that messages of the transcript were removed: it now holds exactly these deliveries. False: tidings did not take the report. */
  rewound(deliveries: string[]): boolean {
    return this.report("session.rewound", { deliveries }) !== undefined;
  }

  /** Call it when the conversation is deleted. */
  closed(): void {
    this.#drop();
    this.#turns.forget();
    this.report("session.closed");
    this.leave();
  }

  /** Sends an event of this session and does what the reply asks for. */
  report(type: string, data?: object): Reply | undefined {
    return this.#try(type, () => this.#take(this.#send(type, data)));
  }

  /** The same; if the store cannot take it now, it does later. After session.compacted, pending notifications go with the next carrier, and queued messages are
   * turns of their own, so the model reads each once. */
  reportSurely(type: string, data?: TurnData): void {
    this.#turns.report(type, data);
  }

  #send(type: string, data?: object): string | undefined {
    return this.#kit.instance.event(JSON.stringify({ type, session: this.id, data }, wellFormed));
  }

  /** Reports a phase. Each tool call has several phases, and their replies mostly ask for nothing. */
  #reportPhase(type: string, data = ""): void {
    if (!this.#turns.flush()) return;
    this.#try(type, () => {
      const reply = this.#kit.instance.report(`{"type":"${type}","session":${this.#quoted}${data}}`);
      if (typeof reply === "string") this.#take(reply);
      else this.#wakeAt(reply ?? null);
    });
  }

  wake(): void {
    const begun = performance.now();
    if (this.#turns.flush() && !this.#isTaken("wake", () => this.#send("wake"))) this.#wakeAt(Date.now() + pauseAfter(begun));
  }

  /** Reports how many tokens of the context are used. */
  used(tokens: number, limit: number): void {
    if (!(tokens >= 0 && limit > 0)) return;
    const share = Math.floor((20 * tokens) / limit);
    if (share === this.#share) return;
    this.#share = share;
    this.report("budget.usage", { used: Math.round(tokens), limit: Math.round(limit) });
  }

  /** Reports changes of the files by which the host itself is configured. `effect`: the effect of a change. */
  configuredBy(files: string[], effect: string): void {
    const changed = changedFiles(this.#kit.stamps, this.id, files).map(fromHome);
    if (changed.length) this.report("config.changed", { summary: `${changed.join(", ")} changed; ${effect}`, keys: changed });
  }

  /** Reports that a subagent of this session has ended, with its last words. */
  subagentEnded(name: string, words: string): void {
    this.report("subagent.finished", { slug: name, summary: words || "It said nothing.", activation: "passive" });
  }

  /** This conversation is one run, which a command of another session has started; its end is reported to that session. */
  endedForCaller(words: string): void {
    const session = this.#kit.calledBy;
    if (session === undefined || session === this.id) return;
    const data = { slug: `${this.#kit.hostName} ${this.id}`, summary: words || "It said nothing." };
    this.#try("subagent.finished", () => this.#kit.instance.event(JSON.stringify({ type: "subagent.finished", session, data }, wellFormed)));
  }

  get isCalled(): boolean {
    return this.#kit.calledBy !== undefined;
  }

  /** Returns a tool's output without text that the model could take for a block of tidings. */
  harmless(text: string): string {
    const other = this.#try("neutralize", () => {
      const answer = this.#kit.instance.harmless(this.id, text.toWellFormed());
      return answer === undefined ? undefined : (JSON.parse(answer).text as string);
    });
    return other ?? text;
  }

  /** Reports files that a call of the assistant has just changed; `paths` are relative to `cwd` as by sessionPath. */
  filesChanged(cwd: string, paths: string[], callId: string, change = "modified"): void {
    for (let first = 0; first < paths.length; first += SOME_EDITS) {
      const some = paths.slice(first, first + SOME_EDITS);
      this.report("file.changed", { paths: some, stamps: some.map((path) => fileStamp(cwd, path)), change, caused_by: callId });
    }
  }

  /** Returns the paragraph for the system prompt. `subagents`: the host has subagents that can work in the background. */
  instructions(subagents: boolean): string | undefined {
    this.#paragraph ??= this.#try("instructions", () => {
      const answer = JSON.parse(this.#kit.instance.query(JSON.stringify({ name: "instructions", session: this.id, subagents })));
      return answer.text as string;
    });
    return this.#paragraph;
  }

  // -- carriers --------------------------------------------------------------------------------------------------------------------------

  toolResult(callId: string, tool: string): Delivery | undefined {
    return this.#try("tool result", () => this.#deliver(() => this.#kit.instance.toolResult(this.id, callId, tool, undefined, ROOM_BYTES)));
  }

  /** A prompt of the host, which is only a carrier. */
  prompt(): Delivery | undefined {
    return this.#try("prompt", () => this.#deliver(() => this.#kit.instance.chatRequest(this.id, undefined, undefined, undefined, ROOM_BYTES)));
  }

  /** Makes the request that starts an offered turn. Throws Withdrawn if it must not be sent. If it fails otherwise, the session does not run yet: then
   * turnStarted has to name the turn. */
  startTurn(turn: Turn): Delivery | undefined {
    try {
      if (!this.#turns.isCurrent()) return undefined;
      const delivery = this.#deliver(() => this.#kit.instance.chatRequest(this.id, turn.source, turn.ids, undefined, ROOM_BYTES));
      this.running = true;
      this.#drop();
      return delivery;
    } catch (error) {
      log(this.#kit.hostName, `session ${this.id}: turn ${turn.ids.join(", ")}: ${describe(error)}`);
      if (NOT_OFFERED.has((error as { code?: string }).code ?? "")) throw new Withdrawn("tidings has withdrawn this turn");
      return undefined;
    }
  }

  /** `written`: the carrier is in the host's transcript. If it is not and will not be, its notifications are delivered again. */
  settle(id: string, written: boolean): void {
    const begun = performance.now();
    if (this.#isTaken(`delivery ${id}`, () => this.#kit.instance.settle(id, written ? "committed" : "rolled_back"))) return;
    setTimeout(() => this.settle(id, written), pauseAfter(begun)).unref?.();
  }

  // -- turns -----------------------------------------------------------------------------------------------------------------------------

  turnStarted(turn?: Turn): void {
    this.running = true;
    this.#drop();
    this.#phase = undefined;
    this.#forgetQuestions();
    this.#turns.report("turn.started", turn && { messages: turn.ids });
  }

  /** Only the begin of a phase is reported, because it ends with the next phase or with the turn. */
  enters(phase: Phase): void {
    if (!this.running || this.#phase === phase) return;
    this.#phase = phase;
    this.#reportPhase(phase === "streaming" ? "stream.started" : "tools.started");
  }

  /** A person is asked. Other calls may begin before the answer; they do not end the waiting. */
  asks(kind: "approval" | "user-input"): void {
    if (!this.running) return;
    this.#questions++;
    this.holds("turn.waiting", { kind });
  }

  answered(): void {
    if (this.#questions > 1) return void this.#questions--;
    const begun = this.#begun;
    this.#forgetQuestions();
    this.enters("tools");
    for (const [tool, callId] of begun) this.callRuns(tool, callId);
  }

  #forgetQuestions(): void {
    this.#questions = 0;
    this.#begun = [];
  }

  /** A tool call runs. The host does not report the changes of a shell; a watcher's report of them names the tool. */
  callRuns(tool: string, callId: string): void {
    if (this.#questions) return void this.#begun.push([tool, callId]);
    if (!SHELLS.has(tool) || !callId) return this.enters("tools");
    if (!this.running || this.#calls.has(callId)) return;
    this.#calls.add(callId);
    this.#phase = "tools";
    this.#reportPhase("tools.started", `,"data":{"tool":${quote(tool)},"call_id":${quote(callId)}}`);
  }

  callEnded(callId: string): void {
    this.#begun = this.#begun.filter(([, id]) => id !== callId);
    if (!this.#calls.delete(callId)) return;
    this.#phase = undefined;
    this.#reportPhase("tools.finished", `,"data":{"call_id":${quote(callId)}}`);
  }

  holds(type: "turn.retrying" | "turn.waiting", data: object): void {
    if (!this.running) return;
    this.#phase = undefined;
    this.#turns.report(type, data);
  }

  /** The host asks the model again. `afterMs`: how long the provider's limit makes it wait. */
  retries(attempt: number | undefined, message: string | undefined, afterMs?: number): void {
    this.holds("turn.retrying", { attempt, message });
    if (afterMs !== undefined) this.report("rate.limited", { retry_after_ms: Math.max(0, Math.round(afterMs)), key: "rate" });
  }

  turnEnded(how: "finished" | "aborted" | "failed", message?: string): void {
    if (!this.running) return;
    this.running = false;
    this.#phase = undefined;
    this.#calls.clear();
    this.#forgetQuestions();
    this.#turns.report(`turn.${how}`, how === "failed" && message ? { message } : undefined);
  }

  /** Makes a call. False: the store cannot take it now. */
  #isTaken(what: string, call: () => string | undefined): boolean {
    let taken = true;
    this.#try(what, () => {
      try {
        this.#take(call());
      } catch (error) {
        taken = !mayPass(error);
        throw error;
      }
    });
    return taken || this.lost;
  }

  // -- replies ---------------------------------------------------------------------------------------------------------------------------

  #try<T>(what: string, call: () => T): T | undefined {
    try {
      return call();
    } catch (error) {
      const { code } = error as { code?: string };
      if (code === "TIDINGS_E_CLOSED" || code === "TIDINGS_E_OWNED") this.lost = true;
      log(this.#kit.hostName, `session ${this.id}: ${what}: ${describe(error)}`);
      return undefined;
    }
  }

  #take(json: string | undefined): Reply | undefined {
    if (json === undefined) return undefined;
    const reply = JSON.parse(json) as Reply;
    this.#wakeAt(reply.wake_at);
    for (const action of reply.actions) this.#act(action);
    return reply;
  }

  #deliver(call: () => string | undefined): Delivery | undefined {
    const reply = this.#turns.isCurrent() ? this.#take(call()) : undefined;
    if (!reply || (!reply.delivery && !reply.messages.length)) return undefined;
    try {
      return { id: reply.delivery ?? undefined, ...additions(reply.messages) };
    } catch (error) {
      if (reply.delivery) this.settle(reply.delivery, false);
      throw error;
    }
  }

  /** The newest reply sets the timer. A timer that is a little early stays, because tidings then gives the time again. */
  #wakeAt(time: number | null): void {
    if (this.#timer !== undefined && time !== null && this.#due <= time && time - this.#due < EARLY_MS) return;
    if (this.#timer !== undefined) clearTimeout(this.#timer);
    this.#timer = undefined;
    if (time === null) return;
    this.#due = time;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (Date.now() < time) this.#wakeAt(time);
      else this.wake();
    }, Math.min(Math.max(0, time - Date.now()), LONGEST_MS));
    this.#timer.unref?.();
  }

  #act(action: Action): void {
    if (action.type === "start_turn") this.#start(action);
    else if (action.type === "abort_stream") this.#try("abort", () => this.#driver.abort());
    else if (action.type === "stop_turn") this.#try("stop", () => this.#driver.stop());
  }

  #start(action: Action): void {
    const messages = action.messages ?? [];
    this.#offer({
      source: action.source ?? "user",
      ids: messages.map((message) => message.id),
      text: messages.map((message) => message.content).join("\n\n"),
    });
  }

  #offer(turn: Turn, waitMs = FIRST_WAIT_MS): void {
    this.#drop();
    const start = this.#try("start", () => this.#driver.start(turn)) ?? "never";
    if (start === "later") this.hold(turn, waitMs);
    else if (start === "never") this.report("turn.declined", { messages: turn.ids });
  }

  // -- offers that wait ------------------------------------------------------------------------------------------------------------------

  /** Keeps an offer that the host cannot start now. The host is asked again until this turn or another one starts. */
  hold(turn: Turn, waitMs = FIRST_WAIT_MS): void {
    this.#drop();
    this.#held = turn;
    this.#again = setTimeout(() => this.ready(waitMs), waitMs);
    this.#again.unref?.();
  }

  /** Tries to start the kept offer again. */
  ready(waitedMs = 0): void {
    const held = this.#held;
    if (held && !this.lost) this.#offer(held, Math.min(Math.max(FIRST_WAIT_MS, 2 * waitedMs), LAST_WAIT_MS));
  }

  #drop(): void {
    clearTimeout(this.#again);
    this.#held = undefined;
  }
}

const SOME_EDITS = 50; // in one event, which has a limit
const ROOM_BYTES = 30_000; // on one carrier; more would fill the model's context, and the host would compact it before the model reads it
const EARLY_MS = 1000;
const LONGEST_MS = 60_000; // because timers stop while the machine sleeps, and do not follow the wall clock
const [FIRST_WAIT_MS, LAST_WAIT_MS] = [20, 2000];
const MOST_DELIVERIES = 200; // unsettled deliveries are among the last ones
