// SPDX-License-Identifier: MIT
//
// The host through which hostsim plays its scenarios (docs/scenarios.md): each request of hostsim becomes a call of the package, and the typed reply
// goes back as JSON. It ends when hostsim closes descriptor 3.
import { readSync, writeSync } from "node:fs";
import { open } from "tidings";

let kit;

const shown = (reply) => ({
  delivery: reply.deliveryId,
  notifications: reply.notifications.map(({ source, name, level, text, data, count }) => ({
    kind: { source, name }, level, message: text, data, count: count > 1 ? count : undefined,
  })),
  messages: reply.parts.map(({ voice, place, text, callId, tool }) => ({ role: voice, place, text, call_id: callId, tool })),
  actions: reply.actions.map(({ type, cause, origin, messages }) => ({
    type, cause, source: origin,
    messages: type === "start_turn" ? messages.map(({ id, content, queuedAtMs, trigger }) => ({ id, content, queued_at: queuedAtMs, trigger })) : undefined,
  })),
  steered: reply.steered,
  status: reply.status && {
    state: reply.status.state, phase: reply.status.phase, messages: reply.status.messages, started_at: reply.status.startedAtMs,
    attempt: reply.status.attempt, message: reply.status.detail, orphaned: reply.status.orphaned,
  },
  duplicate: reply.duplicate,
  wake_at: reply.wakeAtMs,
  ledger: reply.ledger,
});
const carried = ({ reply, content }) => ({ reply: shown(reply), content });

const operations = {
  open: ({ plugin, store, host_name, config, role }) => {
    kit = open({ plugin, store, hostName: host_name, configuration: config && JSON.parse(config), role });
    return {};
  },
  event: ({ event }) => ({ reply: shown(kit.event(event)) }),
  tool_result: ({ session, call_id, tool, content, room }) => carried(kit.toolResult({ session, callId: call_id, tool, content, room })),
  chat_request: ({ session, source, content, messages, room }) => carried(kit.chatRequest({ session, origin: source, content, messages, room })),
  settle: ({ delivery, outcome }) => ({ reply: shown(kit.settle(delivery, outcome)) }),
  query: ({ query }) => ({ answer: kit.query(JSON.parse(query)) }),
  swap: () => {
    kit.swap();
    return {};
  },
  close: () => {
    kit?.close();
    return {};
  },
};

function answer(request) {
  try {
    return operations[request.op](request);
  } catch (error) {
    if (!error.code?.startsWith("TIDINGS_E_")) throw error;
    return { error: { code: error.code, text: error.message }, content: request.content ?? "" };
  }
}

// Fills the buffer from the descriptor. False: hostsim has closed it.
function fill(buffer) {
  for (let at = 0, count; at < buffer.length; at += count) {
    count = readSync(3, buffer, at, buffer.length - at, null);
    if (count === 0) return false;
  }
  return true;
}

// Requests are handled one after the other; Bun has no Socket for a descriptor.
const header = Buffer.alloc(4);
for (let op; op !== "close" && fill(header);) {
  const bytes = Buffer.alloc(header.readUInt32BE(0));
  if (!fill(bytes)) break;
  const request = JSON.parse(bytes.toString());
  const text = Buffer.from(JSON.stringify(answer(request)));
  const reply = Buffer.alloc(4 + text.length);
  reply.writeUInt32BE(text.length);
  text.copy(reply, 4);
  for (let at = 0; at < reply.length;) at += writeSync(3, reply, at);
  op = request.op;
}
process.exit(0);
