// SPDX-License-Identifier: MIT
//
// reply.mjs: converts the JSON form of a reply (schema/reply.schema.json) to the names of index.d.ts.

/** The reply of a call without notifications, parts or actions. */
export const NO_REPLY = Object.freeze({
  deliveryId: null, notifications: [], parts: [], actions: [], steered: [], status: null, duplicate: false, wakeAtMs: null, ledger: undefined,
});

const notification = ({ kind, level, message, data, count }) => ({ source: kind.source, name: kind.name, level, text: message, data, count: count ?? 1 });
const part = ({ role, place, text, call_id, tool }) => ({ voice: role, place, text, callId: call_id, tool });
const message = ({ id, content, queued_at, trigger }) => ({ id, content, queuedAtMs: queued_at, trigger });
const action = ({ type, cause, source, messages = [] }) => ({ type, cause, origin: source, messages: messages.map(message) });

function status(value) {
  if (value === null) return null;
  const { state, phase, messages, started_at, attempt, message: detail, orphaned } = value;
  return { state, phase, messages, startedAtMs: started_at, attempt, detail, orphaned };
}

export function toReply(value) {
  return {
    deliveryId: value.delivery,
    notifications: value.notifications.map(notification),
    parts: value.messages.map(part),
    actions: value.actions.map(action),
    steered: value.steered,
    status: status(value.status),
    duplicate: value.duplicate,
    wakeAtMs: value.wake_at,
    ledger: value.ledger,
  };
}
