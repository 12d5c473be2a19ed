// SPDX-License-Identifier: MIT
// A whole host in JavaScript, for Node and Bun: a notification is pushed, delivered with a tool's result, and settled; then the host sleeps until another
// process wakes it with a notification. node host.mjs [TIDINGS.SO STORE]
import { open, unchanged } from "tidings";

const [plugin, store] = process.argv.slice(2);
const kit = open({ plugin, store, hostName: "Example" });

/** On an error a host sends the result unchanged. */
function carry(content) {
  try {
    return kit.toolResult({ session: "s", callId: "c1", tool: "ls", content });
  } catch (error) {
    console.error(error.message);
    return unchanged(content);
  }
}

/** An agent sends each part as the message or block of its voice; here all go to standard output. */
function showResult(content) {
  const { outgoing, reply } = carry(content);
  const text = outgoing.map((part) => part.text).join("");
  process.stdout.write(text, (error) => kit.settle(reply.deliveryId, error ? "rolled_back" : "committed")); // to the model, and into the transcript
}

kit.event({ type: "session.opened", session: "s", data: { cwd: process.cwd(), host: "example" } });
kit.push({ session: "s", kind: "tool.failed", level: "error", message: "The build failed." });
showResult("a.c\n");

process.stdout.write("waiting\n");
for await (const { session, reply } of kit.wakes()) {
  for (const action of reply.actions) console.log(`session ${session}: ${action.type}: ${action.messages[0]?.content}`);
  if (reply.actions.length > 0) break;
}
kit.close();
