// SPDX-License-Identifier: MIT
//
// alerts.ts: starts `tidings wait --alert` beside each session that a person sees, if the user's configuration turns alerts on. This process ends when
// the session is left, or with the host's process. Each session has one, and no call waits for it.
import { spawn } from "node:child_process";
import { type Alerter, type Kit, describe, findCommand, log } from "./kit.ts";

export function alertBeside(kit: Kit, session: string): void {
  if (!kit.alerts) return;
  const before = kit.alerters.get(session);
  if (before?.child.killed) before.again = true;
  if (before) return;
  const words = ["wait", "--alert", "--follow", "--session", session, "--owner", String(process.pid)];
  try {
    const child = spawn(findCommand() ?? "tidings", words, { detached: true, stdio: "ignore", env: process.env });
    const alerter: Alerter = { child, again: false };
    kit.alerters.set(session, alerter);
    child.on("error", (error) => {
      log(kit.hostName, `nobody is alerted: ${describe(error)}`);
      if (child.pid === undefined) kit.alerters.delete(session);
    });
    child.on("exit", () => {
      kit.alerters.delete(session);
      if (alerter.again) alertBeside(kit, session);
    });
    child.unref();
  } catch (error) {
    log(kit.hostName, `nobody is alerted: ${describe(error)}`);
  }
}

/** Call it when a session has started: another process collects the notifications that wait for a session in its folder; no call waits for that. */
export function collectMailboxes(kit: Kit, session: string): void {
  try {
    const child = spawn(findCommand() ?? "tidings", ["box", "collect", "--session", session], { detached: true, stdio: "ignore", env: process.env });
    child.on("error", (error) => log(kit.hostName, `what waits for this folder was not collected: ${describe(error)}`));
    child.unref();
  } catch (error) {
    log(kit.hostName, `what waits for this folder was not collected: ${describe(error)}`);
  }
}

/** Call it when the session is left, or another process has taken it. */
export function alertNoMore(kit: Kit, session: string): void {
  const alerter = kit.alerts ? kit.alerters.get(session) : undefined;
  if (!alerter) return;
  alerter.again = false;
  alerter.child.kill();
}
