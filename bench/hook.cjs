// SPDX-License-Identifier: MIT
//
// hook.cjs ADDON PLUGIN STORE: for each number N on stdin, it calls N hooks with nothing pending and prints how many nanoseconds one took. The first line
// of its output names the runtime.
const [addon, plugin, store] = process.argv.slice(2);
const module_ = { exports: {} };
process.dlopen(module_, addon);
const kit = module_.exports.open({ plugin, store });

kit.event(JSON.stringify({ type: "notification", session: "quiet", data: { kind: "tool.stopped", message: "Something." } }));
kit.settle(JSON.parse(kit.toolResult("quiet")).delivery, "committed");

function hooks(count) {
  const began = process.hrtime.bigint();
  for (let i = 0; i < count; i++) if (kit.toolResult("quiet", "call_1", "bash") !== undefined) throw new Error("a hook with nothing pending delivered something");
  return Number(process.hrtime.bigint() - began) / count;
}

console.log(process.versions.bun ? `Bun ${process.versions.bun}` : `Node ${process.version}`);
process.stdin.setEncoding("utf8");
process.stdin.on("data", (text) => text.trim().split("\n").forEach((count) => console.log(hooks(Number(count)))));
process.stdin.on("end", () => kit.close());
