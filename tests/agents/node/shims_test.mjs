// SPDX-License-Identifier: MIT
//
// shims_test.mjs: tests the parts of the shims that need no host, with an instance that answers from a table.
import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { BUILD, end, equal, folder, matches, test, thrown, until } from "./tap.mjs";

process.env.XDG_STATE_HOME = folder(); // for the log
const { additions, aroundParts, aroundText } = await import("../../../agents/node/compose.ts");
const { fileStamp, sessionPath } = await import("../../../agents/node/paths.ts");
const { Session, Withdrawn } = await import("../../../agents/node/session.ts");
const { addToPrompt, addToResult, editedPaths, heldDeliveries, holds, neutralize } = await import("../../../agents/node/opencode_parts.ts");
const pi = await import("../../../agents/node/pi_transcript.ts");

const message = (role, place, text) => ({ role, place, text });
const PREPENDED = additions([message("carrier", "prepend", "NEWS\n\n")]);
const APPENDED = additions([message("carrier", "append", "\n\nNEWS")]);

// -- compose -----------------------------------------------------------------------------------------------------------------------------

await test("each place of a reply's texts goes to its side of the carrier, in reading order", () => {
  const all = additions([message("developer", "before", "D"), message("carrier", "prepend", "a"), message("carrier", "prepend", "b"), message("block", "prepend", "B"),
    message("carrier", "append", "c"), message("user", "after", "U"), message("tool", "pair", "T")]);
  equal(all, { prepend: "ab", append: "c", before: ["D", "B"], after: ["U", "T"] });
  equal(aroundText("=", all), "D\n\nB\n\nab=c\n\nU\n\nT");
});

await test("a role or place of a later version is refused, so that nothing is lost in a carrier", () => {
  matches(thrown(() => additions([message("17", "prepend", "x")])), /role 17 at prepend is not known/);
  matches(thrown(() => additions([message("carrier", "5", "x")])), /role carrier at 5 is not known/);
  matches(thrown(() => additions([message("carrier", "after", "x")])), /role carrier at after is not known/);
});

await test("in a carrier of parts the first text begins with what is prepended and the last one ends with what is appended", () => {
  const parts = [{ type: "image" }, { type: "text", text: "one" }, { type: "text", text: "two" }, { type: "image" }];
  aroundParts(parts, { ...PREPENDED, append: "!", before: ["first"], after: ["last"] });
  equal(parts.map((part) => part.text ?? part.type), ["first", "image", "NEWS\n\none", "two!", "image", "last"]);
  const none = [{ type: "image" }];
  aroundParts(none, APPENDED);
  equal(none, [{ type: "image" }, { type: "text", text: "\n\nNEWS" }]);
});

// -- paths -------------------------------------------------------------------------------------------------------------------------------

await test("files are named to a session as `tidings watch` names them", () => {
  const root = folder();
  const project = join(root, "project");
  mkdirSync(join(project, "src", "deep"), { recursive: true });
  mkdirSync(join(root, "other"));
  writeFileSync(join(project, "src", "a.c"), "");
  symlinkSync(project, join(root, "link"));
  symlinkSync(join(root, "other"), join(project, "out"));
  symlinkSync("a.c", join(project, "src", "b.c"));
  const files = ["src/a.c", "./src//a.c", "src/../src/a.c", "src/b.c", "../other/x", "src/gone/never.c", "out/x", "/", "/etc/../etc/passwd", ".", "..", "..hidden",
    "src", "ünï/ö", join(project, "src/a.c"), join(root, "link/src/a.c"), join(root, "projects"), `${project}/`];
  for (const cwd of [project, join(root, "link"), `${project}/`, join(project, "src", ".."), root, "/"]) {
    const printed = execFileSync(join(BUILD, "tests", "node-session-path"), [cwd, ...files], { encoding: "utf8" });
    equal(files.map((file) => sessionPath(cwd, file)), printed.trimEnd().split("\n"), cwd);
  }
});

