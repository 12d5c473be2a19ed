/* SPDX-License-Identifier: MIT
 *
 * session/ledger.h: which items of a session are pending, leased or ended, as arithmetic on a
 * head's ranges. Pure: it takes heads and deliveries, makes a new head, and reads and writes no
 * store. The arrays of the new head are in the arena.
 */
#ifndef SESSION_LEDGER_H
#define SESSION_LEDGER_H

#include "store/store.h"

/* Joins dispositions (by n) into ranges of neighbours that have the same outcome and reason, and no
 * ref of their own. Returns 0, or -1: no memory. */
int ledger_ranges(const struct disposition *dispositions, size_t count, struct arena *arena,
                  const struct disposition_range **ret_ranges, size_t *ret_count);

/* Marks the items of `delivery` as leased by it. Returns 0, or -1: no memory. */
int ledger_lease(struct head *head, const struct delivery *delivery, struct arena *arena);

/* Marks the pending items of `joining` as leased by the delivery with the same number, which is
 * leased already. Returns 0, or -1: no memory. */
int ledger_join(struct head *head, const struct delivery *joining, struct arena *arena);

/* Ends the leases of all these deliveries, which are by n. If it `commits`, the items have ended
 * with their outcomes; if not, they are pending again. Returns 0, or -1: no memory. */
int ledger_end(struct head *head, const struct delivery *deliveries, const bool *commits,
               size_t count, struct arena *arena);
/* The same for one of them. */
int ledger_commit(struct head *head, const struct delivery *delivery, struct arena *arena);
int ledger_roll_back(struct head *head, const struct delivery *delivery, struct arena *arena);

/* Makes ended items (`n`, ascending) that counted as delivered pending again. Returns 0, or -1: no
 * memory. */
int ledger_return(struct head *head, const uint64_t *n, size_t count, struct arena *arena);

/* Is item `n`, which the store has, neither leased nor ended? */
bool ledger_is_pending(const struct head *head, uint64_t n);
/* How many items up to `last` are pending, and how many are leased. */
uint64_t ledger_pending(const struct head *head, uint64_t last);
uint64_t ledger_leased(const struct head *head);

#endif
