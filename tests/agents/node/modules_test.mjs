// SPDX-License-Identifier: MIT
//
// modules_test.mjs: tests the installed modules for opencode and pi with the real plugin and simulated agents, which are only lists of hooks: after any error of
// tidings or of the agent, the agent must continue as if tidings were not there.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { BUILD, PLUGIN, SOURCE, end, equal, folder, matches, test, until } from "./tap.mjs";

const state = (process.env.XDG_STATE_HOME = folder());
process.env.XDG_CONFIG_HOME = folder();
process.env.PATH = `${BUILD}:${process.env.PATH}`;
process.env.TIDINGS_PLUGIN = PLUGIN;
delete process.env.TIDINGS_SESSION;

const installed = folder();
for (const name of readdirSync(join(SOURCE, "agents/node"))) if (name.endsWith(".ts")) copyFileSync(join(SOURCE, "agents/node", name), join(installed, name));
copyFileSync(join(BUILD, "tidings.node"), join(installed, "tidings.node"));
const { closeKit, openKit } = await import(join(installed, "kit.ts"));
const { default: opencodePlugin } = await import(join(installed, "opencode.ts"));
const { default: piExtension } = await import(join(installed, "pi.ts"));

const logFile = join(state, "tidings/logs/hosts.log");
const logged = () => (existsSync(logFile) ? readFileSync(logFile, "utf8") : "");

function tidings(...words) {
  execFileSync(join(BUILD, "tidings"), words, { stdio: ["ignore", "ignore", "inherit"] });
}

const inStore = (...words) => tidings(words[0], "-S", process.env.TIDINGS_STORE, "-s", "s", ...words.slice(1));

/** Returns the command's JSON about session s in the store of the environment. */
function answerOf(...words) {
  return JSON.parse(execFileSync(join(BUILD, "tidings"), [...words, "-S", process.env.TIDINGS_STORE, "-s", "s", "--json"], { encoding: "utf8" }));
}

const stateNow = () => answerOf("status").state;

const workFolder = () => process.env.TIDINGS_TEST_FOLDER ?? "/";

// -- an agent of each kind, and what it does in a turn -----------------------------------------------------------------------------------------

class Pi {
  hooks = new Map();
  sent = [];
  idle = true;

  /** `atOnce`: a message that is sent to it comes back as input before the call returns. */
  constructor(id, atOnce = false, reason = "startup", entries = []) {
    this.entries = entries;
    this.ctx = {
      cwd: workFolder(),
      mode: "rpc",
      model: {},
      sessionManager: { getSessionId: () => id, getSessionFile: () => undefined, getEntries: () => this.entries, getBranch: () => this.entries },
      isIdle: () => this.idle,
      abort() {},
    };
    piExtension({ on: (name, hook) => this.hooks.set(name, hook), sendUserMessage: (text) => this.sent.push(text) && atOnce && this.fire("input", { text, source: "extension" }) });
    this.fire("session_start", { reason });
  }

  fire(name, event = {}) {
    return this.hooks.get(name)(event, this.ctx);
  }

  message(message) {
    const { message: written = message } = this.fire("message_end", { message }) ?? {};
    this.entries.push({ type: "message", message: written });
    return written;
  }

  /** Returns the text of the tool's result for the model. Without a prompt, only that result can carry notifications. */
  turn(prompts = true) {
    if (prompts) this.prompt();
    this.fire("before_provider_request");
    this.message({ role: "assistant", stopReason: "toolUse" });
    this.fire("tool_execution_start");
    this.fire("tool_result", { toolName: "write", toolCallId: "c", input: { path: "x.txt" }, isError: false });
    const { content } = this.message({ role: "toolResult", content: [{ type: "text", text: "out" }], toolCallId: "c", toolName: "write" });
    this.fire("turn_end");
    this.fire("agent_settled");
    return content.map((part) => part.text).join("");
  }

  /* * The person goes back to the beginning, in pi's tree. Returns what the model gets next. */
  undo() {
    this.entries = [];
    this.fire("session_tree", { newLeafId: null, oldLeafId: "1" });
    return this.turn(false);
  }

  prompt() {
    this.fire("input", { text: "Hello.", source: "interactive" });
    const { message } = this.fire("before_agent_start", { systemPromptOptions: { sections: {} } }) ?? {};
    this.fire("agent_start");
    this.message({ role: "user", content: "Hello." });
    if (message) this.entries.push({ type: "custom_message", ...message });
  }
}

const part = (more = {}) => ({ id: "prt_1fc9200d8000tSe1j4BDIRZ0E7", sessionID: "s", messageID: "m", type: "text", text: "Hello.", ...more });

class Opencode {
  requests = [];
  sent = [];
  stored = []; // messages
  meanwhile = () => {}; // called between a question to opencode and its answer
  status = async () => ({ data: {} }); // of the MCP servers

  static async create(id) {
    const agent = new Opencode();
    const answer = (what, data) => (request) => {
      agent.requests.push(what);
      if (agent.throwsAtOnce) throw new Error("no server");
      return answered(what, data, request);
    };
    const answered = async (what, data, request) => {
      if (what === "promptAsync") agent.sent.push(request);
      const now = Array.isArray(data) ? [...data] : data;
      await agent.meanwhile(what);
      if (agent.throws) throw new Error("no server");
      return agent.broken ? { error: { name: "Broken" } } : { data: now };
    };
    const session = {
      get: answer("get", { id, directory: workFolder() }),
      messages: answer("messages", agent.stored),
      abort: answer("abort", true),
      promptAsync: answer("promptAsync", undefined),
    };
    agent.id = id;
    agent.hooks = await opencodePlugin({ client: { session, mcp: { status: () => agent.status() } }, directory: workFolder() });
    await agent.event("session.created", { info: { id, directory: workFolder() } });
    return agent;
  }

  async fire(name, ...words) {
    await this.hooks[name]?.(...words);
  }

  event(type, properties) {
    return this.fire("event", { event: { type, properties } });
  }

  /* * The person has reverted everything: opencode removes it when the next prompt comes. Returns
   * what the model gets then. */
  async undo() {
    const sessionID = this.id;
    const parts = [part({ sessionID })];
    for (const messageID of ["m", "m2"]) await this.event("message.removed", { sessionID, messageID });
    await this.fire("chat.message", { sessionID }, { message: { id: "m3", role: "user", sessionID }, parts });
    for (const stored of parts) await this.event("message.part.updated", { part: stored });
    return parts.map(({ text }) => text).join("");
  }

