/* SPDX-License-Identifier: MIT
 *
 * tidings/plugin.h: an open instance: the hooks for the host's delivery points, events, settling,
 * and closing.
 *
 * A delivery has two phases. A hook leases what is pending, durably, and hands it out in a reply
 * with a delivery id. The host adds it to the carrier, writes the carrier to its transcript, and
 * then settles the delivery: with TIDINGS_OUTCOME_COMMITTED, or with TIDINGS_OUTCOME_ROLLED_BACK,
 * after which everything is pending again.
 *
 * The promise: A push that returned OK survives the death of any process and a power cut. What was
 * settled as committed is not delivered again, unless the transcript is rewound to before it. A
 * delivery that was never settled is delivered again, unless the host names it on resuming. So:
 * exactly once for hosts that keep the delivery id with the carrier, at least once for the others.
 *
 * Ownership. Inputs are borrowed until the call returns. A reply belongs to the plugin until the
 * host releases it. Nothing else crosses the boundary, and neither side frees the other's memory.
 *
 * Cost. When nothing is pending and nothing changes, a hook returns 0 with a NULL reply, without a
 * system call or an allocation; with a store in a database, after one round trip.
 */
#ifndef TIDINGS_PLUGIN_H
#define TIDINGS_PLUGIN_H

#include <tidings/abi.h>
#include <tidings/reply.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A session's id is 1 to 255 bytes of UTF-8 without control characters. It is a key, never a path.
 * A session that was never used is empty and idle. */

/* The carrier of on_tool_result. Since 1.0. */
struct tidings_tool_result {
  uint32_t size;
  uint32_t flags;              /* none is defined: 0 */
  struct tidings_span session; /* required */
  struct tidings_span call_id; /* the model's id of the call; may be empty; at most 4,096 bytes */
  struct tidings_span tool;    /* the tool's name; may be empty; at most 4,096 bytes */
  struct tidings_span content; /* the tool's output; may be empty; not stored */
  /* How many bytes of UTF-8 the texts of all parts of the reply may have together, the separators
   * in them included; 0: no bound. `content` does not count. A notification without room stays
   * pending for a later carrier. A room in which not even one notification fits is no error. The
   * configuration's delivery.max_bytes is a bound too: the smaller one counts. Since 1.1. */
  uint64_t room_bytes;
};
#define TIDINGS_TOOL_RESULT_SIZE_1_0 TIDINGS_SIZE_TO(struct tidings_tool_result, content)

/* The carrier of on_chat_request. Since 1.0. */
struct tidings_chat_request {
  uint32_t size;
  uint32_t flags;              /* none is defined: 0 */
  struct tidings_span session; /* required */
  uint32_t origin;             /* TIDINGS_ORIGIN_*; SYSTEM answers a start_turn of that origin */
  uint32_t reserved;           /* 0 */
  struct tidings_span content; /* what the host is about to send; may be empty; not stored */
  /* The ids of the offered messages that this request sends, each once. NULL: the request is the
   * host's own. The array and the ids are borrowed, as everything else is. */
  const struct tidings_span *const *messages;
  size_t message_count;
  uint64_t room_bytes; /* as in struct tidings_tool_result. Since 1.1 */
};
#define TIDINGS_CHAT_REQUEST_SIZE_1_0 TIDINGS_SIZE_TO(struct tidings_chat_request, message_count)

/* How a delivery ended. The host writes it: a plugin answers INVAL to an outcome that it does not
 * know. The names are new in 1.2, the numbers are those of 1.0. */
#define TIDINGS_OUTCOME_COMMITTED 1u   /* the carrier is in the host's transcript */
#define TIDINGS_OUTCOME_ROLLED_BACK 2u /* the carrier is not in it, and will not be */

/* The names of 1.0, without OUTCOME_. Deprecated since 1.2. */
#define TIDINGS_COMMITTED TIDINGS_OUTCOME_COMMITTED
#define TIDINGS_ROLLED_BACK TIDINGS_OUTCOME_ROLLED_BACK

