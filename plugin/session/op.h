/* SPDX-License-Identifier: MIT
 *
 * session/op.h: the operation of one call. It is made once, where a call enters flow/ or query/,
 * and passed down: nothing else holds the settings, the transaction or the time of a call.
 */
#ifndef SESSION_OP_H
#define SESSION_OP_H

#include "instance/instance.h"
#include "values/event.h"

/* The phase, as op_get_head read it. */
struct phase_read {
  bool runs;     /* the run was busy */
  uint8_t phase; /* then: the phase in shared memory, or else the stored one */
  uint64_t word; /* by store_phase */
};

struct op {
  struct instance *instance;
  struct configuration *configuration; /* in use until op_end */
  const struct settings *settings;     /* the configuration's */
  int64_t now_ms;                      /* the store's time, read once .. */
  int64_t ahead_ms;                    /* .. and how far it is ahead of the host's wall clock */
  store_deadline deadline;

  struct tidings_span name; /* the session's; the caller's memory */
  struct session *known;    /* what this process remembers of the session; NULL: nothing yet */
  uint32_t session;         /* its number in the store; 0: not known */
  bool beats;               /* the result of op_may_ring, asked before any snapshot */
  bool has_answer;          /* store_is_unchanged has answered; the next snapshot uses it */
  bool goes_by_look; /* the next snapshot may be as old as the carrier's, which has just read the
                        session */
  bool locked;       /* the lock is held .. */
  uint32_t locked_session; /* .. of this session */

  struct store_txn *txn; /* the open snapshot or write; NULL: none */
  struct arena arena;    /* for all that the call allocates; a reply takes it along */
  uint64_t newest;       /* a delivery's number, by attach_find_newest; 0: none was named */
  uint8_t stored_phase;  /* the phase in the stored head; the turn may be in another by now */
  struct phase_read read;
  bool head_put;    /* the open transaction writes the head */
  struct head head; /* the session's, by op_get_head; undefined before */
};

/* Takes the configuration that is in force and reads the clock. `name` may be empty. */
void op_begin(struct op *op, struct instance *instance, struct tidings_span name,
              store_deadline deadline);
/* The same for a time of the host's clock that the caller knows: calls no function of the host. */
void op_begin_at(struct op *op, struct instance *instance, struct tidings_span name,
                 store_deadline deadline, int64_t host_ms);
/* Does this host wait, and has a process rung that may commit without calling it again? */
bool op_may_ring(const struct op *op);
/* Gives back all that the operation still has: transaction, lock, configuration, memory. */
void op_end(struct op *op);

/* At most one transaction at a time. Errors as of store_read and store_write. */
int op_read(struct op *op, struct tidings_error *error);
/* The same, but never writes first: a session that nobody has opened does not exist then. */
int op_read_only(struct op *op, struct tidings_error *error);
int op_write(struct op *op, struct tidings_error *error);
/* The same for an event; the caller calls op_see_event next. */
int op_write_event(struct op *op, const struct event *event, struct tidings_error *error);
/* In a write: makes sure that an event with an id takes effect once. *ret_duplicate: the event has
 * been seen before; if not, notes its id, which the commit stores. Errors: STORE, NOMEM. */
int op_see_event(struct op *op, const struct event *event, bool *ret_duplicate,
                 struct tidings_error *error);
/* Begins a write of the session as this process read it last: see op_commit_as_read. */
int op_write_as_read(struct op *op, struct tidings_error *error);
int op_commit(struct op *op, struct tidings_error *error); /* ends the transaction in either case */
/* Returns 0 with *ret_outdated if nothing was written because the session is not as it was read. */
int op_commit_as_read(struct op *op, bool *ret_outdated, struct tidings_error *error);
void op_give_up(struct op *op); /* ends a snapshot or drops a write, if there is one */

/* Takes the lock of op->session, so that one decision is made at a time. Errors: BUSY. */
int op_lock(struct op *op, struct tidings_error *error);
void op_unlock(struct op *op); /* allowed without a lock */

/* Reads op->session's head in the transaction, with the present phase of its turn. Errors:
 * STORE, NOMEM. */
int op_get_head(struct op *op, struct tidings_error *error);
int op_put_head(struct op *op, struct tidings_error *error);

/* Sets the phase of the running turn without a commit. False: it has to be committed. To be called
 * by the owner of a known session, with the session's lock, if there is nothing else to commit. */
bool op_set_phase(struct op *op, unsigned phase);

static inline bool op_owns_session(const struct op *op) {
  return owner_equal(&op->head.owner, &op->instance->owner);
}
/* Does this instance act on the session's replies? A producer may have the owner's process. */
static inline bool op_hosts_session(const struct op *op) {
  return op->instance->role != TIDINGS_ROLE_PRODUCER && op_owns_session(op);
}

#endif