await test("a file is known again as the command knows it: content, link, folder, and what is gone", () => {
  const root = folder();
  mkdirSync(join(root, "d"));
  writeFileSync(join(root, "a.c"), "one");
  symlinkSync("a.c", join(root, "link"));
  const files = ["a.c", "link", "d", "gone.c", "a.c/x"];
  const stamps = () => execFileSync(join(BUILD, "tests", "node-session-path"), ["--stamp", ...files.map((file) => join(root, file))], { encoding: "utf8" }).trimEnd().split("\n");
  const before = stamps();
  equal(files.map((file) => fileStamp(root, file)), before);
  equal(before.slice(3), ["gone", "gone"]);
  writeFileSync(join(root, "a.c"), "another");
  equal(stamps().map((stamp, at) => stamp === before[at]), [false, true, true, true, true]);
});

// -- opencode's parts --------------------------------------------------------------------------------------------------------------------

const ID = "prt_1fc9200d8000tSe1j4BDIRZ0E7";
const part = (more = {}) => ({ id: ID, sessionID: "s", messageID: "m", type: "text", text: "my words", ...more });

await test("news on a prompt is a part of its own that sorts beside the person's, who is left alone", () => {
  for (const [added, index] of [[PREPENDED, 0], [APPENDED, 1]]) {
    const parts = [part()];
    equal(addToPrompt(parts, added, { delivery: "17" }), true);
    const news = parts[index];
    equal([...parts].sort((a, b) => (a.id < b.id ? -1 : 1)).indexOf(news), index);
    equal([news.synthetic, news.text.trim(), news.metadata, news.sessionID, news.messageID], [true, "NEWS", { tidings: { delivery: "17" } }, "s", "m"]);
    matches(news.id, /^prt_[0-9a-f]{12}[0-9A-Za-z]{14}$/);
    equal(parts[1 - index], part());
  }
});

await test("news for which a turn is started is shown to the person: its part is not synthetic", () => {
  const parts = [part()];
  equal(addToPrompt(parts, { ...PREPENDED, append: "END" }, { delivery: "17" }, true), true);
  equal(parts.map(({ text, synthetic }) => [text.trim(), synthetic]), [["NEWS", undefined], ["my words", undefined], ["END", undefined]]);
});

await test("an id of another form sends the news into the person's part; without a part it goes nowhere", () => {
  const parts = [part({ id: "prt_another-form" })];
  equal(addToPrompt(parts, PREPENDED, { delivery: "17" }), true);
  equal(parts, [part({ id: "prt_another-form", text: "NEWS\n\nmy words", metadata: { tidings: { delivery: "17" } } })]);
  equal(addToPrompt([], PREPENDED, { delivery: "17" }), false);
  const mixed = [part(), part({ id: "prt_another-form", type: "file", text: undefined })];
  equal(addToPrompt(mixed, { ...PREPENDED, append: "!" }, { delivery: "17" }), true);
  equal([mixed.length, mixed[0].text], [2, "NEWS\n\nmy words!"]);
});

await test("a delivery without a text marks the prompt, beside what marks it as ours", () => {
  const parts = [part({ metadata: { tidings: { turn: ["m1"] } } })];
  equal(addToPrompt(parts, additions([]), { delivery: "17" }), true);
  equal(parts[0].metadata, { tidings: { turn: ["m1"], delivery: "17" } });
});

await test("results of tools, of MCP servers and of nothing", () => {
  const own = { output: "out", metadata: { exit: 0 } };
  equal([addToResult(own, PREPENDED, { delivery: "17" }), own], [true, { output: "NEWS\n\nout", metadata: { exit: 0, tidings: { delivery: "17" } } }]);
  const mcp = { content: [{ type: "text", text: "out" }] };
  equal([addToResult(mcp, PREPENDED, { delivery: "17" }), mcp.content[0].text], [true, "NEWS\n\nout"]);
  equal(addToResult({ title: "?" }, PREPENDED, { delivery: "17" }), false);
});