  async turn(prompts = true) {
    const sessionID = this.id;
    const parts = [part({ sessionID })];
    if (prompts) await this.fire("chat.message", { sessionID }, { message: { id: "m", role: "user", sessionID }, parts });
    if (prompts) this.prompted = parts.map(({ text }) => text).join("");
    for (const stored of parts) await this.event("message.part.updated", { part: stored });
    await this.event("session.status", { sessionID, status: { type: "busy" } });
    const output = { title: "", output: "out", metadata: {} };
    await this.fire("tool.execute.after", { tool: "write", sessionID, callID: "c", args: { filePath: "x.txt" } }, output);
    const state = { status: "completed", output: output.output, metadata: output.metadata };
    this.result = part({ sessionID, type: "tool", callID: "c", state });
    await this.event("message.part.updated", { part: this.result });
    await this.event("session.status", { sessionID, status: { type: "idle" } });
    await this.event("session.idle", { sessionID });
    return output.output;
  }
}

const AGENTS = { pi: async (id) => new Pi(id), opencode: (id) => Opencode.create(id) };

// -- errors ---------------------------------------------------------------------------------------------------------------------------

async function withEnvironment(variables, body) {
  for (const [name, value] of Object.entries(variables)) process.env[name] = value;
  try {
    await body();
  } finally {
    closeKit();
    for (const name of Object.keys(variables)) delete process.env[name];
    process.env.TIDINGS_PLUGIN = PLUGIN;
  }
}

function file(text) {
  const path = join(folder(), "file");
  writeFileSync(path, text);
  return path;
}

function looseFolder() {
  const path = join(folder(), "open to all");
  mkdirSync(path);
  execFileSync("chmod", ["777", path]);
  return path;
}

/** Another process holds the store, so that every call finds it busy. Returns the function that ends this. */
async function hold() {
  const holder = spawn(join(BUILD, "tests", "cli-store-trick"), ["hold", process.env.TIDINGS_STORE], { stdio: ["pipe", "pipe", "inherit"] });
  const gone = new Promise((resolve) => holder.once("exit", resolve));
  let held = "";
  holder.stdout.on("data", (text) => (held += text));
  await until(() => held.includes("held"), "the lock is held");
  return () => {
    holder.kill("SIGKILL");
    return gone;
  };
}

const OFF = [
  ["no plugin", { TIDINGS_PLUGIN: "/nowhere/tidings.so" }, /tidings is off: TIDINGS_E_NOT_FOUND: cannot open the plugin \/nowhere/],
  ["a plugin that is none", { TIDINGS_PLUGIN: file("not a plugin") }, /tidings is off: TIDINGS_E_[A-Z]+: .*ELF/],
  ["a broken configuration", { TIDINGS_CONFIG: file("{") }, /tidings is off: TIDINGS_E_INVAL: .*configuration: not JSON/],
  ["a configuration that is not there", { TIDINGS_CONFIG: "/nowhere/config.json" }, /tidings is off: ENOENT/],
  ["a file where the store should be", { TIDINGS_STORE: file("") }, /tidings is off: TIDINGS_E_STORE: /],
  ["a store that others may write", { TIDINGS_STORE: looseFolder() }, /tidings is off: TIDINGS_E_STORE: /],
];

for (const [host, create] of Object.entries(AGENTS)) {
  for (const [what, variables, says] of OFF) {
    await test(`${host}: ${what}: it works as ever, and the log says why`, () =>
      withEnvironment({ TIDINGS_STORE: join(folder(), "store"), ...variables }, async () => {
        const before = logged().length;
        equal(await (await create("s")).turn(), "out");
        matches(logged().slice(before), says);
      }));
  }

  await test(`${host}: a store that cannot be opened at the start is opened when it can be, and a queued message then waits for the end of the turn`, () =>
    withEnvironment({ TIDINGS_STORE: file("") }, async () => {
      const agent = await create("s");
      equal(await agent.turn(), "out");
      rmSync(process.env.TIDINGS_STORE);
      tidings("submit", "-S", process.env.TIDINGS_STORE, "-s", "s", "--create", "Deploy.");
      const isAttached = () => answerOf("status").attachment !== null;
      await until(async () => (await agent.turn(), isAttached()), "it is opened");
      await until(() => agent.sent.length, "the message is sent");
      inStore("push", "The build failed.");
      matches(await agent.turn(false), /- The build failed\./);
    }));

  await test(`${host}: a configuration that is wrong at the start is said once, and not read again`, () =>
    withEnvironment({ TIDINGS_STORE: join(folder(), "store"), TIDINGS_CONFIG: file("{") }, async () => {
      const before = logged().length;
      const agent = await create("s");
      writeFileSync(process.env.TIDINGS_CONFIG, "{}");
      for (let count = 0; count < 3; count++) equal(await agent.turn(), "out");
      equal([existsSync(process.env.TIDINGS_STORE), logged().slice(before).split("tidings is off").length], [false, 2]);
    }));

  await test(`${host}: the project's configuration, in TOML, over the user's; one that is wrong is a line in the log`, () =>
    withEnvironment({ TIDINGS_STORE: join(folder(), "store"), TIDINGS_TEST_FOLDER: folder() }, async () => {
      const file = join(process.env.TIDINGS_TEST_FOLDER, ".tidings.toml");
      for (const [text, shown] of [['delivery.preset = "xml"', /^out\n\n<notification /], ["limits.event_bytes = 4096", /^---\n/]]) {
        writeFileSync(file, text);
        const agent = await create("s");
        await agent.turn();
        tidings("push", "-S", process.env.TIDINGS_STORE, "-s", "s", "The build failed.");
        matches(await agent.turn(false), shown);
        closeKit();
      }
      matches(logged(), /\.tidings\.toml: limits\.event_bytes: a project may not set it/);
    }));

  await test(`${host}: news rides on a result, once`, () =>
    withEnvironment({ TIDINGS_STORE: join(folder(), "store") }, async () => {
      const agent = await create("s");
      await agent.turn();
      const before = logged();
      tidings("push", "-S", process.env.TIDINGS_STORE, "-s", "s", "The build failed.");
      matches(await agent.turn(false), /^---\n[^]*- The build failed\.\n---\n\nout$/);
      equal(await agent.turn(), "out");
      equal(logged(), before);
    }));

  await test(`${host}: what the person has undone, the model gets again`, () =>
    withEnvironment({ TIDINGS_STORE: join(folder(), "store") }, async () => {
      const agent = await create("s");
      await agent.turn();
      tidings("push", "-S", process.env.TIDINGS_STORE, "-s", "s", "The build failed.");
      matches(await agent.turn(false), /- The build failed\./);
      equal(await agent.turn(), "out");
      const before = logged();
      matches(await agent.undo(), /- The build failed\./);
      equal(await agent.turn(false), "out");
      equal(logged(), before);
    }));

  await test(`${host}: a writer who holds the store: the turn goes on, and the news is told when he is gone`, () =>
    withEnvironment({ TIDINGS_STORE: join(folder(), "store") }, async () => {
      const agent = await create("s");
      await agent.turn();
      tidings("push", "-S", process.env.TIDINGS_STORE, "-s", "s", "It waits.");
      const release = await hold();
      equal(await agent.turn(), "out");
      matches(logged(), /TIDINGS_E_BUSY/);
      await release();
      tidings("push", "-S", process.env.TIDINGS_STORE, "-s", "s", "Another.");
      await agent.turn();
      const left = execFileSync(join(BUILD, "tidings"), ["pending", "-S", process.env.TIDINGS_STORE, "-s", "s", "--json"], { encoding: "utf8" });
      equal(JSON.parse(left).items.filter((item) => !item.caused_by), []);
    }));

  await test(`${host}: the store goes away while it runs, or is one of a newer build: the turn goes on`, async () => {
    for (const spoil of [(store) => renameSync(store, `${store}.away`), (store) => execFileSync(join(BUILD, "tests", "cli-store-trick"), ["newer", store])]) {
      await withEnvironment({ TIDINGS_STORE: join(folder(), "store") }, async () => {
        const agent = await create("s");
        equal(await agent.turn(), "out");
        spoil(process.env.TIDINGS_STORE);
        equal(await agent.turn(), "out");
        equal(await agent.turn(), "out");
      });
    }
  });
}