/* The argument of settle. Since 1.0. */
struct tidings_settlement {
  uint32_t size;
  uint32_t outcome;     /* TIDINGS_OUTCOME_* */
  uint64_t delivery_id; /* from the reply */
};
#define TIDINGS_SETTLEMENT_SIZE_1_0 TIDINGS_SIZE_TO(struct tidings_settlement, delivery_id)

/* An instance: the table of its functions. It belongs to the plugin and lives from open to close. A
 * function that was added after 1.0 is there if `size` reaches it and it is not NULL. Since 1.0. */
struct tidings_plugin {
  uint32_t size;
  uint32_t flags; /* none is defined */

  /* Call it when a tool's result is about to be sent to the model, once per result, in the order in
   * which they are sent. [any thread] [never from a callback]
   *
   * The first result of a batch carries what is pending; what arrives later goes with a later
   * carrier, and so does what has no room on this one. A carrier that was sent is never rewritten.
   * If no live host owns the session, this host owns it from now on.
   *
   * On success *ret_reply is the reply, to be released; NULL: send the result unchanged, and there
   * is nothing to settle. On an error *ret_reply is not written: send the result unchanged.
   *
   * Errors:
   *   INVAL        a null pointer, a short struct, an unknown flag, a bad session id; here and in
   *                on_chat_request, on_event and settle also: host.random failed (host.h)
   *   TOO_BIG      the session, call_id or tool is too long
   *   UNSUPPORTED  the instance was opened as a producer
   *   BUSY         the time budget ended before the writer lock was free
   *   OWNED        another live process owns the session, and the text names its pid
   *   STORE, OUTCOME_UNKNOWN, NOMEM, CLOSED   as in abi.h
   * After BUSY, STORE and NOMEM the next hook delivers what is pending. After OUTCOME_UNKNOWN these
   * notifications may be leased to a delivery that nobody got; then they are pending again after
   * the host has resumed. Since 1.0. */
  int32_t (*on_tool_result)(struct tidings_plugin *plugin, const struct tidings_tool_result *result,
                            const struct tidings_reply **ret_reply, struct tidings_error *error);

  /* Call it when a chat request is about to be sent to the model. [any thread]
   * [never from a callback]
   *
   * As on_tool_result. In addition: a request that names messages always gets a reply with a
   * delivery id, and its messages belong to that delivery. After a rollback they are queued again
   * in their old place.
   *
   * Errors: those of on_tool_result. A request that names no messages may be sent unchanged. A
   * request that names messages is not sent: they still wait, so call again after BUSY, STORE,
   * NOMEM and OUTCOME_UNKNOWN. For such a request there are three more errors:
   *   FIRED      a message has started its turn already
   *   NOT_FOUND  there is no such message
   *   STATE      the messages are not on offer
   * Since 1.0. */
  int32_t (*on_chat_request)(struct tidings_plugin *plugin,
                             const struct tidings_chat_request *request,
                             const struct tidings_reply **ret_reply, struct tidings_error *error);

