/* SPDX-License-Identifier: MIT
 *
 * flow/internal.h: functions that the files of flow/ share. Private to flow/.
 */
#ifndef FLOW_INTERNAL_H
#define FLOW_INTERNAL_H

#include "event/event.h"
#include "flow/flow.h"
#include "rules/policy/plan.h"
#include "rules/producers/producers.h"
#include "session/decision.h"
#include "session/op.h"
#include "session/pending.h"

/* -- a delivery: deliver.c, lease.c ------------------------------------------------------------ */

/* An attempt at a delivery point. */
struct delivering {
  const struct carrier *carrier;
  struct store_mark planned_on;
  uint64_t last;   /* number of the session's newest item */
  uint64_t number; /* of this delivery */
  struct pending pending;
  struct stored_run stored; /* loaded from the snapshot, if the carrier concerns the run, or a reply
                               may follow from it */
  bool steps;               /* the carrier has stepped the run */
  const uint64_t *carried;  /* numbers of the messages on it */
  size_t carried_count;
  struct steered steered;
};

/* Does the host get a delivery that it has to settle? */
bool lease_is_shown(const struct delivering *delivering, const struct plan *plan);
/* Makes the delivery's row. Errors: FULL, INVAL, NOMEM. */
int lease_describe(struct op *op, const struct delivering *delivering, const struct plan *plan,
                   struct delivery *ret_delivery, struct tidings_error *error);
/* Writes the lease, which is durable when this returns 0 and *ret_outdated is false. *ret_outdated:
 * the head has changed since the plan was made, and nothing was written. Errors: BUSY, FULL, STORE,
 * NOMEM. */
int lease_write(struct op *op, struct delivering *delivering, const struct plan *plan,
                struct delivery *delivery, bool *ret_outdated, struct tidings_error *error);

/* Logs that a message was cut before it was stored (push.c). To be called when no lock is held. */
void push_say_cut(const struct op *op, const struct notification *note, size_t uncut_bytes);

/* -- what is pushed: push.c, report.c, recall.c, declare.c, react.c ---------------------------- */

/* Errors as of store_push. */
/* Calls store_push; on a full disk it first deletes history. */
int push_store(struct op *op, const struct push *push, bool *ret_duplicate,
               struct tidings_error *error);
int push_notification(struct op *op, const struct event *event, bool *ret_duplicate,
                      struct tidings_error *error);
/* `event` is a report (event_is_report). *ret_asks: it made a notification that asks for more than
 * the next carrier. Errors as of a notification. */
int report_take(struct op *op, const struct event *event, bool *ret_duplicate, bool *ret_asks,
                struct tidings_error *error);
/* Finds notifications that a report withdraws while they are on a carrier that is not settled yet.
 * They cannot be taken off the carrier; but if it is rolled back, they end as withdrawn instead of
 * being pending again. `write` notes that in the deliveries' rows. *ret_any: some are not noted
 * there yet. It reads op's head. Errors: STORE, NOMEM. */
int recall_leased(struct op *op, const struct produced *produced, bool write, bool *ret_any,
                  struct tidings_error *error);
/* `tools.declared`: replaces what the tool declared before. Errors: FULL (too many tools), BUSY,
 * STORE, SCHEMA_NEWER, NOMEM. */
int declare_kinds(struct op *op, const struct event *event, bool *ret_duplicate,
                  struct tidings_error *error);
/* To be called after a notification that asks for something was stored in session op->name, or for
 * a duplicate: decides what this host does about it, if the session is the host's. There is a
 * reply, in op's arena, only if there is an action, or if it could not be decided yet. It cannot
 * fail, because the notification is stored. */
void react_to_notification(struct op *op, struct tidings_reply **ret_reply);

/* -- which calls of tools run: calls.c --------------------------------------------------------- */

/* Keeps in shared memory what the event says of calls; for the owner, with the session's lock.
 * False: it has to be written to the session's row. */
bool calls_share(struct op *op, const struct event *event);
/* Does the event end calls that are in the session's row alone? To be called in a snapshot, after
 * op_get_head. The row is read if it may matter. Errors: STORE, NOMEM. */
int calls_row_changes(struct op *op, const struct event *event, struct memory *ret_row,
                      bool *ret_changes, struct tidings_error *error);
/* In a write: does to the row what the event says. Sets *ret_changed if there was something to do.
 * Errors: STORE, NOMEM. */
int calls_write_row(struct op *op, const struct event *event, bool *ret_changed,
                    struct tidings_error *error);
/* To be called after the commit: ends in shared memory, too, what the event ends. If a process was
 * stopped while it had the lock, everything there is forgotten, so that no file is attributed to a
 * call that has ended. */
