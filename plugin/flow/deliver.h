/* SPDX-License-Identifier: MIT
 *
 * flow/deliver.h: what the hooks and events do, once their arguments have been checked. *ret_reply
 * is written on success only; NULL: nothing to say.
 */
#ifndef FLOW_DELIVER_H
#define FLOW_DELIVER_H

#include "event/event.h"
#include "instance/instance.h"

/* A message that the host is about to send. */
struct carrier {
  enum delivery_carrier kind; /* CARRIER_TOOL_RESULT or CARRIER_CHAT_REQUEST */
  uint8_t source;             /* chat request */
  struct tidings_span session, call_id, tool;
  const struct tidings_span *messages; /* chat request: the ids of those that it sends */
  size_t message_count;
};

/* Nothing has been committed for this session since it was found quiet. No lock, no system call. */
static inline bool session_is_quiet(struct instance *instance, struct tidings_span id) {
  struct session *session = session_table_find(&instance->sessions, id);
  if (!session || atomic_load_explicit(&instance->remembered.any, memory_order_relaxed))
    return false;
  uint32_t quiet = atomic_load_explicit(&session->quiet, memory_order_relaxed);
  return !(quiet & 1) && bell_read(session->bell) == quiet;
}

/* Collects, plans, leases durably, and only then hands out. Errors as on_tool_result. */
int deliver(struct instance *instance, const struct carrier *carrier,
            const struct tidings_reply **ret_reply, struct tidings_error *error);

/* settle.c */
/* ret_reply NULL: nobody listens. */
int settle(struct instance *instance, uint64_t delivery_id, uint32_t outcome,
           const struct tidings_reply **ret_reply, struct tidings_error *error);
/* Applies settles that met BUSY before, within the caller's time. Returns 0, or why some are left:
 * BUSY, STORE, NOMEM. */
int settle_remembered(struct instance *instance, store_deadline deadline,
                      struct tidings_error *error);

/* events.c */
int handle_event(struct instance *instance, struct tidings_span bytes,
                 const struct tidings_reply **ret_reply, struct tidings_error *error);

#endif