// -- offers that cannot start yet ------------------------------------------------------------------------------------------------------------------

for (const [what, words, says] of [
  ["a message", ["submit", "Deploy."], /^Deploy\.$/],
  ["something critical", ["push", "-l", "critical", "-k", "disk.full", "The disk is full."], /^Critical notification \(disk\.full\)/],
]) {
  await test(`pi: ${what} that comes during /compact starts its turn when pi is idle again, without a decline`, () =>
    withEnvironment({ TIDINGS_STORE: join(folder(), "store") }, async () => {
      const pi = new Pi("s");
      pi.turn();
      pi.idle = false;
      pi.fire("session_before_compact");
      tidings(words[0], "-S", process.env.TIDINGS_STORE, "-s", "s", ...words.slice(1));
      equal(stateNow(), "idle");
      pi.fire("session_compact");
      equal(stateNow(), "starting");
      equal(pi.sent, []);
      pi.idle = true;
      await until(() => pi.sent.length, "the turn is sent");
      matches(pi.sent[0], says);
      pi.fire("input", { text: pi.sent[0], source: "extension" });
      pi.fire("agent_start");
      equal(stateNow(), "busy");
      equal(pi.sent.length, 1);
      equal(answerOf("history").transitions.filter(({ event }) => event === "turn.declined"), []);
    }));
}

await test("pi: an offer that pi refused because it compacts is sent again afterwards", () =>
  withEnvironment({ TIDINGS_STORE: join(folder(), "store") }, async () => {
    const pi = new Pi("s");
    pi.turn();
    tidings("submit", "-S", process.env.TIDINGS_STORE, "-s", "s", "Deploy.");
    await until(() => pi.sent.length === 1, "the turn is sent");
    pi.fire("session_before_compact");
    pi.fire("session_compact");
    await until(() => pi.sent.length === 2, "the turn is sent again");
    equal(pi.sent, ["Deploy.", "Deploy."]);
  }));

await test("pi: what waits when the person says /new is in the new session, once; what is pushed to the old one goes there, too", () =>
  withEnvironment({ TIDINGS_STORE: join(folder(), "store") }, async () => {
    const to = (session, ...words) => tidings(words[0], "-S", process.env.TIDINGS_STORE, "-s", session, ...words.slice(1));
    const list = (session) => execFileSync(join(BUILD, "tidings"), ["pending", "-S", process.env.TIDINGS_STORE, "-s", session, "--json"], { encoding: "utf8" });
    const waiting = (session) =>
      JSON.parse(list(session))
        .items.filter((item) => !item.caused_by)
        .map((item) => item.message);
    const old = new Pi("s");
    old.turn();
    old.idle = false;
    to("s", "push", "The disk is full.");
    old.fire("session_shutdown", { reason: "new" });
    const next = new Pi("next", false, "new");
    equal([waiting("s"), waiting("next")], [[], ["The disk is full."]]);
    to("s", "push", "The disk is slow.");
    equal([waiting("s"), waiting("next")], [[], ["The disk is full.", "The disk is slow."]]);
    next.fire("session_shutdown", { reason: "resume" });
    new Pi("s", false, "resume");
    to("s", "push", "The disk is new.");
    equal(waiting("s"), ["The disk is new."]);
  }));

await test("opencode serve: a new session is no window's, and what waits stays in the one before", () =>
  withEnvironment({ TIDINGS_STORE: join(folder(), "store") }, async () => {
    const waiting = (session) => JSON.parse(execFileSync(join(BUILD, "tidings"), ["pending", "-S", process.env.TIDINGS_STORE, "-s", session, "--json"], { encoding: "utf8" })).items.filter((item) => !item.caused_by).length;
    process.argv.push("serve");
    try {
      const agent = await Opencode.create("s");
      await agent.turn();
      tidings("push", "-S", process.env.TIDINGS_STORE, "-s", "s", "The disk is full.");
      await agent.event("session.created", { info: { id: "next", directory: workFolder(), title: "New session - 2026-11-27T20:00:00.000Z" } });
      equal([waiting("s"), waiting("next")], [1, 0]);
    } finally {
      process.argv.pop();
    }
  }));

