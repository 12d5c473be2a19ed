/* SPDX-License-Identifier: MIT
 *
 * session/outdated.h: keeps older states from being shown after newer ones, also across deliveries.
 * An item that is pending again after its carrier was lost may be older than an item about the same
 * thing that another carrier has shown.
 */
#ifndef SESSION_OUTDATED_H
#define SESSION_OUTDATED_H

#include "session/op.h"

/* Ends, as superseded, the pending items that are older than an item about the same thing that a
 * committed delivery has shown. An item that is older than something on a leased carrier joins that
 * carrier's lease: it ends if the carrier is committed, and is pending again if it is rolled back.
 * Within op's write transaction; changes op->head, which the caller stores. Errors: FULL (no number
 * is left for a delivery), STORE, NOMEM. */
int outdated_end(struct op *op, enum delivery_settled_by by, struct tidings_error *error);

/* Finds the `items` (by n, none of them pending) that are older than an item about the same thing
 * that a committed delivery has shown. It is used for copies of leased items. There is room for
 * `count` dispositions. Errors: STORE, NOMEM. */
int outdated_find(struct op *op, struct item *items, size_t count,
                  struct disposition *ret_dispositions, size_t *ret_count,
                  struct tidings_error *error);

/* Might a newer report than this pending one have been shown of some of its files? */
bool outdated_may_leave_out(const struct op *op, const struct item *item);
/* Removes files from pending reports of several files, whose facts were read, if a newer report of
 * the file was shown. The dispositions are those of reports that have no file left; by n. Errors:
 * STORE, NOMEM. */
int outdated_leave_out(struct op *op, struct item *items, size_t count,
                       struct disposition **ret_dispositions, size_t *ret_count,
                       struct tidings_error *error);

/* The items after number `after` are pending and were taken over from other sessions, with the
 * times at which they were pushed there. Ends, as superseded, those that are older than an item
 * about the same thing that this session has pending, on a carrier, or delivered. Within op's write
 * transaction; changes op->head. Errors: FULL (no number is left for a delivery), STORE, NOMEM. */
int outdated_end_late(struct op *op, uint64_t after, enum delivery_settled_by by,
                      struct tidings_error *error);

#endif
