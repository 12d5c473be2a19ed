// SPDX-License-Identifier: MIT
//
// agent.mjs ADDON PLUGIN STORE MODULES: for each number N on stdin, it makes N calls of a tool and N calls of a shell with nothing pending, in a turn of
// opencode and in one of pi, through the modules in MODULES. It prints how many nanoseconds the slower kind of call took in opencode, and in pi. The first
// line of its output names the runtime.
import { copyFileSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [addon, plugin, store, modules] = process.argv.slice(2);
const installed = `${store}.modules`;
mkdirSync(installed);
for (const name of readdirSync(modules)) if (name.endsWith(".ts")) copyFileSync(join(modules, name), join(installed, name));
copyFileSync(addon, join(installed, "tidings.node"));
Object.assign(process.env, { TIDINGS_PLUGIN: plugin, TIDINGS_STORE: store, XDG_STATE_HOME: installed, XDG_CONFIG_HOME: installed, PATH: "" });
const module_ = (name) => import(pathToFileURL(join(installed, name)).href);
const { default: opencodePlugin } = await module_("opencode.ts");
const { default: piExtension } = await module_("pi.ts");
const { closeKit } = await module_("kit.ts");
// A typical output of a program: some lines are indented, and they contain quotes and names.
const RESULT = `src/wren_nest.c:41:7: warning: unused variable "egg_count" [-Wunused-variable]\n   41 |   int egg_count = nest_size(nest) - 1;\n      |       ^~~~~~~~~\n`.repeat(20).slice(0, 2000);

// -- the hooks that each agent calls for one call of a tool
// -------------------------------------------------------------------------------------------------

async function opencode() {
  const sessionID = "opencode";
  const hooks = await opencodePlugin({ client: { session: {} }, directory: "/" });
  const event = (type, properties) => hooks.event({ event: { type, properties } });
  const busy = { sessionID, status: { type: "busy" } };
  await event("session.created", { info: { id: sessionID, directory: "/" } });
  const parts = [{ id: "prt_1fc9200d8000tSe1j4BDIRZ0E7", sessionID, messageID: "m", type: "text", text: "Hello." }];
  await hooks["chat.message"]({ sessionID }, { message: { id: "m", role: "user", sessionID }, parts });
  await event("session.status", busy);
  return async (callID, tool) => {
    const part = (state) => ({ part: { id: "p", sessionID, messageID: "m", type: "tool", tool, callID, state } });
    await event("session.status", busy);
    await hooks["experimental.chat.system.transform"]({ sessionID }, { system: [] });
    await hooks["experimental.chat.messages.transform"]({}, { messages: [] });
    await event("message.part.updated", part({ status: "running" }));
    const output = { title: "", output: RESULT, metadata: {} };
    await hooks["tool.execute.after"]({ tool, sessionID, callID, args: {} }, output);
    await event("message.part.updated", part({ status: "completed", output: output.output, metadata: output.metadata }));
    if (output.output !== RESULT) throw new Error("opencode: a result with nothing pending was changed");
  };
}

async function pi() {
  const hooks = new Map();
  const entries = [];
  const sessionManager = { getSessionId: () => "pi", getSessionFile: () => undefined, getEntries: () => entries, getBranch: () => entries };
  const ctx = { cwd: "/", mode: "rpc", model: {}, sessionManager, isIdle: () => false, abort() {} };
  piExtension({ on: (name, hook) => hooks.set(name, hook), sendUserMessage() {} });
  const fire = (name, event) => hooks.get(name)?.(event, ctx);
  fire("session_start", { reason: "startup" });
  fire("input", { text: "Hello.", source: "interactive" });
  fire("before_agent_start", { systemPromptOptions: { sections: {} } });
  fire("agent_start", {});
  return (toolCallId, toolName) => {
    const call = { toolName, toolCallId, input: {}, isError: false };
    fire("before_provider_request", {});
    fire("message_end", { message: { role: "assistant", stopReason: "toolUse" } });
    fire("tool_execution_start", call);
    fire("tool_result", call);
    fire("tool_execution_end", call);
    const changed = fire("message_end", { message: { role: "toolResult", content: [{ type: "text", text: RESULT }], toolCallId, toolName } });
    fire("turn_end", {});
    if (changed) throw new Error("pi: a result with nothing pending was changed");
  };
}

// -- measuring -----------------------------------------------------------------------------------------------------------------------------------

const agents = [await opencode(), await pi()];
let number = 0;

async function calls(agent, tool, count) {
  const began = process.hrtime.bigint();
  for (let i = 0; i < count; i++) await agent(`call_${number++}`, tool);
  return Number(process.hrtime.bigint() - began) / count;
}

console.log(process.versions.bun ? `Bun ${process.versions.bun}` : `Node ${process.version}`);
process.stdin.setEncoding("utf8");
for await (const text of process.stdin) {
  for (const count of text.trim().split("\n")) {
    const dearer = async (agent) => Math.max(await calls(agent, "read", Number(count)), await calls(agent, "bash", Number(count)));
    console.log(`${await dearer(agents[0])} ${await dearer(agents[1])}`);
  }
}
closeKit();
