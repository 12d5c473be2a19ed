// SPDX-License-Identifier: MIT
//
// alerts.ts: who alerts a person, if the user's configuration wants that: `tidings wait --alert` beside each session that a person sees, which ends when
// the session is left, and with this process. There is one for a session, and nothing waits for it.
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

/** The session has started: it collects what waits for whoever works in its folder. Another process does that, and nothing waits for it. */
export function collectMailboxes(kit: Kit, session: string): void {
  try {
    const child = spawn(findCommand() ?? "tidings", ["box", "collect", "--session", session], { detached: true, stdio: "ignore", env: process.env });
    child.on("error", (error) => log(kit.hostName, `what waits for this folder was not collected: ${describe(error)}`));
    child.unref();
  } catch (error) {
    log(kit.hostName, `what waits for this folder was not collected: ${describe(error)}`);
  }
}

/** The session is left, or another process has it. */
export function alertNoMore(kit: Kit, session: string): void {
  const alerter = kit.alerts ? kit.alerters.get(session) : undefined;
  if (!alerter) return;
  alerter.again = false;
  alerter.child.kill();
}
