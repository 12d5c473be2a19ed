/* SPDX-License-Identifier: MIT
 *
 * store/push/known.h: what a push has to know about its session: read from the rows, or kept from
 * the push before.
 */
#ifndef STORE_PUSH_KNOWN_H
#define STORE_PUSH_KNOWN_H

#include "store/rows/rows.h"

/* From the rows, all but the session's number, which is given. Errors: STORE, NOMEM. */
int push_place_read(struct store_txn *txn, uint32_t session, struct push_place *ret_place,
                    struct tidings_error *error);

/* At the begin of a batch: forgets what may not be true any more. */
void push_known_begin(struct push_known *known, const struct db_txn *txn);
/* NULL: nothing is known of the session. */
const struct push_place *push_known_find(const struct push_known *known,
                                         struct tidings_span session);
/* The session as a push of this batch has left it. */
void push_known_set(struct push_known *known, struct tidings_span session,
                    const struct push_place *place);
/* At its end: the batch goes to the commit, or is given up. */
void push_known_end(struct push_known *known, const struct db_txn *txn, bool stored);

#endif
