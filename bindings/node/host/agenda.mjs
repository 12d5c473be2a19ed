// SPDX-License-Identifier: MIT
//
// agenda.mjs: which sessions to ask next what they need, and when. All loops of an instance share it.

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;
const LONGEST_SLEEP_MS = 60_000; // a timer stands still while the machine sleeps, and the clock may be set
const GONE = new Set(["TIDINGS_E_OWNED", "TIDINGS_E_CLOSED", "TIDINGS_E_NOT_FOUND"]); // the session is not this host's any more
const PASSING = new Set(["BUSY", "FULL", "STORE", "NOMEM", "OUTCOME_UNKNOWN", "UNKNOWN"].map((name) => `TIDINGS_E_${name}`));

const longer = (pauseMs) => (pauseMs === undefined ? FIRST_PAUSE_MS : Math.min(2 * pauseMs, LONGEST_PAUSE_MS));

/** A loop that waits for sessions. */
class Sleeper {
  untilMs = -Infinity; // when it looks by itself; while it is awake, it looks before it sleeps
  #rang = false;
  #resume = () => {};

  ring() {
    this.#rang = true;
    this.#resume();
  }

  /** A ring from now on ends the next sleep at once. */
  beginLook() {
    this.#rang = false;
  }

  async sleep(delayMs) {
    if (this.#rang) return;
    let timer;
    this.untilMs = delayMs === undefined ? Infinity : Date.now() + delayMs;
    await new Promise((resolve) => {
      this.#resume = resolve;
      if (delayMs !== undefined) timer = setTimeout(resolve, delayMs);
    });
    clearTimeout(timer);
    this.untilMs = -Infinity;
  }
}

export class Agenda {
  #wakeAt = new Map(); // by session: the wakeAtMs of its newest reply
  #ready = new Set(); // those to ask now, in this order; they stay when a loop is left
  #again = new Map(); // those whose wake has failed: when to ask again, by performance.now()
  #pauses = new Map(); // and how long that pause is
  #sleepers = new Set();

  note(session, wakeAtMs) {
    if (wakeAtMs === null) {
      this.#wakeAt.delete(session);
      return;
    }
    this.#wakeAt.set(session, wakeAtMs);
    this.#lookBy(wakeAtMs);
  }

  /** Makes the loops look that would sleep for longer. */
  #lookBy(atMs) {
    for (const sleeper of this.#sleepers) if (atMs < sleeper.untilMs) sleeper.ring();
  }

  /** Makes all loops look. A ring is for all of them: the loop whose descriptor it came through may belong to a host that acts. */
  ringAll() {
    for (const sleeper of this.#sleepers) sleeper.ring();
  }

  ring(session) {
    if (!this.#again.has(session)) this.#ready.add(session);
  }

  /**
   * Finds those that rang, by `nextSession`, and those whose time has come. If the store does not say now who rang, returns after how many milliseconds to
   * ask it again; `pauseMs` is the last such answer.
   */
  look(nextSession, pauseMs) {
    let again;
    try {
      for (let session = nextSession(); session !== undefined; session = nextSession()) this.ring(session);
    } catch (error) {
      if (!PASSING.has(error.code)) throw error;
      again = longer(pauseMs);
    }
    this.#findDue();
    return again;
  }

  #findDue() {
    for (const [session, at] of this.#again) {
      if (at > performance.now()) continue;
      this.#again.delete(session);
      this.#ready.add(session);
    }
    for (const [session, at] of this.#wakeAt) {
      if (at > Date.now() || this.#again.has(session)) continue;
      this.#wakeAt.delete(session);
      this.#ready.add(session);
    }
  }

  /** Asks the next session by `wake`; returns it and its reply. undefined: none is left; null: the wake failed, and the session is asked again later. */
  askNext(wake) {
    const [session] = this.#ready;
    if (session === undefined) return undefined;
    this.#ready.delete(session);
    try {
      const reply = wake(session);
      this.#pauses.delete(session);
      return { session, reply };
    } catch (error) {
      this.#failed(session, error);
      return null;
    }
  }

  #failed(session, error) {
    if (!error.code?.startsWith?.("TIDINGS_E_")) {
      this.#ready.add(session);
      throw error;
    }
    const pauseMs = longer(this.#pauses.get(session));
    this.#pauses.delete(session);
    if (GONE.has(error.code)) {
      this.#wakeAt.delete(session);
      return;
    }
    this.#pauses.set(session, pauseMs);
    this.#again.set(session, performance.now() + pauseMs);
  }

  enter() {
    const sleeper = new Sleeper();
    this.#sleepers.add(sleeper);
    return sleeper;
  }

  /** Call it before a loop's host acts: the others look meanwhile when it would have looked. `pauseMs` is the answer of its `look`. */
  handOver(pauseMs) {
    const delayMs = this.delayMs();
    if (pauseMs !== undefined) this.ringAll(); // even those whose hosts act now: what rang may be heard by nobody else
    else if (delayMs !== undefined) this.#lookBy(Date.now() + delayMs);
  }

  /** Another loop gets what this one leaves, and the rings that it has heard. */
  leave(sleeper) {
    this.#sleepers.delete(sleeper);
    this.ringAll();
  }

  /** Returns after how many milliseconds a session is ready, or a time comes; undefined: none will. */
  delayMs(pauseMs) {
    if (this.#ready.size > 0) return 0;
    const times = [...this.#again.values()].map((at) => at - performance.now());
    for (const [session, at] of this.#wakeAt) if (!this.#again.has(session)) times.push(at - Date.now());
    if (pauseMs !== undefined) times.push(pauseMs);
    return times.length === 0 ? undefined : Math.min(Math.max(Math.min(...times), 0), LONGEST_SLEEP_MS);
  }
}
