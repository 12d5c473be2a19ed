// SPDX-License-Identifier: MIT
//
// Tests the npm package where hostsim's scenarios do not: composing, errors, and waiting. For Node and Bun. Prints TAP.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Tidings, open, unchanged } from "tidings";
import { compose } from "../host/compose.mjs";

const build = process.env.TIDINGS_BUILD_DIR;
const opened = (folder, more = {}) => open({ plugin: join(build, "tidings.so"), store: join(folder, "store"), ...more });
/** Opens the test plugin, which keeps no sessions. */
const good = (folder) => opened(folder, { plugin: join(build, "tests/plugins/good_a.so") });
/** The reply says that the session's time has come. */
const past = (kit, session) => assert.equal(kit.event({ type: "past", session }).wakeAtMs, 56);
const failWake = (folder, code) => writeFileSync(join(folder, "store/wake-fails"), String(code));
/** Returns the sessions to which a wake event was sent, in their order. */
const asked = (folder) => [...readFileSync(join(folder, "store/log"), "utf8").matchAll(/"type":"wake","session":"(.*?)"/g)].map((found) => found[1]);
/** Returns the sessions that are woken first; then the loop is left. */
async function first(wakes, count) {
  const woken = [];
  for await (const { session } of wakes) if (woken.push(session) === count) break;
  return woken;
}
const session = (kit) => kit.event({ type: "session.opened", session: "s", data: { host: "test" } });
const pushFromOutside = (folder) =>
  promisify(execFile)(join(build, "tidings"), ["push", "-S", join(folder, "store"), "-s", "s", "-l", "critical", "-k", "disk.full", "Full."]);

