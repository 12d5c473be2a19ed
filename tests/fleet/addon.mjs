// SPDX-License-Identifier: MIT
//
// addon.mjs ADDON PLUGIN URL: uses a store in a database through the Node addon. Prints "shown", "settled", "swapped", "closed", and the error for a
// wrong URL.
import process from "node:process";

const [addon, plugin, store] = process.argv.slice(2);
const module = { exports: {} };
process.dlopen(module, addon);

function check(good, what) {
  if (!good) throw new Error(what);
  console.log(what);
}

const tidings = module.exports.open({ plugin, store, hostName: "node", hookBudgetMs: 60000 });
tidings.event(JSON.stringify({ type: "session.opened", session: "node", data: { host: "node" } }));
tidings.push({ session: "node", kind: "ci.failed", message: "pushed by the addon", id: "1", source: "ci" });
check(JSON.parse(tidings.push({ session: "node", kind: "ci.failed", message: "again", id: "1", source: "ci" })).duplicate, "duplicate");
const reply = JSON.parse(tidings.toolResult("node", "c1", "shell"));
check(JSON.stringify(reply.messages).includes("pushed by the addon"), "shown");
tidings.settle(reply.delivery, "committed");
check(JSON.parse(tidings.query('{"name": "stats", "session": "node"}')).outcomes.delivered === 1, "settled");
tidings.swap();
check(tidings.toolResult("node", "c2", "shell") === undefined, "swapped");
tidings.close();
console.log("closed");
try {
  module.exports.open({ plugin, store: store.replace("fleet@", "fleet:hunter2@").replace(/schema=\w+/, "schema=absent") });
} catch (error) {
  check(error.code.startsWith("TIDINGS_E_") && !error.message.includes("hunter2"), "refused");
}