await test("opencode: what waits when the person says /new is in the new session, once; what is pushed to the old one goes there, too, until it is used again", () =>
  withEnvironment({ TIDINGS_STORE: join(folder(), "store") }, async () => {
    const inSession = (session, ...words) => tidings(words[0], "-S", process.env.TIDINGS_STORE, "-s", session, ...words.slice(1));
    const ask = (session, ...words) => JSON.parse(execFileSync(join(BUILD, "tidings"), [...words, "-S", process.env.TIDINGS_STORE, "-s", session, "--json"], { encoding: "utf8" }));
    const waiting = (session) => ask(session, "pending").items.filter((item) => !item.caused_by).map((item) => item.message);
    const agent = await Opencode.create("s");
    const begin = async (id, more) => {
      await agent.event("session.created", { info: { id, directory: workFolder(), ...more } });
      agent.id = id;
    };
    await agent.turn();
    inSession("s", "push", "The disk is full.");
    inSession("s", "push", "-l", "error", "The cable is out.");
    await begin("task", { parentID: "s" });
    await begin("program", { title: "A program's own" });
    equal([waiting("s").length, waiting("task").length, waiting("program").length], [2, 0, 0]);
    await begin("next", { title: "New session - 2026-11-27T20:00:00.000Z" });
    equal(waiting("s"), []);
    equal(waiting("next").toSorted(), ["The cable is out.", "The disk is full."]);
    inSession("s", "push", "The disk is slow.");
    equal([waiting("s"), waiting("next").length], [[], 3]);
    inSession("next", "submit", "Deploy.");
    equal(agent.sent, []);
    await agent.turn();
    for (const words of ["The disk is full.", "The cable is out.", "The disk is slow."]) equal(agent.prompted.split(words).length, 2);
    await until(() => agent.sent.length === 1, "what was queued is the turn after the person's");
    await agent.fire("chat.message", { sessionID: "next" }, { message: { id: "m2", role: "user", sessionID: "next" }, parts: agent.sent[0].body.parts.map((more) => part({ sessionID: "next", ...more })) });
    inSession("next", "push", "It works meanwhile.");
    await begin("third");
    equal([waiting("next"), waiting("third")], [["It works meanwhile."], []]);
    agent.id = "s";
    await agent.turn();
    inSession("s", "push", "The disk is new.");
    equal(waiting("s"), ["The disk is new."]);
  }));

await test("pi: a prompt of the person's takes the place of an offer that waits; who leaves the session declines it", () =>
  withEnvironment({ TIDINGS_STORE: join(folder(), "store") }, async () => {
    const pi = new Pi("s");
    pi.turn();
    pi.ctx.model = undefined;
    tidings("submit", "-S", process.env.TIDINGS_STORE, "-s", "s", "Deploy.");
    await until(() => stateNow() === "starting", "it is offered");
    pi.prompt();
    equal(stateNow(), "busy");
    pi.fire("agent_settled");
    equal(stateNow(), "starting");
    equal(pi.sent, []);
    pi.fire("session_shutdown", { reason: "new" });
    equal(stateNow(), "idle");
    equal(answerOf("queue").messages.map(({ state }) => state), ["queued"]);
  }));

await test("pi: what waits when a session is opened is a turn once, though its input comes before that is done", () =>
  withEnvironment({ TIDINGS_STORE: join(folder(), "store") }, () => {
    tidings("submit", "-S", process.env.TIDINGS_STORE, "-s", "s", "--create", "Deploy.");
    const pi = new Pi("s", true);
    equal(pi.sent, ["Deploy."]);
    pi.fire("before_agent_start", { systemPromptOptions: { sections: {} } });
    pi.fire("agent_start");
    pi.message({ role: "user", content: "Deploy." });
    pi.message({ role: "assistant", stopReason: "stop" });
    pi.fire("agent_settled");
    equal([pi.sent, answerOf("queue").messages, stateNow()], [["Deploy."], [], "idle"]);
  }));

await test("pi: a message from the queue and what was pending are one record of the session, which a kill leaves whole or not at all", () =>
  withEnvironment({ TIDINGS_STORE: join(folder(), "store") }, () => {
    tidings("submit", "-S", process.env.TIDINGS_STORE, "-s", "s", "--create", "Deploy.");
    tidings("push", "-S", process.env.TIDINGS_STORE, "-s", "s", "The lint is red.");
    const pi = new Pi("s", true);
    equal(pi.sent, ["Deploy."]);
    equal(pi.fire("before_agent_start", { systemPromptOptions: { sections: {} } })?.message, undefined);
    pi.fire("agent_start");
    const { content, tidings: mark } = pi.message({ role: "user", content: "Deploy." });
    const text = content.map((part) => part.text).join("");
    equal([text.endsWith("Deploy."), text.includes("The lint is red."), typeof mark.delivery], [true, true, "string"]);
  }));

/** The processes that alert a person of session s of this process. */
function watchers() {
  const words = (pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
    } catch {
      return [];
    }
  };
  return readdirSync("/proc").filter((pid) => /^\d+$/.test(pid) && words(pid).includes("--alert") && words(pid).includes(String(process.pid)));
}

for (const [alerts, count] of [[{ waiting: true }, 1], [{}, 0]])
  await test(`pi: ${count ? "with" : "without"} alerts in the configuration ${count} process beside the session alerts a person`, () => {
    const TIDINGS_CONFIG = join(folder(), "config.json");
    writeFileSync(TIDINGS_CONFIG, JSON.stringify({ alerts }));
    return withEnvironment({ TIDINGS_STORE: join(folder(), "store"), TIDINGS_CONFIG }, async () => {
      const pi = new Pi("s");
      pi.turn();
      pi.fire("session_start", { reason: "startup" });
      if (!count) return equal(watchers(), []);
      await until(() => watchers().length === 1, "one process"); // its command line appears a moment after its start
      const [first] = watchers();
      process.kill(Number(first));
      await until(() => !openKit("pi", "/").alerters.size, "its end");
      const next = async (what) => {
        const before = watchers();
        const again = new Pi("s");
        again.turn();
        await until(() => watchers().length === 1 && watchers()[0] !== before[0], what);
        return again;
      };
      const other = await next("another one, because the first one has ended");
      other.fire("session_shutdown", { reason: "new" });
      await until(() => !watchers().length, "its end with the session");
      const last = await next("one of the session that is begun again");
      last.fire("session_shutdown", { reason: "reload" });
      const left = await next("one after the end of the one before");
      left.fire("session_shutdown", { reason: "new" });
      await until(() => !watchers().length, "the end of all");
    });
  });

await test("pi: nobody alerts of a session that another process owns", () => {
  const TIDINGS_CONFIG = join(folder(), "config.json");
  writeFileSync(TIDINGS_CONFIG, JSON.stringify({ alerts: { waiting: true } }));
  return withEnvironment({ TIDINGS_STORE: join(folder(), "store"), TIDINGS_CONFIG }, async () => {
    const event = JSON.stringify({ type: "session.opened", session: "s", data: { cwd: "/", host: "other" } });
    const other = spawn("sleep", ["1000"]);
    try {
      execFileSync(join(BUILD, "tidings"), ["event", "-S", process.env.TIDINGS_STORE, "--owner", String(other.pid)], { input: event });
      new Pi("s");
      equal(openKit("pi", "/").alerters.size, 0);
    } finally {
      other.kill();
    }
  });
});

