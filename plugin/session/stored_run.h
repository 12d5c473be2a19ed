/* SPDX-License-Identifier: MIT
 *
 * session/stored_run.h: moves a session's run and messages between the store and the pure machine
 * of turns: reads them, steps them, and writes them back with a transition that records what
 * happened.
 */
#ifndef SESSION_STORED_RUN_H
#define SESSION_STORED_RUN_H

#include "rules/turns/turns.h"
#include "session/op.h"

/* A run being stepped, in a snapshot or a write. */
struct stored_run {
  struct turns turns;
  uint8_t from;                         /* the state when it was loaded */
  uint64_t system_from;                 /* the system turn when it was loaded */
  uint64_t added;                       /* number of a message that is new; 0: none */
  struct tidings_span content, trigger; /* of the new or the edited message */
  uint64_t edited;                      /* number of a message whose content is new; 0: none */
  uint64_t moved_to; /* number of the session that collects the waiting messages; 0: none does */
};

/* Reads what the machine of turns needs, from op->head and in op's transaction. ret_named gets the
 * index of each id's message, or NOT_A_MESSAGE. Errors: STORE, NOMEM. */
int stored_run_load(struct op *op, struct stored_run *stored, const struct tidings_span *ids,
                    size_t count, ptrdiff_t *ret_named, struct tidings_error *error);
/* The same for messages that are named by number. */
int stored_run_load_numbers(struct op *op, struct stored_run *stored, const uint64_t *numbers,
                            size_t count, ptrdiff_t *ret_named, struct tidings_error *error);

/* The input that every step of the machine takes. */
struct turns_input stored_run_input(const struct op *op, enum turns_event event);

/* Has the step changed nothing of what is stored except the phase? */
bool stored_run_changes_only_phase(const struct op *op, const struct stored_run *stored);

/* Writes what has changed, and the transition `event`; *ret_changed is false if nothing has. The
 * run goes into op->head, which the caller puts. */
int stored_run_save(struct op *op, struct stored_run *stored, enum turns_event event, bool abort,
                    bool *ret_changed, struct tidings_error *error);

/* The numbers of the messages that `delivery` carries now. -1: no memory. */
int stored_run_carried(struct op *op, const struct stored_run *stored, uint64_t delivery,
                       const uint64_t **ret_numbers, size_t *ret_count);

/* The messages that go into the running turn. */
struct steered {
  const struct tidings_span *contents, *ids; /* in order */
  size_t count;
};
/* Contents and ids of the messages that `delivery` carries. */
int stored_run_steered(struct op *op, const struct stored_run *stored, uint64_t delivery,
                       struct steered *ret_steered, struct tidings_error *error);

#endif
