// SPDX-License-Identifier: MIT
//
// tidings for hosts in JavaScript: notifications for the conversation of an LLM agent. docs/embedding.md in the sources says what a host does and when.
// A call that fails throws an Error whose `code` is "TIDINGS_E_…"; the host then sends its message unchanged, unless it is a request that names messages.

/** A word that a later version has added appears as digits: skip words that you do not know. */
type Later = string & {};

export interface Options {
  /** The path of tidings.so. Default: the one in the package for this machine. */
  plugin?: string;
  store?: string;
  hostName?: string;
  configuration?: object;
  role?: "host" | "producer";
  ownerPid?: number;
  hookBudgetMs?: number;
  totalBudgetMs?: number;
  /** Settles each delivery when its hook returns, for hosts that do not know when their transcript was written. */
  settleOnReturn?: boolean;
  /** The path of tidings-hostkit-probe, if it is not where it was installed. */
  probe?: string;
  /** The path of tidings.node. Default: $TIDINGS_ADDON, or the one in the package for this machine. */
  addon?: string;
}

export type Level = "info" | "warning" | "error" | "critical";
export type Outcome = "committed" | "rolled_back";

/** A notification to push. With `source` and `id`, pushing again is harmless. */
export interface Push {
  session: string;
  /** Such as "tool.failed"; the source is the part before the first dot. */
  kind: string;
  message: string;
  level?: Level;
  activation?: "passive" | "idle" | "interrupt";
  /** For programs; the model does not see it. */
  data?: unknown;
  key?: string;
  tool?: string;
  handle?: string;
  ttlMs?: number;
  causedBy?: string;
  source?: string;
  id?: string;
}

/** An event of docs/events.md: a CloudEvent, which may have other attributes. */
export interface Event {
  specversion?: "1.0" | null;
  type: string;
  session: string;
  source?: string | null;
  id?: string | null;
  time?: string | null;
  subject?: string | null;
  datacontenttype?: string | null;
  dataschema?: string | null;
  data?: object;
  [attribute: string]: any;
}

/** `room`: how many bytes of UTF-8 the reply's texts may have together; 0 or undefined: no bound. */
export interface ToolResult {
  session: string;
  callId?: string;
  tool?: string;
  content?: string;
  room?: number;
}

/** `messages`: the ids of the offered messages that the request sends. */
export interface ChatRequest {
  session: string;
  origin?: "user" | "system";
  content?: string;
  messages?: string[];
  room?: number;
}

/** A notification as it is shown; `count` is the number of pushed notifications that it stands for. */
export interface Notification {
  source: string;
  name: string;
  level: Level | Later;
  text: string;
  data?: unknown;
  count: number;
}

export type Voice = "carrier" | "block" | "developer" | "user" | "tool";

export interface Part {
  voice: Voice | Later;
  place: "prepend" | "append" | "before" | "after" | "pair" | Later;
  text: string;
  callId?: string;
  tool?: string;
}

/** A message that a turn starts with. */
export interface TurnMessage {
  id: string;
  content: string;
  queuedAtMs: number | null;
  trigger: unknown;
}

/** The host must do this now. Skip types that you do not know. */
export interface Action {
  type: "start_turn" | "abort_stream" | "stop_turn" | Later;
  cause?: "critical" | "requested" | Later;
  origin?: "user" | "system";
  messages: TurnMessage[];
}

export interface Status {
  state: "idle" | "starting" | "busy" | "retrying" | "waiting" | "error" | Later;
  phase?: "streaming" | "tools" | Later;
  messages: string[];
  startedAtMs: number | null;
  attempt: number;
  detail: string | null;
  orphaned: string[];
}

/** `deliveryId` is null when there is nothing to settle. */
export interface Reply {
  deliveryId: string | null;
  notifications: Notification[];
  parts: Part[];
  actions: Action[];
  steered: string[];
  status: Status | null;
  duplicate: boolean;
  wakeAtMs: number | null;
  ledger?: string;
}

/** One message to send, or one block of the carrier's message. */
export interface Outgoing {
  voice: Voice;
  isCarrier: boolean;
  text: string;
  callId?: string;
  tool?: string;
}

/** A carrier to send: `outgoing` in this order; `content` is the carrier's own text. After it was sent, settle `reply.deliveryId`. */
export interface Delivery {
  outgoing: Outgoing[];
  content: string;
  reply: Reply;
}

/** A session that wants its host to act, and what it wants. */
export interface Woken {
  session: string;
  reply: Reply;
}

/** Opens the plugin. An instance belongs to the thread that opened it, and is closed when that thread ends. */
export function open(options?: Options): Tidings;

/** Returns the unchanged carrier, for a host whose call failed. */
export function unchanged(content: string): Delivery;

export class Tidings {
  private constructor();
  /** Call it before each tool result is sent. */
  toolResult(result: ToolResult): Delivery;
  /** Call it before each chat request is sent. If it throws, do not send a request that names messages: they still wait, or are no longer offered. */
  chatRequest(request: ChatRequest): Delivery;
  /** Call it when the carrier is in the transcript, or certainly never will be. null: there is nothing to settle. */
  settle(deliveryId: string | null, outcome: Outcome): Reply;
  /** Pushes a notification, which is stored durably when this returns. Do the reply's actions, because no wake repeats them. */
  push(notification: Push): Reply;
  /** Sends an event, or its JSON text. */
  event(event: Event | string): Reply;
  /** Asks a query of docs/queries.md. */
  query<Answer = Record<string, unknown>>(request: { name: string; session?: string; [member: string]: unknown }): Answer;
  /** Asks what a session needs now. */
  wake(session: string): Reply;
  /**
   * Yields each session that wants its host to act, also at the wakeAtMs of its newest reply. It waits in the event loop, and ends when `signal` is
   * aborted.
   *
   * If the wake of a session fails, for example because the store is busy or full, it is tried again after 0.1 to 5 s, until it succeeds or the session is
   * no longer this host's; other sessions do not wait for that. An error that is thrown concerns all sessions. Leaving the loop loses nothing: the next
   * loop continues with the remaining sessions.
   */
  wakes(options?: { signal?: AbortSignal }): AsyncGenerator<Woken, void, void>;
  /** Returns the next session that rang; undefined: none is left. */
  nextSession(): string | undefined;
  /** Returns a descriptor to poll, for your own event loop, which closes it. */
  wakeDescriptor(): number;
  /** Loads a rebuilt plugin. undefined: the same path again. */
  swap(plugin?: string): void;
  info(): { name: string; version: string; buildId: string; generation: number };
  /** Closing twice is harmless; afterwards every call throws TIDINGS_E_CLOSED, and so do the loops of wakes(). */
  close(): void;
}
