/* SPDX-License-Identifier: MIT
 *
 * session/ending.h: how a delivery ends, in the head and in its row, whoever ends it: the host that
 * settles, a resumed transcript, or a recovery. Each function changes op->head within op's write
 * transaction; the caller stores the head.
 */
#ifndef SESSION_ENDING_H
#define SESSION_ENDING_H

#include "session/op.h"

/* Commits `delivery`: its items have ended with their outcomes. Errors: STORE, NOMEM. */
int ending_commit(struct op *op, struct delivery *delivery, enum delivery_settled_by by,
                  struct tidings_error *error);
/* Rolls `delivery` back: its items are pending again in their old places, except those that were
 * withdrawn meanwhile. After the last one the caller ends what is older than something that was
 * shown (outdated.h). Errors: FULL (no number is left for a delivery), INVAL (the host has no
 * randomness), STORE, NOMEM. */
int ending_roll_back(struct op *op, struct delivery *delivery, enum delivery_settled_by by,
                     struct tidings_error *error);

/* The same for several, by n: commits those for which `commits` is true, and rolls the others back.
 */
int ending_resolve(struct op *op, struct delivery *deliveries, const bool *commits, size_t count,
                   enum delivery_settled_by by, struct tidings_error *error);

/* Ends pending items at once, in a delivery that shows nothing. `dispositions` are by n; an empty
 * list has no effect. Errors: those of ending_roll_back. */
int ending_remove(struct op *op, const struct disposition *dispositions, size_t count,
                  enum delivery_settled_by by, struct tidings_error *error);

/* Gives `delivery` the next number of the session, and a random mark. Errors: FULL (no number is
 * left), INVAL (the host has no randomness). */
int ending_take_number(const struct op *op, struct delivery *delivery, struct tidings_error *error);

#endif
