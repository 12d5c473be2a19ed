// SPDX-License-Identifier: MIT
//
// tap.mjs: test points, temporary folders, and the addon; for Node from 20 on, and Bun.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const BUILD = process.env.TIDINGS_BUILD_DIR;
export const SOURCE = process.env.TIDINGS_SOURCE_DIR;
export const PLUGIN = process.env.TIDINGS_PLUGIN;

let count = 0;
let failures = 0;
const folders = [];

export async function test(name, body) {
  count++;
  try {
    await body();
    console.log(`ok ${count} - ${name}`);
  } catch (error) {
    failures++;
    console.log(`not ok ${count} - ${name}`);
    for (const line of String(error?.stack ?? error).split("\n")) console.log(`# ${line}`);
  }
}

export function skip(name, why) {
  count++;
  console.log(`ok ${count} - ${name} # SKIP ${why}`);
}

export function folder() {
  const made = mkdtempSync(join(tmpdir(), "tidings-node-"));
  folders.push(made);
  return made;
}

export function end() {
  for (const made of folders) rmSync(made, { recursive: true, force: true });
  console.log(`1..${count}`);
  process.exit(failures ? 1 : 0);
}

export function equal(got, expected, what = "") {
  const [a, b] = [JSON.stringify(got), JSON.stringify(expected)];
  if (a !== b) throw new Error(`${what} got ${a}, expected ${b}`);
}

/** Returns the exception as "name code: message". */
export function thrown(body) {
  try {
    body();
  } catch (error) {
    return `${error.name} ${error.code}: ${error.message}`;
  }
  throw new Error(`${body} did not throw`);
}

export function matches(text, pattern) {
  if (!pattern.test(text)) throw new Error(`${JSON.stringify(text)} does not match ${pattern}`);
}

/** Waits until the condition is true. */
export async function until(condition, what) {
  for (const deadline = Date.now() + 120_000; !(await condition()); ) {
    if (Date.now() > deadline) throw new Error(`still not: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

export function loadAddon() {
  const module = { exports: {} };
  process.dlopen(module, join(BUILD, "tidings.node"));
  return module.exports;
}

export const addon = loadAddon();

/** Opens an instance on a new store, or on the named one. */
export function open(more = {}) {
  return addon.open({ plugin: PLUGIN, store: join(folder(), "store"), hostName: "Test", ...more });
}

export function send(kit, type, data, session = "s") {
  const reply = kit.event(JSON.stringify({ type, session, data }));
  return reply === undefined ? undefined : JSON.parse(reply);
}

export function push(kit, message, session = "s") {
  return send(kit, "notification", { kind: "tool.failed", level: "error", message }, session);
}
