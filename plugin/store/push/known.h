/* SPDX-License-Identifier: MIT
 *
 * store/push/known.h: what a push needs to know about its session: it is read from the rows, or
 * kept from the push before.
 */
#ifndef STORE_PUSH_KNOWN_H
#define STORE_PUSH_KNOWN_H

#include "store/rows/rows.h"

/* Reads all of it from the rows, except the session's number, which is given. Errors: STORE, NOMEM.
 */
int push_place_read(struct store_txn *txn, uint32_t session, struct push_place *ret_place,
                    struct tidings_error *error);

/* To be called when a batch begins: forgets what may no longer be true. */
void push_known_begin(struct push_known *known, const struct db_txn *txn);
/* NULL: nothing is known of the session. */
const struct push_place *push_known_find(const struct push_known *known,
                                         struct tidings_span session);
/* Notes the state in which a push of this batch has left the session. */
void push_known_set(struct push_known *known, struct tidings_span session,
                    const struct push_place *place);
/* To be called when a batch ends: `stored` if it was committed, and was not given up. */
void push_known_end(struct push_known *known, const struct db_txn *txn, bool stored);

#endif
