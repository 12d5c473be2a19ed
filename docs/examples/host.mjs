// SPDX-License-Identifier: MIT
// A whole host in JavaScript, for Node from 20 on: a notification is pushed, delivered with a tool's result, and settled; then the host sleeps until
// another process wakes it with a notification. node host.mjs TIDINGS.NODE TIDINGS.SO STORE
import { Socket } from "node:net";

const [addon, plugin, store] = process.argv.slice(2);
const module = { exports: {} };
process.dlopen(module, addon);
const tidings = module.exports.open({ plugin, store, hostName: "Example" });
const event = (type, session, data) => JSON.parse(tidings.event(JSON.stringify({ type, session, data })) ?? "null");

function showResult(result) {
  const json = tidings.toolResult("s", "c1", "ls"); // undefined, without any cost to speak of, when nothing is pending
  if (json === undefined) return process.stdout.write(result);
  const reply = JSON.parse(json);
  const at = (place) => reply.messages.filter((message) => message.place === place).map((message) => message.text).join("");
  process.stdout.write(at("prepend") + result + at("append")); // to the model, and into the transcript with reply.delivery
  if (reply.delivery) tidings.settle(reply.delivery, "committed");
}

event("session.opened", "s", { cwd: process.cwd(), host: "example" });
tidings.push({ session: "s", kind: "tool.failed", level: "error", message: "The build failed." });
try {
  showResult("a.c\n");
} catch (error) {
  process.stdout.write("a.c\n"); // a host sends the result as it is
}

const socket = new Socket({ fd: tidings.wakeDescriptor(), readable: true, writable: false }); // first the descriptor, then ask which sessions rang
while (tidings.nextSession() !== undefined);
console.log("waiting");
socket.on("data", () => {
  for (let session = tidings.nextSession(); session !== undefined; session = tidings.nextSession()) {
    for (const action of JSON.parse(tidings.wake(session)).actions) console.log(`session ${session}: ${action.type}: ${action.messages[0].content}`);
  }
  socket.destroy();
  tidings.close();
});
