// SPDX-License-Identifier: MIT
//
// turn_events.ts: reports a session's start and the events of its turns in their order. If the store cannot take one now, it is reported again later, because a
// session whose turn never ends starts no other one, and one that was not resumed repeats what its transcript has.

export interface TurnData {
  messages?: string[];
  [name: string]: unknown;
}

type TurnEvent = [type: string, data: TurnData | undefined];

const FIRST_WAIT_MS = 100;
const LAST_WAIT_MS = 10_000;

const isStart = (type: string): boolean => type === "session.opened" || type === "session.resumed";
const isPause = (type: string): boolean => type === "turn.waiting" || type === "turn.retrying";

export class TurnEvents {
  #send: (type: string, data: TurnData | undefined) => boolean;
  #events: TurnEvent[] = []; // the store has not taken them yet
  #again: ReturnType<typeof setTimeout> | undefined;
  #waitMs = FIRST_WAIT_MS;

  /** `send`: reports an event; false: the store cannot take it now. It may call this object. */
  constructor(send: (type: string, data: TurnData | undefined) => boolean) {
    this.#send = send;
  }

  /** Reports an event, and drops the earlier ones that were not taken: a pause drops only pauses. A session's start stays, and so does a turn's start that
   * names messages, because these messages would start another turn. */
  report(type: string, data?: TurnData): void {
    this.#events = this.#events.filter(([before, named]) => isStart(before) || named?.messages || (isPause(type) && !isPause(before)));
    this.#events.push([type, data]);
    this.flush();
  }

  /** Reports the events that were not taken. False: the store still cannot take one. */
  flush(): boolean {
    for (let event = this.#events.shift(); event; event = this.#events.shift()) {
      if (this.#send(...event)) this.#waitMs = FIRST_WAIT_MS;
      else return this.#later(event);
    }
    clearTimeout(this.#again);
    return true;
  }

  /** Has the store taken the session's start? */
  isOpen(): boolean {
    return this.#events.length === 0 || this.flush() || !this.#events.some(([type]) => isStart(type));
  }

  #later(event: TurnEvent): false {
    this.#events.unshift(event);
    clearTimeout(this.#again);
    this.#again = setTimeout(() => this.flush(), this.#waitMs);
    this.#again.unref?.();
    this.#waitMs = Math.min(2 * this.#waitMs, LAST_WAIT_MS);
    return false;
  }

  forget(): void {
    clearTimeout(this.#again);
    this.#events = [];
  }
}
