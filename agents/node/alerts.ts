// SPDX-License-Identifier: MIT
//
// alerts.ts: who alerts a person, if the user's configuration wants that: `tidings wait --alert` beside each session that a person sees, which ends with
// this process. It is started once a session, and nothing waits for it.
import { spawn } from "node:child_process";
import { type Kit, describe, findCommand, log } from "./kit.ts";

export function alertBeside(kit: Kit, session: string): void {
  if (!kit.alerts || kit.alerted.has(session)) return;
  kit.alerted.add(session);
  const words = ["wait", "--alert", "--follow", "--session", session, "--owner", String(process.pid)];
  try {
    const child = spawn(findCommand() ?? "tidings", words, { detached: true, stdio: "ignore", env: process.env });
    child.on("error", (error) => log(kit.hostName, `nobody is alerted: ${describe(error)}`));
    child.unref();
  } catch (error) {
    log(kit.hostName, `nobody is alerted: ${describe(error)}`);
  }
}
