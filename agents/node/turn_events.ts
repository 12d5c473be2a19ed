// SPDX-License-Identifier: MIT
//
// turn_events.ts: reports the events of a session's life and of its turns in their order. If the store cannot take one now, it is reported again later, because a
// session whose turn or compaction never ends starts no other turn, and one that was not resumed repeats what its transcript has.

export interface TurnData {
  messages?: string[];
  [name: string]: unknown;
}

type TurnEvent = [type: string, data: TurnData | undefined];

const FIRST_WAIT_MS = 100;
const LAST_WAIT_MS = 10_000;

const isOfLife = (type: string): boolean => type.startsWith("session.");
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

  /** Reports an event. One of a turn drops the earlier ones that were not taken: a pause drops only pauses. A start that names messages stays, because these
   * messages would start another turn. */
  report(type: string, data?: TurnData): void {
    const stays = ([before, named]: TurnEvent): unknown => isOfLife(before) || named?.messages || (isPause(type) && !isPause(before));
    if (!isOfLife(type)) this.#events = this.#events.filter(stays);
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

  /** Has the store taken all of the session's life? Before that it would deliver what the transcript has. */
  isCurrent(): boolean {
    return this.#events.length === 0 || this.flush() || !this.#events.some(([type]) => isOfLife(type));
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