for (const [name, start] of [["pi", () => new Pi("s")], ["opencode", async () => (await Opencode.create("s")).turn()]])
  await test(`${name}: a session that starts collects what waits for its folder`, () => {
    const TIDINGS_TEST_FOLDER = folder();
    return withEnvironment({ TIDINGS_STORE: join(folder(), "store"), TIDINGS_TEST_FOLDER }, async () => {
      tidings("push", "-S", process.env.TIDINGS_STORE, "--to", `folder:${TIDINGS_TEST_FOLDER}`, "Waits for you.");
      await start();
      const left = () => JSON.parse(execFileSync(join(BUILD, "tidings"), ["box", "show", `folder:${TIDINGS_TEST_FOLDER}`, "-S", process.env.TIDINGS_STORE, "--json"])).pending;
      await until(() => !left().length, "it is collected");
      matches(JSON.stringify([answerOf("pending"), answerOf("history")]), /Waits for you\./);
    });
  });

await test("pi: an offer that wants a model is sent when one is chosen", () =>
  withEnvironment({ TIDINGS_STORE: join(folder(), "store") }, async () => {
    const pi = new Pi("s");
    pi.turn();
    let model;
    let looked = 0;
    Object.defineProperty(pi.ctx, "model", { get: () => (looked++, model) });
    tidings("submit", "-S", process.env.TIDINGS_STORE, "-s", "s", "Deploy.");
    await until(() => looked, "it is offered");
    equal(pi.sent, []);
    model = {};
    pi.fire("model_select");
    equal(pi.sent, ["Deploy."]);
  }));

for (const [host, create] of Object.entries(AGENTS)) {
  for (const [what, call, ...later] of [["a session is called", "nextSession"], ["it asks what a session needs", "event"], ["a message is due", "event", "--in", "1s"]]) {
    await test(`${host}: the store is away when ${what}: the message is sent when the store is there again`, () =>
      withEnvironment({ TIDINGS_STORE: join(folder(), "store") }, async () => {
        const agent = await create("s");
        await agent.turn();
        const { instance } = openKit(host, "/");
        const called = instance[call].bind(instance);
        let failures = 0;
        instance[call] = (...given) => {
          if (failures || (given.length && !given[0].includes('"wake"')) || (later.length && Date.now() < due)) return called(...given);
          failures++;
          throw Object.assign(new Error("the store is away"), { code: "TIDINGS_E_STORE" });
        };
        const due = Date.now() + 1000;
        inStore("submit", ...later, "Deploy.");
        await until(() => agent.sent.length, "it is sent");
        equal(failures, 1);
      }));
  }
}

for (const [host, create] of Object.entries(AGENTS)) {
  for (const first of ["a turn", "nothing"]) {
    await test(`${host}: the store is busy when a session starts, and ${first} comes before it is not: the session is found by its folder, and called`, () =>
      withEnvironment({ TIDINGS_STORE: join(folder(), "store"), TIDINGS_TEST_FOLDER: folder() }, async () => {
        openKit(host, "/");
        inStore("push", "--create", "Early.");
        const release = await hold();
        const agent = await create("s");
        await release();
        if (first === "a turn") await agent.turn();
        await until(() => answerOf("status").attachment?.cwd, "its folder is known");
        equal(answerOf("status").attachment.cwd, process.env.TIDINGS_TEST_FOLDER);
        inStore("submit", "Deploy.");
        await until(() => agent.sent.length, "it is sent");
      }));
  }
}

for (const [host, create] of Object.entries(AGENTS)) {
  await test(`${host}: the store is away when a delivery ends: it is settled when the store is there again`, () =>
    withEnvironment({ TIDINGS_STORE: join(folder(), "store") }, async () => {
      const agent = await create("s");
      await agent.turn();
      const { instance } = openKit(host, "/");
      const settle = instance.settle.bind(instance);
      let failures = 0;
      instance.settle = (...given) => {
        if (failures++) return settle(...given);
        throw Object.assign(new Error("the store is away"), { code: "TIDINGS_E_STORE" });
      };
      inStore("push", "The build failed.");
      matches(await agent.turn(false), /The build failed\./);
      equal(failures > 0, true);
      await until(() => !answerOf("status").leased.length, "it is settled");
      equal(answerOf("history").deliveries.at(-1).outcome, "committed");
    }));
}

for (const [host, create] of Object.entries(AGENTS)) {
  await test(`${host}: the store is busy when a compaction ends: what is queued afterwards is sent`, () =>
    withEnvironment({ TIDINGS_STORE: join(folder(), "store") }, async () => {
      const agent = await create("s");
      await agent.turn();
      const compacts = { pi: ["session_before_compact", "session_compact"], opencode: ["experimental.session.compacting", "event"] }[host];
      await agent.fire(compacts[0], { sessionID: "s" });
      equal(answerOf("status").compacting, true);
      const release = await hold();
      await agent.fire(compacts[1], { event: { type: "session.compacted", properties: { sessionID: "s" } } });
      await release();
      inStore("submit", "Deploy.");
      await until(() => agent.sent.length, "it is sent");
    }));
}

for (const [host, create] of Object.entries(AGENTS)) {
  await test(`${host}: the store is busy when the person says /new: what waits follows later`, () =>
    withEnvironment({ TIDINGS_STORE: join(folder(), "store") }, async () => {
      const agent = await create("s");
      await agent.turn();
      inStore("push", "The disk is full.");
      const waiting = () => answerOf("pending").items.filter((item) => !item.caused_by).length;
      equal(waiting(), 1);
      if (host === "pi") agent.fire("session_shutdown", { reason: "new" });
      const release = await hold();
      const next = host === "pi" ? new Pi("next", false, "new") : agent;
      if (host === "opencode") await agent.event("session.created", { info: { id: "next", directory: workFolder() } });
      await release();
      next.id = "next";
      await until(() => !waiting(), "it has left the former session");
      await next.turn();
      if (host === "opencode") matches(next.prompted, /The disk is full\./);
      tidings("push", "-S", process.env.TIDINGS_STORE, "-s", "s", "The disk is slow.");
      equal(waiting(), 0);
    }));
}

