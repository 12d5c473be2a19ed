/* SPDX-License-Identifier: MIT
 *
 * flow/flow.h: what the hooks and events do after their arguments have been checked. *ret_reply is
 * written on success only; NULL means that there is no reply.
 */
#ifndef FLOW_FLOW_H
#define FLOW_FLOW_H

#include "instance/instance.h"

/* A message that the host is about to send. */
struct carrier {
  enum delivery_carrier kind; /* CARRIER_TOOL_RESULT or CARRIER_CHAT_REQUEST */
  uint8_t source;             /* chat request */
  struct tidings_span session, call_id, tool;
  const struct tidings_span *messages; /* chat request: the ids of the messages that it sends */
  size_t message_count;
  uint64_t room; /* bytes for all texts of the reply; 0: the host knows no bound */
};

/* True if nothing has been committed for this session since it was found quiet; false also for
 * NULL, a session that this process does not know. Takes no lock and makes no system call. */
static inline bool flow_is_quiet(struct instance *instance, const struct session *session) {
  if (!session || atomic_load_explicit(&instance->remembered.any, memory_order_relaxed))
    return false;
  uint32_t quiet = atomic_load_explicit(&session->quiet, memory_order_relaxed);
  return !(quiet & 1) && changes_read(session->changes) == quiet;
}

/* Collects and plans the delivery, leases it durably, and only then hands it out. `known`: the
 * carrier's session as this process remembers it, or NULL. Errors as on_tool_result. */
int flow_deliver(struct instance *instance, const struct carrier *carrier, struct session *known,
                 const struct tidings_reply **ret_reply, struct tidings_error *error);

int flow_event(struct instance *instance, struct tidings_span bytes,
               const struct tidings_reply **ret_reply, struct tidings_error *error);

/* ret_reply NULL: the caller takes no reply. A settle that meets BUSY is remembered and applied by
 * the next call. */
int flow_settle(struct instance *instance, uint64_t delivery_id, uint32_t outcome,
                const struct tidings_reply **ret_reply, struct tidings_error *error);
/* Applies settles that met BUSY before, within the caller's time. Returns 0, or why some are left:
 * BUSY, STORE, NOMEM, OUTCOME_UNKNOWN. */
int flow_settle_remembered(struct instance *instance, store_deadline deadline,
                           struct tidings_error *error);

/* As descriptor and next_session of tidings/wake.h: which sessions of this instance's owner rang
 * since the host last asked. */
int flow_wake_descriptor(struct instance *instance, int32_t *ret_fd, struct tidings_error *error);
int flow_wake_next(struct instance *instance, char *buffer, size_t buffer_size, size_t *ret_len,
                   struct tidings_error *error);
/* A later flow_wake_next names the session with this number again; 0, or a number that this process
 * has not seen: all sessions. The descriptor becomes readable. */
void flow_wake_again(struct instance *instance, uint32_t number);
/* The same after an event of the session that failed with `code`, if a later try may succeed.
 * Unless the store was busy, the descriptor does not become readable. */
void flow_wake_failed(struct instance *instance, uint32_t number, int code);

#endif