await test("a result that was cut is found out", () => {
  equal([holds("NEWS\n\nout", PREPENDED), holds("out, and the rest was cut", APPENDED), holds(undefined, APPENDED)], [true, false, false]);
});

await test("the deliveries that a conversation holds are found in prompts and results", () => {
  const tool = { type: "tool", state: { status: "completed", metadata: { tidings: { delivery: "18" } } } };
  equal(heldDeliveries([{ info: {}, parts: [part(), part({ metadata: { tidings: { delivery: "17" } } })] }, { info: {}, parts: [tool, { type: "step-start" }] }]), ["17", "18"]);
});

await test("which paths a call has changed", () => {
  equal(editedPaths("write", { filePath: "/a" }, undefined), ["/a"]);
  equal(editedPaths("apply_patch", {}, { files: [{ filePath: "/a" }, { filePath: "/b", movePath: "/c" }, {}] }), ["/a", "/b", "/c"]);
  equal(editedPaths("edit", undefined, undefined), []);
  equal(editedPaths("bash", { filePath: "/a" }, {}), []);
});

// -- pi's transcript ---------------------------------------------------------------------------------------------------------------------

await test("the deliveries that a session of pi holds, and the session that a file is", () => {
  const entries = [{ type: "message", message: { role: "user", tidings: { delivery: "17" } } }, { type: "custom_message", details: { tidings: { delivery: "18" } } },
    { type: "custom_message", details: { other: 1 } }, { type: "custom_message" }, { type: "message", message: { role: "user" } }, { type: "compaction" }];
  equal(pi.heldDeliveries(entries), ["17", "18"]);
  const file = join(folder(), "session.jsonl");
  writeFileSync(file, '{"type":"session","id":"abc"}\n{"type":"message"}\n');
  equal(pi.forkedFrom(file), "abc");
  writeFileSync(file, "not JSON");
  equal([pi.forkedFrom(file), pi.forkedFrom("/nowhere")], [undefined, undefined]);
});

// -- a session ---------------------------------------------------------------------------------------------------------------------------

const EMPTY = { delivery: null, notifications: [], messages: [], actions: [], steered: [], status: null, duplicate: false, wake_at: null };

/** Returns an instance that gives these `answers` (a reply, or the code of an error), and keeps the questions. */
function stage(answers, driver = {}) {
  const calls = [];
  const answer = (what, ...details) => {
    calls.push([what, ...details]);
    const given = answers[what];
    if (typeof given === "string") throw Object.assign(new Error("no"), { code: given });
    return given && JSON.stringify({ ...EMPTY, ...given });
  };
  const instance = {
    event: (text) => {
      const { type, data } = JSON.parse(text);
      return answer(type, data);
    },
    report: (text) => instance.event(text),
    toolResult: (_session, call, tool) => answer("toolResult", call, tool),
    chatRequest: (_session, source, ids) => answer("chatRequest", source, ids),
    settle: (id, outcome) => answer("settle", id, outcome),
    harmless: (_session, text) => (text.includes("<") ? JSON.stringify({ text: text.replaceAll("<", "&lt;") }) : undefined),
  };
  const kit = { instance, hostName: "Test", rang: new Map(), stamps: new Map(), calledBy: undefined, stopPolling() {} };
  const session = new Session(kit, "s", { start: () => "started", abort() {}, stop() {}, ...driver });
  return { session, calls, kit };
}

const START = { type: "start_turn", source: "system", messages: [{ id: "tidings:1", content: "One." }, { id: "m2", content: "Two." }] };

