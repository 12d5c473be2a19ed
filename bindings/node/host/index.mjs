// SPDX-License-Identifier: MIT
//
// tidings for hosts in JavaScript: Node 20 and newer, and Bun. index.d.ts describes everything here. Knows no agent.
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { Agenda } from "./agenda.mjs";
import { compose } from "./compose.mjs";
import { pollDescriptor } from "./wake.mjs";
import { NO_REPLY, toReply } from "./reply.mjs";

/** Returns the folder with tidings.node of the package for this machine, where npm has installed it. */
function platformFolder() {
  const { platform, arch } = process;
  const musl = arch === "x64" ? "/lib/ld-musl-x86_64.so.1" : "/lib/ld-musl-aarch64.so.1";
  const glibc = arch === "x64" ? "/lib64/ld-linux-x86-64.so.2" : "/lib/ld-linux-aarch64.so.1";
  const libc = !existsSync(glibc) && existsSync(musl) ? "musl" : "gnu";
  const name = `@tidings/${platform}-${arch}-${libc}`;
  try {
    return join(dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), "lib/tidings/node");
  } catch (cause) {
    throw new Error(`the package ${name} is missing: npm was told to leave out optional packages, or there is none for this machine`, { cause });
  }
}

function loadAddon(path) {
  const module = { exports: {} };
  process.dlopen(module, path);
  return module.exports;
}

/** Returns the path of tidings.so: beside the module in a build, or in the folder above it if both are installed. */
function pluginOf(addon) {
  const beside = join(dirname(addon), "tidings.so");
  return existsSync(beside) ? beside : join(dirname(addon), "..", "tidings.so");
}

export function open({ addon, plugin, configuration, settleOnReturn, ...options } = {}) {
  const path = addon ?? process.env.TIDINGS_ADDON ?? join(platformFolder(), "tidings.node");
  const json = configuration === undefined ? undefined : JSON.stringify(configuration);
  return new Tidings(loadAddon(path).open({ ...options, plugin: plugin ?? pluginOf(path), configuration: json, settleOnReturn: settleOnReturn ? 1 : 0 }));
}

export class Tidings {
  #instance;
  #agenda = new Agenda();
  #sessions = new Map(); // by delivery that is not settled: its session

  /** Use open(). */
  constructor(instance) {
    this.#instance = instance;
  }

  toolResult({ session, callId, tool, content = "", room }) {
    return this.#carry(session, content, this.#instance.toolResult(session, callId, tool, content, room));
  }

  chatRequest({ session, origin, content = "", messages, room }) {
    return this.#carry(session, content, this.#instance.chatRequest(session, origin, messages, content, room));
  }

  settle(deliveryId, outcome) {
    if (deliveryId === null) return NO_REPLY;
    const json = this.#instance.settle(deliveryId, outcome);
    const session = this.#sessions.get(deliveryId);
    this.#sessions.delete(deliveryId);
    return this.#noted(session, json);
  }

  push({ data, ...notification }) {
    return this.#noted(notification.session, this.#instance.push({ ...notification, data: data === undefined ? undefined : JSON.stringify(data) }));
  }

  event(event) {
    const json = this.#instance.event(typeof event === "string" ? event : JSON.stringify(event));
    return this.#noted((typeof event === "string" ? JSON.parse(event) : event).session, json);
  }

  query(request) {
    return JSON.parse(this.#instance.query(JSON.stringify(request)));
  }

  wake(session) {
    return this.#noted(session, this.#instance.wake(session));
  }

  nextSession() {
    return this.#instance.nextSession();
  }

  wakeDescriptor() {
    return this.#instance.wakeDescriptor();
  }

  swap(plugin) {
    this.#instance.swap(plugin);
  }

  info() {
    return this.#instance.info();
  }

  close() {
    this.#instance.close();
    this.#agenda.ringAll(); // loops that sleep end, with an error
  }

  async *wakes({ signal } = {}) {
    const sleeper = this.#agenda.enter();
    const ring = () => sleeper.ring();
    let stop = () => {};
    let pauseMs;
    try {
      stop = this.#poll(() => this.#agenda.ringAll());
      signal?.addEventListener("abort", ring);
      while (!signal?.aborted) {
        sleeper.beginLook();
        pauseMs = this.#agenda.look(() => this.nextSession(), pauseMs);
        let woken, began = performance.now();
        while (!signal?.aborted && (woken = this.#agenda.askNext((session) => this.wake(session))) !== undefined) {
          if (woken === null) {
            // The call may have waited for the store: the event loop goes on for as long before the next one, but `signal` ends it soon.
            await new Promise((resolve) => setTimeout(resolve, Math.min(performance.now() - began, 1000)));
          } else {
            this.#agenda.handOver(pauseMs);
            yield woken;
          }
          began = performance.now();
        }
        if (!signal?.aborted) await sleeper.sleep(this.#agenda.delayMs(pauseMs));
      }
    } finally {
      signal?.removeEventListener("abort", ring);
      this.#agenda.leave(sleeper);
      stop();
    }
  }

  /** Without a descriptor (256 processes wait already) sessions are woken only by their times. */
  #poll(ring) {
    try {
      return pollDescriptor(this.wakeDescriptor(), ring);
    } catch (error) {
      if (error.code !== "TIDINGS_E_FULL" && error.code !== "TIDINGS_E_UNSUPPORTED") throw error;
      return () => {};
    }
  }

  #noted(session, json) {
    if (json === undefined) return NO_REPLY;
    const reply = toReply(JSON.parse(json));
    if (session !== undefined && reply.status !== null) this.#agenda.note(session, reply.wakeAtMs);
    return reply;
  }

  #carry(session, content, json) {
    const reply = this.#noted(session, json);
    try {
      const outgoing = compose(content, reply.parts);
      if (reply.deliveryId !== null) this.#sessions.set(reply.deliveryId, session);
      return { outgoing, content: outgoing.find((part) => part.isCarrier).text, reply };
    } catch (error) {
      try {
        if (reply.deliveryId !== null) this.#instance.settle(reply.deliveryId, "rolled_back");
      } catch {} // it stays leased, and is delivered again
      throw error;
    }
  }
}

/** Returns the unchanged carrier, for a host whose call failed. */
export function unchanged(content) {
  return { outgoing: compose(content, []), content, reply: NO_REPLY };
}
