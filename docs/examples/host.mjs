// SPDX-License-Identifier: MIT
// A whole host in JavaScript, for Node from 20 on: a notification is pushed, delivered with a tool's result, and settled; then the host sleeps until
// another process wakes it with a notification. node host.mjs TIDINGS.NODE TIDINGS.SO STORE
import { Socket } from "node:net";

const [addon, plugin, store] = process.argv.slice(2);
const module = { exports: {} };
process.dlopen(module, addon);
const tidings = module.exports.open({ plugin, store, hostName: "Example" });
const event = (type, session, data) => JSON.parse(tidings.event(JSON.stringify({ type, session, data })) ?? "null");

// What is pending for the tool's result. undefined: nothing, which costs next to nothing; or an error, after which a host sends the result unchanged.
function pending() {
  try {
    const json = tidings.toolResult("s", "c1", "ls");
    return json === undefined ? undefined : JSON.parse(json);
  } catch (error) {
    console.error(error.message);
    return undefined;
  }
}

// This host can put texts before and after the result. Every message that it cannot place would be lost, so then it places none.
const canPlace = ({ role, place }) => role === "carrier" && (place === "prepend" || place === "append");

function showResult(result) {
  const reply = pending();
  const messages = reply?.messages ?? [];
  const placed = messages.every(canPlace);
  const at = (place) => (placed ? messages.filter((message) => message.place === place).map((message) => message.text).join("") : "");
  process.stdout.write(at("prepend") + result + at("append")); // to the model, and into the transcript with reply.delivery
  if (reply?.delivery) tidings.settle(reply.delivery, placed ? "committed" : "rolled_back");
}

event("session.opened", "s", { cwd: process.cwd(), host: "example" });
tidings.push({ session: "s", kind: "tool.failed", level: "error", message: "The build failed." });
showResult("a.c\n");

const socket = new Socket({ fd: tidings.wakeDescriptor(), readable: true, writable: false }); // first the descriptor, then ask which sessions rang
while (tidings.nextSession() !== undefined);
console.log("waiting");
let ended = false;
function look(session) { // whether there was something to do; a session may ring before there is, and its reply says when to look again
  const reply = JSON.parse(tidings.wake(session));
  for (const action of reply.actions) console.log(`session ${session}: ${action.type}: ${action.messages[0].content}`);
  if (!reply.actions.length && reply.wake_at) setTimeout(() => ended || (look(session) && end()), reply.wake_at - Date.now());
  return reply.actions.length > 0;
}
function end() {
  ended = true;
  socket.destroy();
  tidings.close();
}
socket.on("data", () => {
  let done = false;
  for (let session = tidings.nextSession(); session !== undefined; session = tidings.nextSession()) done = look(session) || done;
  if (done) end();
});