  /* Call it with one CloudEvents 1.0 object as JSON (schema/event.schema.json): a notification, a
   * message, or what happened to a turn, a stream, a tool or the session. [any thread]
   * [never from a callback]
   *
   * When it returns 0, the notification or the submitted message is stored for good. A notification
   * or report that needs no action, and tools.declared, get a NULL reply. All other events always
   * get a reply. The actions are for the host that owns the session. Another sender gets the status
   * only, and the owner is woken (wake.h). An event of a turn, a stream, a tool or the session
   * makes this host the owner, as a hook does; so does a host's message event, turn.stop or
   * session.collected, for a session that no live host owns.
   *
   * An event whose `source` and `id` its session has seen within the last 24 hours has no effect;
   * its reply has TIDINGS_REPLY_DUPLICATE. So an event that has an id can be sent again after a
   * failure.
   *
   * Errors:
   *   INVAL        not JSON, or a null pointer
   *   SCHEMA       the JSON is not such an event
   *   TOO_BIG      the event, or a field of it, is over its limit
   *   UNSUPPORTED  this plugin does not have the event's type, or it is one for hosts
   *   NOT_FOUND, FIRED   of the message that the event names
   *   STATE        the turn's state does not allow it
   *   FULL         a limit of the session or the source is reached, or the store is full
   *   OWNED        another live host owns the session
   *   BUSY, STORE, NOMEM   nothing was stored; send it again later
   *   OUTCOME_UNKNOWN   it may be stored: send it again with the same id
   *   CLOSED       as in abi.h
   * Since 1.0. */
  int32_t (*on_event)(struct tidings_plugin *plugin, const struct tidings_span *event,
                      const struct tidings_reply **ret_reply, struct tidings_error *error);

  /* Ends a delivery. Call it after the whole carrier was written to the transcript, or when it is
   * certain that it will not be. [any thread] [never from a callback]
   *
   * Settling twice is harmless. If ret_reply is not NULL, *ret_reply becomes a reply with actions,
   * or NULL if there are none: a rollback may bring back a message that starts the next turn, or a
   * critical notification. If ret_reply is NULL, the actions come with the next reply.
   *
   * Errors:
   *   INVAL        a null pointer, a short struct, an unknown outcome
   *   NOT_FOUND    there is no such delivery
   *   STATE        it has ended the other way; or a recovery has rolled it back before COMMITTED
   *   BUSY         the outcome is remembered, and applied at the next call of any function
   *   STORE        it is still leased: settle again
   *   OUTCOME_UNKNOWN   settle again: settling twice is harmless
   *   CLOSED       another host owns the session now, or the session was closed
   *   UNSUPPORTED  the instance was opened as a producer
   *   NOMEM        as in abi.h
   * Since 1.0. */
  int32_t (*settle)(struct tidings_plugin *plugin, const struct tidings_settlement *settlement,
                    const struct tidings_reply **ret_reply, struct tidings_error *error);

  /* Gives a reply back. [any thread] [never from a callback] No pointer into the reply may be used
   * afterwards. NULL is allowed. It cannot fail: a pointer that was released before, or is no reply
   * of this instance, is not followed; the log says so, and nothing else happens. Since 1.0. */
  void (*release)(struct tidings_plugin *plugin, const struct tidings_reply *reply);

  /* Stops admitting calls, so that the instance can be closed. [one thread at a time: quiesce and
   * close exclude each other] [never from a callback]
   *
   * After success only release, quiesce and close may be called; every other call answers CLOSED.
   * Quiescing again is harmless. Since 1.2, a process that ends after it has quiesced need not call
   * close: the next process opens the store as after a close.
   *
   * Errors:
   *   INVAL   a null pointer
   *   BUSY    calls are under way, replies or answers have not been released, or a remembered
   *           settle cannot be applied yet; nothing changed, and the text says which
   *   CLOSED  this process was forked from the one that opened the instance
   * Since 1.0. */
  int32_t (*quiesce)(struct tidings_plugin *plugin, struct tidings_error *error);

  /* Quiesces if need be, closes the store and frees the instance. [one thread at a time: quiesce
   * and close exclude each other] [never from a callback]
   *
   * After success `plugin` must not be used any more, and the image may be unloaded. Leases and
   * ownership of sessions belong to the process, not to the image: they stay.
   *
   * Errors: those of quiesce; the instance is then as it was. Since 1.0. */
  int32_t (*close)(struct tidings_plugin *plugin, struct tidings_error *error);
};
#define TIDINGS_PLUGIN_SIZE_1_0 TIDINGS_SIZE_TO(struct tidings_plugin, close)

#ifdef __cplusplus
}
#endif

#endif
