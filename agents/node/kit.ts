// SPDX-License-Identifier: MIT
//
// kit.ts: the one open plugin of this process, and the paths of its files. Hosts load their shims more than once (for each folder, at each reload),
// and a store can be opened only once in a process, so the instance is kept with the process. It knows no host and no session.
import type { ChildProcess } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, renameSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { readConfiguration } from "./configuration.ts";
import { inHome } from "./paths.ts";
import type { Addon, Instance } from "./tidings.d.ts";
import { pollDescriptor } from "./wake.ts";

/** A process that alerts a person of a session. */
export interface Alerter {
  child: ChildProcess;
  again: boolean; // it was ended, but a new one is wanted, which has to wait for its end
}

export interface Kit {
  instance: Instance;
  hostName: string;
  rang: Map<string, () => void>; // by session: the function to call when it rings
  stamps: Map<string, Map<string, string | null>>; // by session: the last stamps of the host's own files
  alerts: boolean; // the user's configuration turns alerts on
  alerters: Map<string, Alerter>; // by session
  calledBy: string | undefined; // the session whose command has started this process
  left: string[]; // the sessions that a person has left for a new one, which collects their waiting notifications
  stopPolling: () => void;
  again?: ReturnType<typeof setTimeout>; // asks the store again who rang
}

const KEY = Symbol.for("tidings.kit");
const place = globalThis as unknown as Record<symbol, Kit | undefined>;
const here = dirname(fileURLToPath(import.meta.url));

// -- the log -----------------------------------------------------------------------------------------------------------------------------

const LOG_BYTES = 1 << 20;
let lastLine = "";

/** Writes a line to logs/hosts.log of the state folder; a repeated line is written once. Never throws, because errors of tidings must not disturb the
 * host. */
export function log(host: string, text: string): void {
  const line = `${host}[${process.pid}]: ${text.replace(/[\x00-\x1f\x7f]+/g, " ")}`;
  if (line === lastLine) return;
  lastLine = line;
  try {
    const folder = inHome("XDG_STATE_HOME", ".local/state", "tidings/logs");
    const file = join(folder, "hosts.log");
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > LOG_BYTES) renameSync(file, `${file}.old`);
    appendFileSync(file, `${new Date().toISOString()} ${line}\n`, { mode: 0o600 });
  } catch {
    // the error cannot be reported
  }
}

export function describe(error: unknown): string {
  const { code, message } = (error ?? {}) as { code?: string; message?: string };
  return message === undefined ? String(error) : code ? `${code}: ${message}` : message;
}

const MAY_PASS = new Set(["BUSY", "STORE", "FULL", "OUTCOME_UNKNOWN", "NOMEM"].map((name) => `TIDINGS_E_${name}`));

/** Is this an error of the store that may be gone at a later call? */
export function mayPass(error: unknown): boolean {
  return MAY_PASS.has((error as { code?: string } | undefined)?.code ?? "");
}

// -- opening -----------------------------------------------------------------------------------------------------------------------------

function findPlugin(): string {
  const named = process.env.TIDINGS_PLUGIN;
  if (named) return named;
  const beside = join(here, "tidings.so");
  return existsSync(beside) ? beside : join(here, "..", "tidings.so");
}

/** Returns the command that was installed with this module, or that is beside it in a build. */
export function findCommand(): string | undefined {
  for (let folder = here; ; folder = dirname(folder)) {
    const found = [join(folder, "bin", "tidings"), join(folder, "tidings")].find((path) => statSync(path, { throwIfNoEntry: false })?.isFile());
    if (found || folder === dirname(folder)) return found;
  }
}

/** Returns variables for the commands that the assistant runs: their session, and the path of `tidings`, which may not be in PATH. */
export function commandEnvironment(session: string): Record<string, string> {
  const command = findCommand();
  return { TIDINGS_SESSION: session, ...(command && { TIDINGS: command }) };
}

function loadAddon(): Addon {
  const module = { exports: {} as Addon };
  (process as unknown as { dlopen(module: object, path: string): void }).dlopen(module, join(here, "tidings.node"));
  return module.exports;
}

const AGAIN_MS = 1000;
const PAUSE = 10; // times the duration of a failed attempt, so that a database that does not answer does not make the host slow

/** Returns how long to wait after an attempt of the store that has failed. */
export const pauseAfter = (begun: number): number => AGAIN_MS + PAUSE * (performance.now() - begun);

function answerRings(kit: Kit): void {
  const begun = performance.now();
  try {
    for (let session = kit.instance.nextSession(); session !== undefined; session = kit.instance.nextSession()) kit.rang.get(session)?.();
  } catch (error) {
    log(kit.hostName, `asking who rang: ${describe(error)}`);
    if (!mayPass(error)) return;
    clearTimeout(kit.again);
    kit.again = setTimeout(() => answerRings(kit), pauseAfter(begun)); // the descriptor does not become readable again
    kit.again.unref?.();
  }
}

function poll(kit: Kit): void {
  try {
    kit.stopPolling = pollDescriptor(kit.instance.wakeDescriptor(), () => answerRings(kit));
    answerRings(kit);
  } catch (error) {
    log(kit.hostName, `no wake descriptor, only time will tell: ${describe(error)}`);
  }
}

const failures = new Map<string, number>(); // by folder: the time from which it may be tried again; Infinity: the configuration or the installation is wrong

/** Returns the process's plugin. The first call opens it, with the configuration for that folder. Undefined: it cannot be opened; the log says why. */
export function openKit(hostName: string, folder: string): Kit | undefined {
  const open = place[KEY];
  if (open) return open;
  const begun = performance.now();
  try {
    const configuration = readConfiguration(folder, (text) => log(hostName, text));
    const instance = loadAddon().open({
      plugin: findPlugin(),
      store: process.env.TIDINGS_STORE || undefined,
      hostName,
      configuration,
    });
    const { alerts = {} } = JSON.parse(configuration ?? "{}") as { alerts?: object };
    const known = { rang: new Map(), stamps: new Map(), alerters: new Map() };
    const kit: Kit = { ...known, instance, hostName, alerts: Object.entries(alerts).some(([name, value]) => value === true && name !== "delivered"), calledBy: process.env.TIDINGS_SESSION || undefined, left: [], stopPolling: () => {} };
    place[KEY] = kit;
    failures.clear();
    poll(kit);
    return kit;
  } catch (error) {
    log(hostName, `tidings is off: ${describe(error)}`);
    const now = performance.now();
    failures.set(folder, mayPass(error) ? now + PAUSE * (now - begun) : Infinity);
    return undefined;
  }
}

/** The same, for the calls after the first one: opens what could not be opened only if the store was the reason. */
export function openKitAgain(hostName: string, folder: string): Kit | undefined {
  return place[KEY] ?? (performance.now() < (failures.get(folder) ?? 0) ? undefined : openKit(hostName, folder));
}

/** Call it before the process ends, if possible. */
export function closeKit(): void {
  const kit = place[KEY];
  failures.clear();
  if (!kit) return;
  place[KEY] = undefined;
  kit.stopPolling();
  clearTimeout(kit.again);
  try {
    kit.instance.close();
  } catch (error) {
    log(kit.hostName, `closing: ${describe(error)}`);
  }
}