await test("an offer is handed to the host as one text; one that it does not take is declined", () => {
  const turns = [];
  const taken = stage({ wake: { actions: [START] } }, { start: (turn) => (turns.push(turn), "started") });
  taken.session.wake();
  equal([turns, taken.calls], [[{ source: "system", ids: ["tidings:1", "m2"], text: "One.\n\nTwo." }], [["wake", undefined]]]);
  const declined = stage({ wake: { actions: [{ type: "dance" }, START] } }, { start: () => "never" });
  declined.session.wake();
  equal(declined.calls.at(-1), ["turn.declined", { messages: ["tidings:1", "m2"] }]);
  const broken = stage({ wake: { actions: [START] } }, { start: () => thrown.nothing() });
  broken.session.wake();
  equal(broken.calls.at(-1), ["turn.declined", { messages: ["tidings:1", "m2"] }]);
});

await test("a stream and a turn that are to end are ended by the host", () => {
  const ended = [];
  const { session } = stage({ wake: { actions: [{ type: "stop_turn", cause: "requested" }, { type: "abort_stream", cause: "critical" }] } }, { abort: () => ended.push("abort"), stop: () => ended.push("stop") });
  session.wake();
  equal(ended, ["stop", "abort"]);
  const broken = stage({ wake: { actions: [{ type: "stop_turn" }] } }, { stop: () => thrown.nothing() });
  equal(broken.session.wake(), undefined);
});

await test("a turn that is no longer offered must not be sent; another failure does not stop it", () => {
  const turn = { source: "user", ids: ["m1"], text: "Go." };
  for (const code of ["TIDINGS_E_FIRED", "TIDINGS_E_NOT_FOUND", "TIDINGS_E_STATE"]) {
    try {
      stage({ chatRequest: code }).session.startTurn(turn);
      throw new Error("it may be sent");
    } catch (error) {
      if (!(error instanceof Withdrawn)) throw error;
    }
  }
  equal(stage({ chatRequest: "TIDINGS_E_BUSY" }).session.startTurn(turn), undefined);
});

await test("a delivery with a message that is not known here is rolled back", () => {
  const { session, calls } = stage({ toolResult: { delivery: "17", messages: [message("17", "prepend", "x")] } });
  equal(session.toolResult("c", "t"), undefined);
  equal(calls.at(-1), ["settle", "17", "rolled_back"]);
});

await test("a shell's call is named from its start to its end, another tool's only begins a phase", () => {
  const { session, calls } = stage({});
  session.callRuns("bash", "c0");
  session.turnStarted();
  for (const [tool, call] of [["bash", "c1"], ["bash", "c1"], ["read", "c2"]]) session.callRuns(tool, call);
  for (const call of ["c2", "c1", "c1"]) session.callEnded(call);
  session.callRuns("read", "c3");
  equal(calls, [["turn.started", undefined], ["tools.started", { tool: "bash", call_id: "c1" }], ["tools.finished", { call_id: "c1" }], ["tools.started", undefined]]);
});

await test("no failure of tidings reaches the host", () => {
  const { session } = stage({ toolResult: "TIDINGS_E_STORE", chatRequest: "TIDINGS_E_BUSY", "turn.started": "TIDINGS_E_FULL", settle: "TIDINGS_E_STATE" });
  equal([session.toolResult("c", "t"), session.prompt(), session.turnStarted(), session.settle("1", true)], [undefined, undefined, undefined, undefined]);
});

await test("a turn's end that the store cannot take is reported again until it is taken; what it asks for is done", async () => {
  const turns = [];
  const answers = { "turn.finished": "TIDINGS_E_BUSY", "stream.started": {} };
  const { session, calls } = stage(answers, { start: (turn) => (turns.push(turn.text), "started") });
  session.turnStarted();
  session.turnEnded("finished");
  await until(() => calls.length >= 3, "it is tried again");
  answers["turn.finished"] = { actions: [START] };
  await until(() => turns.length, "it is taken");
  const { length } = calls;
  session.wake();
  equal([calls.slice(1, length).every(([what]) => what === "turn.finished"), calls.slice(length), turns], [true, [["wake", undefined]], ["One.\n\nTwo."]]);
});