for (const [host, create] of Object.entries(AGENTS)) {
  await test(`${host}: the store is busy when the person says /new twice: what waits follows into the newest conversation`, () =>
    withEnvironment({ TIDINGS_STORE: join(folder(), "store") }, async () => {
      let agent = await create("s");
      await agent.turn();
      inStore("push", "The disk is full.");
      const release = await hold();
      for (const id of ["between", "newest"]) {
        if (host === "opencode") await agent.event("session.created", { info: { id, directory: workFolder() } });
        else {
          agent.fire("session_shutdown", { reason: "new" });
          agent = new Pi(id, false, "new");
        }
      }
      await release();
      agent.id = "newest";
      await until(() => !answerOf("pending").items.filter((item) => !item.caused_by).length, "it has left the first session");
      matches(`${await agent.turn(false)} ${agent.prompted}`, /The disk is full\./);
    }));

  await test(`${host}: the store is away when a session starts: what waits for its folder is collected when the store is there again`, () =>
    withEnvironment({ TIDINGS_STORE: join(folder(), "store"), TIDINGS_TEST_FOLDER: folder() }, async () => {
      tidings("push", "-S", process.env.TIDINGS_STORE, "--to", `folder:${workFolder()}`, "Early.");
      const { instance } = openKit(host, "/");
      const event = instance.event.bind(instance);
      let failures = 0;
      instance.event = (text) => {
        if (failures++) return event(text);
        throw Object.assign(new Error("the store is away"), { code: "TIDINGS_E_STORE" });
      };
      await create("s");
      await until(() => failures > 1, "it has started");
      await until(() => answerOf("pending").items.length, "it is collected");
    }));
}

await test("pi: the store is busy when the person leaves a branch: what was only there comes again", () =>
  withEnvironment({ TIDINGS_STORE: join(folder(), "store") }, async () => {
    const pi = new Pi("s");
    pi.turn();
    inStore("push", "The build failed.");
    matches(pi.turn(false), /The build failed\./);
    const release = await hold();
    pi.entries = [];
    pi.fire("session_tree", { newLeafId: null, oldLeafId: "1" });
    await release();
    matches(pi.turn(false), /The build failed\./);
  }));

/** Another process delivers what is pending with a tool's result, and is killed. Returns the delivery. */
function deliveredBefore() {
  const script = `const module = { exports: {} };
    process.dlopen(module, ${JSON.stringify(join(BUILD, "tidings.node"))});
    const kit = module.exports.open({ plugin: ${JSON.stringify(PLUGIN)}, store: ${JSON.stringify(process.env.TIDINGS_STORE)}, hostName: "pi" });
    kit.event(JSON.stringify({ type: "session.opened", session: "s", data: {} }));
    console.log(JSON.parse(kit.toolResult("s", "c", "bash")).delivery);
    process.kill(process.pid, "SIGKILL");`;
  return spawnSync(process.execPath, ["-e", script], { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] }).stdout.trim();
}

await test("pi: the store is busy when a session is resumed: what its transcript has comes no second time", () =>
  withEnvironment({ TIDINGS_STORE: join(folder(), "store") }, async () => {
    inStore("push", "--create", "The build failed.");
    const message = { role: "toolResult", content: [], tidings: { delivery: deliveredBefore() } };
    openKit("pi", "/");
    const release = await hold();
    const pi = new Pi("s", false, "startup", [{ type: "message", message }]);
    pi.prompt();
    await release();
    equal(pi.turn(false), "out");
    equal(answerOf("history").deliveries.map(({ outcome }) => outcome), ["committed"]);
  }));

await test("opencode: an offer that comes while a withdrawn one is on its way is sent after it", () =>
  withEnvironment({ TIDINGS_STORE: join(folder(), "store") }, async () => {
    const agent = await Opencode.create("s");
    await agent.turn();
    const queue = (...words) => tidings(words[0], "-S", process.env.TIDINGS_STORE, "-s", "s", ...words.slice(1));
    queue("submit", "--id", "a", "First.");
    await until(() => agent.sent.length === 1, "the first is sent");
    queue("submit", "--id", "b", "Second.");
    queue("queue", "cancel", "a");
    openKit("opencode", "/").rang.get("s")();
    equal(answerOf("status").messages, ["b"]);
    equal(agent.sent.length, 1);
    const parts = agent.sent[0].body.parts.map((more) => part(more));
    let refused = "";
    await agent.fire("chat.message", { sessionID: "s" }, { message: { id: "m", role: "user", sessionID: "s" }, parts }).catch((error) => (refused = error.message));
    matches(refused, /withdrawn/);
    await until(() => agent.sent.length === 2, "the second is sent");
    equal(agent.sent[1].body.parts[0].text, "Second.");
    equal(answerOf("history").transitions.filter(({ event }) => event === "turn.declined"), []);
  }));

// -- notifications that only a summarizer has read
// -------------------------------------------------------------------------------------------------------------------

await test("opencode: what was on a result when opencode compacted is pending again, unless the model has read it", () =>
  withEnvironment({ TIDINGS_STORE: join(folder(), "store") }, async () => {
    const agent = await Opencode.create("s");
    const pushed = (text) => tidings("push", "-S", process.env.TIDINGS_STORE, "-s", "s", text);
    const waiting = () => answerOf("pending").items.filter((item) => !item.caused_by).map((item) => item.message);
    const request = (messages) => agent.fire("experimental.chat.messages.transform", {}, { messages });
    const result = async (callID) => {
      const output = { title: "", output: "out", metadata: {} };
      await agent.fire("tool.execute.after", { tool: "read", sessionID: "s", callID, args: {} }, output);
      const stored = part({ type: "tool", callID, state: { status: "completed", output: output.output, metadata: output.metadata } });
      await agent.event("message.part.updated", { part: stored });
      agent.stored.push({ info: { role: "assistant", sessionID: "s" }, parts: [stored] });
      return output.output;
    };
    await agent.event("session.status", { sessionID: "s", status: { type: "busy" } });
    pushed("Read in time.");
    matches(await result("one"), /Read in time\./);
    await request(agent.stored);
    await agent.event("message.part.updated", { part: part({ type: "step-finish" }) });
    pushed("Seen by the summarizer.");
    matches(await result("two"), /Seen by the summarizer\./);
    equal(waiting(), []);
    await agent.fire("experimental.session.compacting", { sessionID: "s" }, {});
    await request(agent.stored);
    await agent.event("message.part.updated", { part: part({ type: "step-finish" }) });
    await agent.event("session.compacted", { sessionID: "s" });
    await request([{ info: { role: "user", sessionID: "s" }, parts: [part({ text: "Summary." })] }]);
    await agent.event("session.idle", { sessionID: "s" });
    await until(() => waiting().length, "it is pending again");
    equal(waiting(), ["Seen by the summarizer."]);
    const parts = [part()];
    await agent.fire("chat.message", { sessionID: "s" }, { message: { id: "m", role: "user", sessionID: "s" }, parts });
    matches(parts.map(({ text }) => text).join(""), /^(?![^]*Read in time)[^]*Seen by the summarizer\./);
  }));

