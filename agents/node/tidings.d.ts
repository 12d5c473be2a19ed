// SPDX-License-Identifier: MIT
//
// tidings.d.ts: the Node-API module tidings.node. Every call may throw an Error whose `code` is "TIDINGS_E_…"; pending notifications then stay
// pending. Replies and answers are JSON text (schema/reply.schema.json, schema/query.schema.json); undefined: there was no reply.

export interface Options {
  plugin: string; // the path of tidings.so
  store?: string;
  hostName?: string;
  configuration?: string; // JSON
  role?: "host" | "producer";
  ownerPid?: number;
  hookBudgetMs?: number;
  probe?: string; // the path of tidings-hostkit-probe, if it is not where it was installed
}

/** The argument of push: the members of a notification event's data, and the event's own source and id (with both, pushing twice is harmless). */
export interface Notification {
  session: string;
  kind: string; // "tool.failed": the source goes to the first dot
  message: string; // any characters except NUL
  level?: "info" | "warning" | "error" | "critical";
  activation?: "passive" | "idle" | "interrupt";
  data?: string; // JSON
  key?: string;
  tool?: string;
  handle?: string;
  ttlMs?: number;
  causedBy?: string;
  source?: string;
  id?: string;
}

// `room`: how many bytes of UTF-8 the reply's texts may have together; 0 or undefined: no bound. Notifications that do
// not fit wait.
export interface Instance {
  toolResult(session: string, callId?: string, tool?: string, content?: string, room?: number): string | undefined;
  chatRequest(session: string, source?: "user" | "system", messages?: string[], content?: string, room?: number): string | undefined;
  event(event: string): string | undefined;
  report(event: string): string | number | undefined; // like event; but a reply that asks for nothing, as for most phases, becomes only wake_at
  push(notification: Notification): string | undefined;
  wake(session: string): string | undefined;
  settle(delivery: string, outcome: "committed" | "rolled_back"): string | undefined;
  query(request: string): string;
  harmless(session: string, text: string): string | undefined; // the answer to the query `neutralize`; undefined: the text stays unchanged
  wakeDescriptor(): number; // the caller polls and closes it
  nextSession(): string | undefined;
  swap(plugin?: string): void;
  info(): { name: string; version: string; buildId: string; generation: number };
  close(): void; // closing twice is harmless; afterwards every call throws TIDINGS_E_CLOSED
}

export interface Addon {
  open(options: Options): Instance;
}

export interface TurnMessage {
  id: string;
  content: string;
  queued_at: number | null;
  trigger: unknown;
}

export interface Action {
  type: string; // "start_turn", "abort_stream", "stop_turn"; skip others
  cause?: string;
  source?: "user" | "system";
  messages?: TurnMessage[];
}

export interface Message {
  role: string;
  place: string;
  text: string;
  call_id?: string;
  tool?: string;
}

export interface Reply {
  delivery: string | null;
  notifications: unknown[];
  messages: Message[];
  actions: Action[];
  steered: string[];
  status: { state: string; phase?: string; messages: string[] } | null;
  duplicate: boolean;
  wake_at: number | null;
  ledger?: string;
}