await test("of turns that the store cannot take only the last event is reported later, but a start that names messages, too", () => {
  const reported = (begin) => {
    const answers = Object.fromEntries(["turn.started", "turn.waiting", "turn.retrying", "turn.finished", "turn.aborted"].map((type) => [type, "TIDINGS_E_BUSY"]));
    const { session, calls } = stage(answers);
    begin(session);
    session.enters("streaming"); // not before its turn
    for (const type of Object.keys(answers)) delete answers[type];
    const { length } = calls;
    session.wake();
    session.leave();
    return calls.slice(length);
  };
  const turn = { source: "user", ids: ["m1"], text: "Go." };
  equal(reported((session) => (session.turnStarted(), session.turnEnded("finished"), session.turnStarted(), session.turnEnded("aborted"))), [["turn.aborted", undefined], ["wake", undefined]]);
  equal(reported((session) => (session.turnStarted(turn), session.turnEnded("finished"), session.turnStarted())), [["turn.started", { messages: ["m1"] }], ["turn.started", undefined], ["wake", undefined]]);
  const held = (session) => (session.turnStarted(), session.holds("turn.waiting", { kind: "approval" }), session.retries(2, "slow"));
  equal(reported(held), [["turn.started", undefined], ["turn.retrying", { attempt: 2, message: "slow" }], ["wake", undefined]]);
});

await test("an end that the store could not take is not reported of a session that was resumed, closed or lost", () => {
  for (const passes of [(session) => session.resumed("/", []), (session) => session.closed()]) {
    const { session, calls } = stage({ "turn.finished": "TIDINGS_E_BUSY" });
    session.turnStarted();
    session.turnEnded("finished");
    passes(session);
    session.wake();
    equal(calls.filter(([what]) => what === "turn.finished").length, 1);
  }
  const { session, calls } = stage({ "turn.finished": "TIDINGS_E_CLOSED" });
  session.turnStarted();
  session.turnEnded("finished");
  session.wake();
  equal(calls.map(([what]) => what), ["turn.started", "turn.finished", "wake"]);
});

await test("a session that is open elsewhere, or was taken over, is lost, until a person prompts here", () => {
  const elsewhere = stage({ "session.resumed": "TIDINGS_E_OWNED" });
  elsewhere.session.resumed("/", []);
  equal(elsewhere.session.lost, true);
  const busy = stage({ "session.resumed": "TIDINGS_E_BUSY" });
  busy.session.resumed("/", []);
  equal(busy.session.lost, false);
  const taken = stage({ toolResult: "TIDINGS_E_CLOSED" });
  taken.session.toolResult("c", "t");
  equal(taken.session.lost, true);
  taken.session.resumed("/", ["1"], true);
  equal([taken.session.lost, taken.calls.at(-1)[1].takeover], [false, true]);
});

await test("of the deliveries that a transcript holds the newest are named", () => {
  const { session, calls } = stage({});
  session.resumed("/", Array.from({ length: 5000 }, (_, number) => String(number + 1)));
  const { deliveries } = calls[0][1];
  equal([deliveries.length <= 1000, deliveries.at(-1)], [true, "5000"]);
});

await test("phases are told once, and only while a turn runs", () => {
  const { session, calls } = stage({});
  session.enters("streaming");
  session.turnEnded("finished");
  session.turnStarted();
  for (const phase of ["streaming", "streaming", "tools", "tools", "streaming"]) session.enters(phase);
  session.holds("turn.waiting", { kind: "approval" });
  session.enters("streaming");
  session.turnEnded("failed", "no money");
  session.turnEnded("finished");
  equal(calls.map(([what]) => what), ["turn.started", "stream.started", "tools.started", "stream.started", "turn.waiting", "stream.started", "turn.failed"]);
  equal(calls.at(-1)[1], { message: "no money" });
});