// -- errors of opencode's API -----------------------------------------------------------------------------------------------------------------

for (const [what, fault] of [["does not answer", "throws"], ["answers an error", "broken"]]) {
  await test(`opencode: it ${what} when it is asked what a revert has left: it is asked again at the next prompt`, () =>
    withEnvironment({ TIDINGS_STORE: join(folder(), "store") }, async () => {
      const agent = await Opencode.create("s");
      await agent.turn();
      inStore("push", "The build failed.");
      matches(await agent.turn(false), /- The build failed\./);
      agent[fault] = true;
      equal(await agent.undo(), "Hello.");
      equal(await agent.turn(false), "out");
      agent[fault] = false;
      agent.requests = [];
      equal(await agent.turn(), "out");
      equal(agent.requests, ["messages"]);
      equal(answerOf("pending").items.filter((item) => !item.caused_by), []);
      matches(agent.prompted, /- The build failed\./);
      matches(logged(), /what a revert has left cannot be read: /);
    }));
}

await test("opencode: its API throws at once when a turn is to start or to stop: the next turn starts", () =>
  withEnvironment({ TIDINGS_STORE: join(folder(), "store") }, async () => {
    const agent = await Opencode.create("s");
    await agent.turn();
    agent.throwsAtOnce = true;
    inStore("submit", "First.");
    await until(() => agent.requests.includes("promptAsync"), "it is tried");
    for (let count = 0; count < 2; count++) await agent.event("session.status", { sessionID: "s", status: { type: "busy" } });
    inStore("push", "-l", "critical", "The disk is full.");
    await until(() => agent.requests.includes("abort"), "it is to stop");
    agent.throwsAtOnce = false;
    await until(() => stateNow() === "idle", "the turn has ended");
    inStore("submit", "Second.");
    await until(() => agent.sent.length, "the next turn starts");
    equal(agent.sent[0].body.parts[0].text, "First.");
  }));

await test("opencode: a session that two folders of one process know is woken after one of them was disposed of", () =>
  withEnvironment({ TIDINGS_STORE: join(folder(), "store") }, async () => {
    const agent = await Opencode.create("s");
    await agent.turn();
    const other = await Opencode.create("t");
    other.id = "s";
    await other.turn();
    await agent.fire("dispose");
    inStore("submit", "Deploy.");
    await until(() => other.sent.length, "it is sent");
  }));

await test("opencode: a message that is removed while opencode says what is left is no longer there", () =>
  withEnvironment({ TIDINGS_STORE: join(folder(), "store") }, async () => {
    const agent = await Opencode.create("s");
    await agent.turn();
    inStore("push", "The build failed.");
    matches(await agent.turn(false), /- The build failed\./);
    agent.stored.push({ info: { role: "assistant", sessionID: "s" }, parts: [agent.result] });
    agent.meanwhile = async () => {
      if (agent.stored.length) await agent.event("message.removed", { sessionID: "s", messageID: agent.stored.pop().messageID });
    };
    matches(await agent.undo(), /- The build failed\./);
    equal(agent.requests, ["messages", "messages"]);
  }));

/** Runs a turn that tidings starts in opencode, and then another one. */
async function runsTwo(agent, fails, passes = () => {}) {
  for (const words of ["First.", "Second."]) {
    const count = agent.sent.length;
    inStore("submit", words);
    await until(() => agent.sent.length > count, `${words} is sent`);
    const parts = agent.sent.at(-1).body.parts.map((more) => part(more));
    equal(parts[0].text, words);
    if (words === "First.") await fails();
    await agent.fire("chat.message", { sessionID: "s" }, { message: { id: "m", role: "user", sessionID: "s" }, parts });
    agent.throws = false;
    if (words === "First.") await passes();
    await agent.event("session.status", { sessionID: "s", status: { type: "busy" } });
    for (const stored of parts) await agent.event("message.part.updated", { part: stored });
    equal(answerOf("queue").messages, []);
    await agent.turn(false);
    equal(stateNow(), "idle");
  }
}

await test("opencode: the store is busy when a turn of ours begins: its message goes to the model once", () =>
  withEnvironment({ TIDINGS_STORE: join(folder(), "store") }, async () => {
    const agent = await Opencode.create("s");
    await agent.turn();
    let release;
    const busy = async () => (release = await hold());
    await runsTwo(agent, busy, () => release());
    equal(agent.sent.length, 2);
  }));

for (const [host, create] of Object.entries(AGENTS))
  await test(`${host}: the store is busy when a turn ends: what is queued meanwhile is the next turn`, () =>
    withEnvironment({ TIDINGS_STORE: join(folder(), "store") }, async () => {
      const agent = await create("s");
      await agent.turn();
      if (host === "pi") agent.prompt();
      else await agent.event("session.status", { sessionID: "s", status: { type: "busy" } });
      inStore("submit", "Deploy.");
      const release = await hold();
      await (host === "pi" ? agent.fire("agent_settled") : agent.event("session.idle", { sessionID: "s" }));
      await release();
      await until(() => agent.sent.length, "it is sent");
    }));

for (const [what, status] of [
  ["answers an error", async () => ({ error: { name: "Broken" } })],
  ["does not answer", () => Promise.reject(new Error("no status"))],
  ["lets wait for ever", () => new Promise(() => {})],
]) {
  await test(`opencode: a server is gone, and opencode ${what} when it is asked about it: turns go on`, () =>
    withEnvironment({ TIDINGS_STORE: join(folder(), "store") }, async () => {
      const agent = await Opencode.create("s");
      agent.status = async () => ({ data: { db: { status: "failed" } } });
      await agent.event("mcp.tools.changed", { server: "db" });
      await agent.turn();
      matches(agent.prompted, /db/);
      agent.status = status;
      await runsTwo(agent, () => {});
      equal(await agent.turn(), "out");
    }));
}

await test("opencode: a server's connection that is made again is in the next prompt", () =>
  withEnvironment({ TIDINGS_STORE: join(folder(), "store") }, async () => {
    const agent = await Opencode.create("s");
    agent.status = async () => ({ data: { db: { status: "failed" } } });
    await agent.event("mcp.tools.changed", { server: "db" });
    await agent.turn();
    agent.status = async () => ({ data: { db: { status: "connected" } } });
    await agent.turn();
    matches(agent.prompted, /db/);
  }));

