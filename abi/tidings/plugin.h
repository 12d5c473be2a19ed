/* SPDX-License-Identifier: MIT
 *
 * tidings/plugin.h: an open instance: the three hooks at the host's delivery points, settling, and
 * the way out.
 *
 * A delivery has two phases. A hook leases what is pending, durably, and hands it out in a reply
 * with a delivery id. The host puts it on the carrier, writes the carrier to its transcript, then
 * settles: COMMITTED, or ROLLED_BACK, and all of it is pending again. The promise: a push that
 * returned OK survives the death of any process and a power cut. What settle has returned OK for is
 * not delivered again. A delivery that was never settled is delivered again, unless the host names
 * it on resuming. So: exactly once for hosts that keep the delivery id with the carrier, at least
 * once for the others.
 *
 * Threads: every function but quiesce and close may be called from any thread, on one session too;
 * decisions for one session are serialized. After fork, the child's calls answer TIDINGS_E_CLOSED.
 * Ownership: inputs are borrowed until the call returns. A reply belongs to the plugin until
 * `release`. Nothing else crosses. Cost: when nothing is pending and nothing changes, a hook
 * returns 0 with a NULL reply, without a system call or an allocation.
 */
#ifndef TIDINGS_PLUGIN_H
#define TIDINGS_PLUGIN_H

#include <tidings/abi.h>
#include <tidings/reply.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A session is named by 1 to 255 bytes of UTF-8 without control characters. It is a key, never a
 * path. A session never heard of reads as empty and idle. */

/* The carrier of on_tool_result. Since 1.0. */
struct tidings_tool_result {
  uint32_t size;
  uint32_t flags;              /* none defined: 0 */
  struct tidings_span session; /* required */
  struct tidings_span call_id; /* the model's id of the call; may be empty; at most 4,096 bytes */
  struct tidings_span tool;    /* the tool's name; may be empty; at most 4,096 bytes */
  struct tidings_span content; /* what the tool said; may be empty. Not stored */
};

/* Where a chat request comes from. */
#define TIDINGS_ORIGIN_USER 0u   /* a message typed or triggered */
#define TIDINGS_ORIGIN_SYSTEM 1u /* a turn that tidings asked for by a start_turn action */

/* The carrier of on_chat_request. Since 1.0. */
struct tidings_chat_request {
  uint32_t size;
  uint32_t flags;              /* none defined: 0 */
  struct tidings_span session; /* required */
  uint32_t origin;             /* TIDINGS_ORIGIN_* */
  uint32_t reserved;           /* 0 */
  struct tidings_span content; /* what the host is about to send; may be empty. Not stored */
  /* The ids of the offered messages that this request sends, each once: `message_count` pointers;
   * NULL when it is the host's own request. Such a request must not be sent when the hook answers
   * FIRED, NOT_FOUND or STATE. */
  const struct tidings_span *const *messages;
  size_t message_count;
};

#define TIDINGS_COMMITTED 1u   /* the carrier is in the host's transcript */
#define TIDINGS_ROLLED_BACK 2u /* it is not and will not be */

/* How a delivery ended. Since 1.0. */
struct tidings_settlement {
  uint32_t size;
  uint32_t outcome;     /* TIDINGS_COMMITTED or TIDINGS_ROLLED_BACK */
  uint64_t delivery_id; /* from the reply */
};

/* An instance. The struct belongs to the plugin and lives from open to close; `size` says which
 * functions are there. Since 1.0. */
struct tidings_plugin {
  uint32_t size;
  uint32_t flags; /* none defined */

  /* Delivery point: the host is about to send a tool's result to the model. Call it once per
   * result, in the order in which they go out: the first result of a batch carries what is pending,
   * what arrives later rides on a later one. A carrier that was sent is never rewritten. Attaches
   * this host to the session if nobody alive owns it. On success *ret_reply is the reply, or NULL
   * when there is nothing to say. Errors: INVAL, TOO_BIG (the session's or the call's id, the
   * tool's name), UNSUPPORTED (role producer), BUSY (the writer lock, or the session is owned by
   * another live process, whose pid the text names), STORE, NOMEM, CLOSED. On any of them: send the
   * result unchanged. */
  int32_t (*on_tool_result)(struct tidings_plugin *plugin, const struct tidings_tool_result *result,
                            const struct tidings_reply **ret_reply, struct tidings_error *error);