void calls_share_ends(struct op *op, const struct event *event);
/* For a report of files: reads in a snapshot which tool ran while they changed, and which of them
 * the assistant had edited. *ret_known: the report is such an edit itself, and its files are
 * remembered already. Errors: STORE, NOMEM. */
int calls_find(struct op *op, struct event *event, bool *ret_known, struct tidings_error *error);
/* In a write: forgets the edits, which the transcript may no longer have. Errors: STORE, NOMEM. */
int calls_forget_edits(struct op *op, struct tidings_error *error);

/* -- what steps the run: step.c, message.c, turn.c, life.c, fork.c, rewind.c, collect.c,
 * compact.c */

/* Takes a message, turn, phase or session event, or wake, in one write transaction: from the
 * table's decision to its messages' rows. There is always a reply. Errors as on_event. */
int step_take(struct op *op, const struct event *event, const struct tidings_reply **ret_reply,
              struct tidings_error *error);

/* The ids that an event names: of messages, or of a message and the one that it goes before. */
struct naming {
  struct tidings_span pair[2];
  const struct tidings_span *ids;
  size_t count;
  ptrdiff_t *named; /* the index of each id's message, or NOT_A_MESSAGE */
};

/* Makes the input of the machine from a message event. Errors: FIRED, STATE, FULL, NOMEM. */
int message_prepare(struct op *op, struct decision *decision, const struct event *event,
                    const struct naming *naming, struct turns_input *input,
                    struct tidings_error *error);

enum turns_event turn_event_of(const struct event *event);
/* Makes the input of the machine from a turn event. Errors: NOMEM. */
int turn_prepare(struct op *op, const struct event *event, struct turns_input *input,
                 struct tidings_error *error);

/* Reads the head. For session.closed, makes an empty head if the stored one is damaged. */
int life_get_head(struct op *op, const struct event *event, struct tidings_error *error);
/* Attaches if only the owner may send the event, or if the event makes the caller the owner. Fills
 * in who the caller is. Errors as of attach_in_write. */
int life_attach(struct op *op, const struct event *event, struct decision *decision,
                struct tidings_error *error);
/* Closes the session: everything that is leased or pending has ended, and the session has no owner.
 * Changes op's head. Errors: OWNED (by another host that is alive), STORE, NOMEM. */
int life_close(struct op *op, struct tidings_error *error);

/* Gives the child a copy of each pending and each leased notification, unless it has one. A copy of
 * a leased one remembers the delivery, for a child whose transcript has it. Errors: FULL (the child
 * has too much), STORE, NOMEM. */
int fork_session(struct op *op, struct tidings_span child, struct tidings_error *error);

/* The result of a rewind. */
struct rewound {
  uint64_t gone,
      back; /* how many deliveries the transcript no longer has, and how many it has again */
  uint64_t returned, expired; /* how many notifications are pending again, and how many ended
                                 because of their age */
  uint64_t newest;            /* number of the newest of these; 0: there is none */
  uint64_t forgotten;         /* delivered notifications that the store has forgotten */
  uint64_t unknown;           /* ids that are no delivery's */
};
/* Makes the store agree with a transcript that has exactly the deliveries that the event names.
 * Leases have been resolved. Changes op's head. Errors: FULL (no number is left for a delivery),
 * STORE, NOMEM. */
int rewind_session(struct op *op, const struct session_event *event, struct rewound *ret_rewound,
                   struct tidings_error *error);
/* The same as one JSON object, for the reply. */
int rewind_answer(struct op *op, const struct rewound *rewound, struct tidings_span *ret_json,
                  struct tidings_error *error);

/* Counts of what a session took over. */
struct collected {
  uint64_t notifications, messages;
  uint64_t left; /* notifications that wait for the next such event, because each moves a limited
                    number */
  bool any;      /* something was waiting */
};
/* To be called before collect_sessions, without a transaction: makes items of the pushes to the
 * other sessions that are still in an engine's inbox. Errors: BUSY, STORE, NOMEM. */
int collect_prepare(struct op *op, const struct session_event *event, struct tidings_error *error);
/* Moves what waits in the sessions that the event names to op's session, and submits their messages
 * to its queue, in `decision`, which it loads. Errors: OWNED (another running host has one of
 * them), FULL, STORE, NOMEM. */
int collect_sessions(struct op *op, const struct session_event *event, struct decision *decision,
                     struct collected *ret_collected, struct tidings_error *error);
/* The same as one JSON object, for the reply. */
int collect_answer(struct op *op, const struct collected *collected, struct tidings_span *ret_json,
                   struct tidings_error *error);

/* Lists what is pending and queued, as one JSON object, for the summary of what was said before. */
int compact_ledger(struct op *op, const struct turns *turns, struct tidings_span *ret_json,
                   struct tidings_error *error);

#endif
