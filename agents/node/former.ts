// SPDX-License-Identifier: MIT
//
// former.ts: what waits in a conversation that a person has left for a new one goes to the new one. If the store cannot move it now, it is moved later, into the
// newest conversation of that time.
import { type Kit, pauseAfter } from "./kit.ts";
import type { Reply } from "./tidings.d.ts";

export class Former {
  #kit: Kit;
  #id: string;
  #isTaken: (what: string, call: () => string | undefined) => boolean;
  #left: string[] = []; // the conversations that were left for this one, and from which not all is moved yet

  /** `isTaken`: makes a call; false: the store cannot take it now. */
  constructor(kit: Kit, id: string, isTaken: (what: string, call: () => string | undefined) => boolean) {
    this.#kit = kit;
    this.#id = id;
    this.#isTaken = isTaken;
  }

  /** Call it when another conversation replaces this one. */
  leave(): void {
    this.#kit.left = [...this.#left.splice(0), this.#id];
  }

  /** Takes what waits in the conversations that were left for this one. Reports that are still to come for them are sent to this one, too. */
  follow(isCurrent: () => boolean): void {
    this.#left.push(...this.#kit.left.splice(0).filter((id) => id !== this.#id));
    this.#collect(isCurrent);
  }

  #collect(isCurrent: () => boolean): void {
    if (!this.#left.length) return;
    const begun = performance.now();
    let [rest, taken] = [1, isCurrent()];
    const collect = (): string | undefined => {
      const reply = this.#send("session.collected", this.#id, { from: this.#left });
      rest = (JSON.parse((JSON.parse(reply ?? "{}") as Reply).ledger ?? "{}") as { left?: number }).left ?? 0;
      return reply;
    };
    while (taken && rest-- > 0) taken = this.#isTaken("session.collected", collect);
    const end = (session: string): undefined => void this.#send("session.opened", session, { host: "left" });
    while (taken && this.#left.length) if ((taken = this.#isTaken("session.opened", () => end(this.#left[0])))) this.#left.shift();
    if (!taken) setTimeout(() => this.#collect(isCurrent), pauseAfter(begun)).unref?.();
  }

  #send(type: string, session: string, data: object): string | undefined {
    return this.#kit.instance.event(JSON.stringify({ type, session, data }));
  }
}