  /* Delivery point: the host is about to send a chat request. As on_tool_result; a request that
   * names messages always gets a reply with a delivery id, and its messages belong to that
   * delivery: rolled back, they are queued again in their old place. More errors: FIRED, NOT_FOUND,
   * STATE for a request that names messages: do not send it. */
  int32_t (*on_chat_request)(struct tidings_plugin *plugin,
                             const struct tidings_chat_request *request,
                             const struct tidings_reply **ret_reply, struct tidings_error *error);

  /* One CloudEvents 1.0 object as JSON (schema/event.schema.json): news, messages, turns, the
   * session's life. When it returns 0 for a notification or a submitted message, that is stored for
   * good. A notification that needs no action gets a NULL reply; message, turn, stream, tools and
   * session events always get one. Its actions are for the host that is attached to the session:
   * whoever else sends the event gets the status alone, and that host is woken (wake.h). An event
   * of a turn, and a host's message event for a session that nobody alive owns, attaches this host
   * as a hook call does. An event whose `source` and `id` were seen before in its session within
   * the window (24 h) has no effect and gets a reply with TIDINGS_REPLY_DUPLICATE; so pushing again
   * after a failure is safe, given an id. Errors: INVAL (not JSON), SCHEMA, TOO_BIG, UNSUPPORTED
   * (unknown type), NOT_FOUND, FIRED, STATE, BUSY, FULL, STORE, NOMEM, CLOSED. */
  int32_t (*on_event)(struct tidings_plugin *plugin, const struct tidings_span *event,
                      const struct tidings_reply **ret_reply, struct tidings_error *error);

  /* Ends a delivery. Call it after the carrier was written whole, from any thread. Doing it twice
   * is harmless. ret_reply may be NULL; if it is not, *ret_reply is a reply to act upon, or NULL
   * when there is nothing to do: a rollback may bring back a message that is next, or something
   * critical. With ret_reply NULL that is told in the reply to the next event. Errors: INVAL,
   * NOT_FOUND (no such delivery), STATE (it ended the other way before: for COMMITTED after a
   * recovery this means that it will be delivered again), BUSY (remembered, and applied at the next
   * call of any function of this instance), STORE (what was leased stays leased; settle again),
   * CLOSED (another host owns the session now, or it was closed), UNSUPPORTED (role producer),
   * NOMEM. */
  int32_t (*settle)(struct tidings_plugin *plugin, const struct tidings_settlement *settlement,
                    const struct tidings_reply **ret_reply, struct tidings_error *error);

  /* Gives a reply back. Every pointer into it is dead afterwards. Any thread; NULL is allowed;
   * cannot fail. */
  void (*release)(struct tidings_plugin *plugin, const struct tidings_reply *reply);

  /* Stops admitting calls, so that the instance can be closed. Not concurrently with itself or
   * close. Answers BUSY, changing nothing, while calls are under way, replies are out (the text
   * says how many of which), or a settle is remembered that cannot be applied yet. After success
   * only release and close may be called; anything else answers CLOSED. Calling it again is
   * harmless. */
  int32_t (*quiesce)(struct tidings_plugin *plugin, struct tidings_error *error);

  /* Quiesces if that was not done, closes the store and frees the instance: the pointer is dead
   * afterwards, and the image may be unloaded. Answers BUSY as quiesce does, and then the instance
   * is as it was. Leases and ownership belong to the process, not to the image, and outlive
   * close. */
  int32_t (*close)(struct tidings_plugin *plugin, struct tidings_error *error);
};

#ifdef __cplusplus
}
#endif

#endif
