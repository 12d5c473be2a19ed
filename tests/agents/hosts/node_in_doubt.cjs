// SPDX-License-Identifier: MIT
//
// node_in_doubt.cjs ADDON PLUGIN STORE SESSION: a host that dies with two deliveries that are not settled. Prints their ids.
const [addon, plugin, store, session] = process.argv.slice(2);
const module_ = { exports: {} };
process.dlopen(module_, addon);
const kit = module_.exports.open({ plugin, store });
const send = (type, data) => kit.event(JSON.stringify({ type, session, data }));

send("session.resumed", { deliveries: [] });
for (const message of ["Written down before the crash.", "Not written down before the crash."]) {
  send("notification", { kind: "tool.failed", level: "error", message });
  process.stdout.write(`${JSON.parse(kit.toolResult(session)).delivery}\n`);
}
process.kill(process.pid, "SIGKILL");
