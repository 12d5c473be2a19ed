// SPDX-License-Identifier: MIT
//
// The host that hostsim plays its scenarios through (docs/scenarios.md): each request of hostsim becomes a call of the package, and the typed reply goes
// back as JSON. It ends when hostsim closes descriptor 3.
import { Socket } from "node:net";
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

const channel = new Socket({ fd: 3, readable: true, writable: true });
let bytes = Buffer.alloc(0);
channel.on("data", (more) => {
  bytes = Buffer.concat([bytes, more]);
  while (bytes.length >= 4 && bytes.length >= 4 + bytes.readUInt32BE(0)) {
    const end = 4 + bytes.readUInt32BE(0);
    const request = JSON.parse(bytes.subarray(4, end).toString());
    bytes = bytes.subarray(end);
    const text = Buffer.from(JSON.stringify(answer(request)));
    const header = Buffer.alloc(4);
    header.writeUInt32BE(text.length);
    channel.write(Buffer.concat([header, text]), () => request.op === "close" && process.exit(0));
  }
});
channel.on("end", () => process.exit(0));