const tests = {
  "parts are composed in the order of hostkit_compose": () => {
    const part = (voice, place, text) => ({ voice, place, text });
    const outgoing = compose("own", [
      part("tool", "pair", "p"), part("user", "after", "a"), part("block", "append", "B"), part("carrier", "append", "]"), part("carrier", "prepend", "["),
      part("block", "prepend", "b"), part("developer", "before", "d"),
    ]);
    assert.deepEqual(outgoing.map(({ text, isCarrier }) => (isCarrier ? `(${text})` : text)), ["d", "b", "([own])", "B", "a", "p"]);
    for (const [voice, place] of [["carrier", "before"], ["user", "prepend"], ["7", "before"], ["toString", "before"], ["tool", "after"]]) {
      assert.throws(() => compose("own", [part(voice, place, "x")]), { code: "TIDINGS_E_INVAL" }, `${voice} ${place}`);
    }
    assert.equal(unchanged("own").outgoing[0].text, "own");
  },

  "an error has a code; after close every call fails": (folder) => {
    const kit = opened(folder);
    assert.throws(() => kit.push({ session: "s", kind: "tool.failed", message: "x", level: "loud" }), /level/);
    assert.throws(() => kit.settle("404", "committed"), { code: "TIDINGS_E_NOT_FOUND" });
    assert.equal(kit.settle(null, "committed").status, null);
    kit.swap();
    assert.equal(kit.info().generation, 2);
    kit.close();
    kit.close();
    assert.throws(() => kit.nextSession(), { code: "TIDINGS_E_CLOSED" });
    assert.throws(() => opened(folder, { plugin: join(folder, "none.so") }), /none\.so/);
  },

  "a part that is not known stays the error, even if the delivery cannot be rolled back": () => {
    const reply = { delivery: "7", notifications: [], messages: [{ role: "9", place: "before", text: "x" }], actions: [], steered: [], status: null, wake_at: null };
    const settled = [];
    const kit = new Tidings({
      toolResult: () => JSON.stringify(reply),
      settle: (...given) => {
        settled.push(given);
        throw new Error("busy");
      },
    });
    assert.throws(() => kit.toolResult({ session: "s" }), { code: "TIDINGS_E_INVAL" });
    assert.deepEqual(settled, [["7", "rolled_back"]]);
  },

  "with settleOnReturn a delivery has ended when its hook returns": (folder) => {
    const kit = opened(folder, { settleOnReturn: true, totalBudgetMs: 3_600_000 });
    kit.push({ session: "s", kind: "tool.failed", message: "It failed." });
    const { reply } = kit.toolResult({ session: "s" });
    assert.deepEqual([reply.notifications.length, reply.deliveryId], [1, null]);
    kit.close();
    assert.throws(() => opened(folder, { totalBudgetMs: -1 }), /totalBudgetMs/);
  },

  "the type of an event has each attribute of its schema": () => {
    const read = (path) => readFileSync(join(process.env.TIDINGS_SOURCE_DIR, path), "utf8");
    const { properties, required } = JSON.parse(read("abi/schema/event.schema.json"));
    const [, type] = read("bindings/node/host/index.d.ts").match(/interface Event \{(.*?)\n\}/s);
    for (const name of Object.keys(properties)) assert.match(type, new RegExp(`\\n  ${name}${required.includes(name) ? "" : "\\?"}: .*;`), name);
  },

  "a delivery that was rolled back comes again": (folder) => {
    const kit = opened(folder, { hostName: "Example", configuration: { delivery: { preset: "plain" } } });
    const push = { session: "s", kind: "ci.failed", message: "It failed.", data: { run: [1, null] }, source: "ci", id: "1" };
    assert.deepEqual([kit.push(push).duplicate, kit.push(push).duplicate], [false, true]);
    const first = kit.toolResult({ session: "s", content: "own" });
    const { source, name, text, data, count } = first.reply.notifications[0];
    assert.deepEqual({ source, name, text, data, count }, { source: "ci", name: "failed", text: "It failed.", data: { run: [1, null] }, count: 1 });
    kit.settle(first.reply.deliveryId, "rolled_back");
    const second = kit.chatRequest({ session: "s", content: "own" });
    assert.ok(second.content.includes("It failed.") && second.reply.deliveryId !== first.reply.deliveryId);
    kit.settle(second.reply.deliveryId, "committed");
    assert.equal(kit.query({ name: "pending", session: "s" }).count, 0);
    kit.close();
  },

  "another process wakes the loop": async (folder) => {
    const kit = opened(folder);
    session(kit);
    const pushed = pushFromOutside(folder);
    for await (const woken of kit.wakes()) {
      assert.equal(woken.session, "s");
      if (woken.reply.actions.length === 0) continue;
      assert.equal(woken.reply.actions[0].type, "start_turn");
      assert.match(woken.reply.actions[0].messages[0].content, /^Critical notification/);
      break;
    }
    await pushed;
    kit.close();
  },

  "time wakes the loop, and a signal ends it": async (folder) => {
    const kit = opened(folder, { configuration: { turns: { settle_delay_ms: 300 } } });
    kit.event({ type: "turn.started", session: "s" });
    kit.event({ type: "message.submitted", session: "s", data: { id: "m1", content: "later" } });
    const finished = kit.event('{"type": "turn.finished", "session": "s"}');
    assert.ok(finished.actions.length === 0 && finished.wakeAtMs > 0);
    const controller = new AbortController();
    const offered = [];
    for await (const woken of kit.wakes({ signal: controller.signal })) {
      offered.push(...woken.reply.actions.map((action) => action.messages[0].id));
      if (offered.length > 0) setImmediate(() => controller.abort()); // while the loop sleeps
    }
    assert.deepEqual(offered, ["m1"]);
    kit.close();
  },

  "what is due in hours is looked for each minute by the wall clock: a timer stands still while the machine sleeps, and the clock may be set": async (folder) => {
    const { setTimeout } = globalThis;
    const now = Date.now.bind(Date);
    const kit = opened(folder);
    session(kit);
    const data = { kind: { source: "a", name: "b" }, message: "m", activation: "idle", due_at: now() + 3 * 3600_000 };
    assert.ok(kit.event({ type: "notification", session: "s", data }).wakeAtMs > 0);
    const delays = [];
    let woken = 0;
    let ahead = 0;
    const sleeps = () =>
      new Promise((resolve) => {
        globalThis.setTimeout = (call, delay) => {
          delays.push(delay);
          resolve(call);
        };
      });
    try {
      Date.now = () => now() + ahead;
      let asleep = sleeps();
      const ended = (async () => {
        for await (const one of kit.wakes()) if (++woken === 2) return one.session;
      })();
      for (const passed of [60_000, 4 * 3600_000]) { // the first check comes too early; then the machine sleeps for hours
        const look = await asleep;
        asleep = sleeps();
        assert.equal(woken, 1);
        ahead = passed;
        look();
      }
      assert.equal(await ended, "s");
    } finally {
      Object.assign(globalThis, { setTimeout });
      Date.now = now;
    }
    assert.deepEqual(delays, [60_000, 60_000]);
    kit.close();
  },

  "a session whose wake fails is asked again, and the others go on meanwhile": async (folder) => {
    const kit = good(folder);
    for (const code of [-8, -10, -12, -15, -99]) {
      kit.event('{"type":"ring"}');
      failWake(folder, code);
      assert.deepEqual(await first(kit.wakes(), 1), ["rung"], code);
    }
    past(kit, "a");
    past(kit, "b");
    failWake(folder, -8);
    assert.deepEqual(await first(kit.wakes(), 2), ["b", "a"]);
    past(kit, "a");
    past(kit, "b");
    failWake(folder, -8);
    assert.deepEqual(await first(kit.wakes(), 1), ["b"]); // leaving the loop loses no session whose wake has failed
    assert.deepEqual(await first(kit.wakes(), 1), ["a"]);
    assert.deepEqual(asked(folder), [...Array(10).fill("rung"), "a", "b", "a", "a", "b", "a"]);
    kit.close();
  },

  "a call that fails may have waited for the store: other work of the event loop goes on for as long before the next one": async (folder) => {
    const kit = good(folder);
    const { setTimeout } = globalThis;
    const at = [], took = [], pauses = [];
    globalThis.setTimeout = (call, ms) => {
      pauses.push(ms);
      return setTimeout(call, ms);
    };
    let turns = 0;
    let turn = setImmediate(function next() {
      turns += 1;
      turn = setImmediate(next);
    });
    for (const session of ["a", "b", "c", "d"]) past(kit, session);
    kit.wake = (session) => {
      at.push(turns);
      if (session === "d") return;
      const began = performance.now();
      while (performance.now() - began < 1);
      took.push(performance.now() - began);
      throw Object.assign(new Error("locked"), { code: "TIDINGS_E_BUSY" });
    };
    assert.deepEqual(await first(kit.wakes(), 1), ["d"]);
    clearImmediate(turn);
    globalThis.setTimeout = setTimeout;
    assert.equal(new Set(at).size, 4, `${at}`);
    assert.ok(took.length === 3 && took.every((ms, i) => pauses[i] >= ms), `${took}; ${pauses}`);
    kit.close();
  },

  "if the store does not say who rang, it is asked again, and what has come by its time goes on": async (folder) => {
    const kit = good(folder);
    const failures = ["BUSY", "STORE"].map((name) => Object.assign(new Error(name), { code: `TIDINGS_E_${name}` }));
    kit.nextSession = () => {
      if (failures.length > 0) throw failures.pop();
      return kit.constructor.prototype.nextSession.call(kit);
    };
    past(kit, "a");
    kit.event('{"type":"ring"}');
    assert.deepEqual(await first(kit.wakes(), 2), ["a", "rung"]);
    kit.close();
    await assert.rejects(first(kit.wakes(), 1), { code: "TIDINGS_E_CLOSED" });
  },

  "a session that is not this host's any more is not asked again, and the others go on": async (folder) => {
    const kit = good(folder);
    for (const code of [-5, -13, -14]) {
      past(kit, `gone${code}`);
      past(kit, `after${code}`);
      failWake(folder, code);
      assert.deepEqual(await first(kit.wakes(), 1), [`after${code}`]);
    }
    past(kit, "last");
    assert.deepEqual(await first(kit.wakes(), 1), ["last"]);
    assert.equal(new Set(asked(folder)).size, asked(folder).length);
    kit.close();
  },

  "leaving the loop loses no session that rang, and a signal leaves it too": async (folder) => {
    const kit = opened(folder);
    for (const session of ["a", "b", "c"]) kit.event({ type: "session.opened", session, data: { host: "test" } });
    const woken = await first(kit.wakes(), 1);
    const controller = new AbortController();
    for await (const one of kit.wakes({ signal: controller.signal })) {
      woken.push(one.session);
      controller.abort();
    }
    woken.push(...(await first(kit.wakes(), 1)));
    assert.deepEqual(woken.sort(), ["a", "b", "c"]);
    kit.close();
  },

  "a loop that sleeps sees a time that another reply brings, and what another loop leaves": async (folder) => {
    const kit = good(folder);
    const sleeps = first(kit.wakes(), 1);
    past(kit, "a");
    assert.deepEqual(await sleeps, ["a"]);
    const leaves = kit.wakes();
    const gets = first(kit.wakes(), 1);
    past(kit, "b");
    past(kit, "c");
    const { value } = await leaves.next(); // it took both
    await leaves.return();
    assert.deepEqual([value.session, ...(await gets)].sort(), ["b", "c"]);
    kit.close();
  },

  "while the host of one loop acts, another loop gets what rings, what the first has not asked yet, and what it leaves": async (folder) => {
    const kit = good(folder);
    const names = ["first"];
    kit.nextSession = () => names.shift() ?? kit.constructor.prototype.nextSession.call(kit);
    const acts = kit.wakes(); // reads the FIFO
    assert.equal((await acts.next()).value.session, "first");
    kit.wakeDescriptor = () => {
      throw Object.assign(new Error("full"), { code: "TIDINGS_E_FULL" });
    };
    const other = kit.wakes();
    let gets = other.next();
    kit.event('{"type":"ring"}');
    assert.equal((await gets).value.session, "rung");
    gets = other.next();
    names.push("a", "b");
    assert.equal((await acts.next()).value.session, "a");
    assert.equal((await gets).value.session, "b");
    gets = other.next();
    names.push("heard"); // its ring was read by the loop that is left now
    await acts.return();
    assert.equal((await gets).value.session, "heard");
    await other.return();
    kit.close();
  },

  "closing ends a loop that sleeps": async (folder) => {
    const kit = good(folder);
    const sleeps = first(kit.wakes(), 1);
    kit.close();
    await assert.rejects(sleeps, { code: "TIDINGS_E_CLOSED" });
  },
};

let number = 0;
for (const [title, test] of Object.entries(tests)) {
  const folder = mkdtempSync(join(tmpdir(), "tidings-node-"));
  number += 1;
  try {
    await test(folder);
    console.log(`ok ${number} - ${title}`);
  } catch (error) {
    process.exitCode = 1;
    console.log(`not ok ${number} - ${title}\n${String(error.stack).replace(/^/gm, "# ")}`);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
console.log(`1..${number}`);
process.exit(); // Bun reads the descriptors until the process exits