await test("a reply's time to wake is kept, and a ring wakes", async () => {
  const { session, calls, kit } = stage({ "turn.started": { wake_at: Date.now() + 20 } });
  session.turnStarted();
  await until(() => calls.length === 2, "the time has come");
  equal(calls[1][0], "wake");
  kit.rang.get("s")();
  equal(calls.length, 3);
  session.leave();
  equal(kit.rang.size, 0);
});

await test("a time to wake that is years away is looked at each minute, since the clock may be set; no timer runs over", () => {
  const { setTimeout } = globalThis;
  const now = Date.now.bind(Date);
  const delays = [];
  let ahead = 0;
  let look;
  try {
    globalThis.setTimeout = (call, delay) => {
      delays.push(delay);
      look = call;
      return {};
    };
    Date.now = () => now() + ahead;
    const answers = { wake: { wake_at: now() + 2 ** 40 } };
    const { session, calls } = stage(answers);
    session.wake();
    answers.wake = {};
    for (const passed of [60_000, 120_000]) {
      ahead = passed;
      look();
      equal(calls.length, 1);
    }
    ahead = 2 ** 40; // as if the machine had slept for that long
    look();
    equal(calls.length, 2);
  } finally {
    Object.assign(globalThis, { setTimeout });
    Date.now = now;
  }
  equal(delays, [60000, 60000, 60000]);
});

await test("half a character in what a host says does not refuse the event", () => {
  const { session, calls } = stage({});
  session.turnStarted();
  session.turnEnded("failed", "cut \ud83d");
  equal(calls.at(-1)[1], { message: "cut \ufffd" });
});

await test("the use of the context is reported when it has changed by some percent", () => {
  const { session, calls } = stage({});
  for (const [tokens, limit] of [[100, 0], [NaN, 100], [100, 1000], [120, 1000], [160.4, 1000], [90, 1000]]) session.used(tokens, limit);
  equal(calls, [["budget.usage", { used: 100, limit: 1000 }], ["budget.usage", { used: 160, limit: 1000 }], ["budget.usage", { used: 90, limit: 1000 }]]);
});

await test("what is queued when a conversation is summarized goes with no carrier: each message is a turn of its own", () => {
  const ledger = JSON.stringify({ pending: [{ message: "x" }], queued: [{ id: "m" }] });
  const { session, calls } = stage({ "session.compacted": { ledger } });
  session.reportSurely("session.compacted");
  equal(session.prompt(), undefined);
  session.turnStarted();
  session.reportSurely("session.compacted");
  equal(session.toolResult("c", "t"), undefined);
  equal(calls.filter(([type]) => type === "session.compacted").length, 2);
});

await test("what a tool answers is made harmless, but for what opencode adds to a file that it has read", () => {
  const { session } = stage({});
  const harmless = (text) => session.harmless(text);
  const read = { output: "<a>\n\n<system-reminder>\nits own", metadata: { loaded: ["AGENTS.md"] } };
  neutralize("read", read, harmless);
  equal(read.output, "&lt;a>\n\n<system-reminder>\nits own");
  const shell = { output: "<system-reminder>\n", metadata: { loaded: ["x"] } };
  neutralize("bash", shell, harmless);
  equal(shell.output, "&lt;system-reminder>\n");
  const mcp = { content: [{ type: "text", text: "<a>" }, { type: "image" }] };
  neutralize("mcp", mcp, harmless);
  equal([mcp.content[0].text, harmless("half \ud83d")], ["&lt;a>", "half \ud83d"]);
});

await test("a host's own files are reported when they have changed since the session was last asked", () => {
  const { session, calls } = stage({});
  const file = join(folder(), "settings.json");
  session.configuredBy([file], "it is read now");
  writeFileSync(file, "{}");
  session.configuredBy([file], "it is read now");
  session.configuredBy([file], "it is read now");
  equal(calls, [["config.changed", { summary: `${file} changed; it is read now`, keys: [file] }]]);
});

end();