await test("opencode: it does not answer when a turn of ours begins after a revert: the next one is sent", () =>
  withEnvironment({ TIDINGS_STORE: join(folder(), "store") }, async () => {
    const agent = await Opencode.create("s");
    await agent.turn();
    await runsTwo(agent, async () => {
      await agent.event("message.removed", { sessionID: "s", messageID: "m" });
      agent.throws = true;
    });
  }));

/** Another process opens the session as its own, and ends. */
function takenOver() {
  const script = `const module = { exports: {} };
    process.dlopen(module, ${JSON.stringify(join(BUILD, "tidings.node"))});
    const kit = module.exports.open({ plugin: ${JSON.stringify(PLUGIN)}, store: ${JSON.stringify(process.env.TIDINGS_STORE)}, hostName: "Other" });
    kit.event(JSON.stringify({ type: "session.resumed", session: "s", data: { deliveries: [], takeover: true } }));
    kit.close();`;
  execFileSync(process.execPath, ["-e", script], { stdio: ["ignore", "inherit", "inherit"] });
}

await test("opencode: it does not answer when a turn of ours begins in a session that was taken over: the turn is sent again", () =>
  withEnvironment({ TIDINGS_STORE: join(folder(), "store") }, async () => {
    const agent = await Opencode.create("s");
    await agent.turn();
    inStore("submit", "Deploy.");
    await until(() => agent.sent.length === 1, "it is sent");
    takenOver();
    openKit("opencode", "/").rang.get("s")();
    matches(logged(), /session s: wake: TIDINGS_E_CLOSED/);
    agent.throws = true;
    const parts = agent.sent[0].body.parts.map((more) => part(more));
    await agent.fire("chat.message", { sessionID: "s" }, { message: { id: "m", role: "user", sessionID: "s" }, parts });
    matches(logged(), /session s: it cannot be taken over: no server/);
    agent.throws = false;
    await agent.turn();
    await until(() => agent.sent.length === 2, "it is sent again");
    equal(agent.sent[1].body.parts[0].text, "Deploy.");
  }));

// -- input from agents ---------------------------------------------------------------------------------------------------------------------------

await test("opencode: hooks with fields that are missing, new or of another kind do not throw", () =>
  withEnvironment({ TIDINGS_STORE: join(folder(), "store") }, async () => {
    const agent = await Opencode.create("s");
    tidings("push", "-S", process.env.TIDINGS_STORE, "-s", "s", "Still there.");
    for (const output of [undefined, null, {}, { output: 7 }, { output: null, content: "text" }, { content: 7 }]) {
      await agent.fire("tool.execute.after", { tool: "write", sessionID: "s", callID: "c", args: { filePath: "a\0b" } }, output);
      await agent.fire("tool.execute.after", { tool: undefined, sessionID: "s", callID: undefined, args: null }, output);
      await agent.fire("tool.execute.after", {}, output);
    }
    const types = ["session.created", "session.status", "session.idle", "session.error", "session.deleted", "message.updated", "message.part.updated", "permission.asked", "no.such"];
    for (const type of types) for (const properties of [undefined, null, {}, { sessionID: 7 }, { info: {}, part: {}, status: {} }]) await agent.event(type, properties);
    for (const messages of [undefined, [], [{}], [{ info: {}, parts: [] }], [{ info: { role: "assistant", sessionID: "s" }, parts: [{ type: "tool", id: "p", state: { status: "error" } }] }]])
      await agent.fire("experimental.chat.messages.transform", {}, { messages });
    for (const parts of [undefined, [], [{}], [{ type: "file" }]]) await agent.fire("chat.message", { sessionID: "s" }, { message: {}, parts });
    for (const name of ["experimental.chat.system.transform", "experimental.session.compacting", "shell.env"]) await agent.fire(name, {}, {});
    for (const id of ["", "x".repeat(300), "a\nb"]) await agent.fire("chat.message", { sessionID: id }, { message: {}, parts: [part()] });
    const output = { output: "out", metadata: undefined };
    await agent.fire("tool.execute.after", { tool: "t".repeat(5000), sessionID: "s", callID: "c".repeat(5000), args: {} }, output);
    equal(output.output, "out");
    await agent.fire("tool.execute.after", { tool: "", sessionID: "s", callID: "", args: {} }, output);
    matches(output.output, /Still there\.[^]*out$/);
  }));

await test("opencode: an event of a tool that comes after the question for its permission does not end the waiting", () =>
  withEnvironment({ TIDINGS_STORE: join(folder(), "store") }, async () => {
    const agent = await Opencode.create("s");
    const state = () => answerOf("status").state;
    const runs = (callID) => agent.event("message.part.updated", { part: part({ type: "tool", tool: "bash", callID, state: { status: "running" } }) });
    await agent.event("session.status", { sessionID: "s", status: { type: "busy" } });
    await runs("one");
    await agent.event("permission.asked", { id: "p1", sessionID: "s" });
    await agent.event("permission.asked", { id: "p2", sessionID: "s" });
    equal(state(), "waiting");
    await runs("two");
    equal(state(), "waiting");
    await agent.event("permission.replied", { requestID: "p1", sessionID: "s" });
    equal(state(), "waiting");
    await agent.event("permission.replied", { requestID: "p2", sessionID: "s" });
    equal(state(), "busy");
    await agent.event("session.idle", { sessionID: "s" });
    equal(state(), "idle");
    await agent.event("permission.asked", { id: "p3", sessionID: "s" });
    await agent.event("session.status", { sessionID: "s", status: { type: "busy" } });
    await runs("three");
    equal(state(), "busy");
    await agent.event("session.idle", { sessionID: "s" });
  }));

await test("opencode: a session whose messages cannot be read is tried again later", () =>
  withEnvironment({ TIDINGS_STORE: join(folder(), "store") }, async () => {
    const agent = await Opencode.create("s");
    agent.id = "elsewhere";
    tidings("push", "-S", process.env.TIDINGS_STORE, "-s", "elsewhere", "--create", "In time.");
    agent.broken = true;
    equal(await agent.turn(), "out");
    matches(logged(), /session elsewhere: its messages cannot be read/);
    agent.throws = true;
    equal(await agent.turn(), "out");
    matches(logged(), /no server/);
    agent.broken = agent.throws = false;
    const { length } = agent.requests;
    const parts = [part()];
    await agent.fire("chat.message", { sessionID: "elsewhere" }, { message: { id: "m" }, parts });
    equal(agent.requests.slice(length), ["get", "messages"]);
    matches(parts[0].text, /In time\./);
  }));

end();
