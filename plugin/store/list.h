/* SPDX-License-Identifier: MIT
 *
 * store/list.h: reads about many sessions, in a snapshot that has declared none.
 */
#ifndef STORE_LIST_H
#define STORE_LIST_H

#include "store/db/remote.h"
#include "store/store.h"

/* Calls `each` as session_scan does, for at most `most` sessions in an order of the store's own:
 * those after the place `after`, which the call before has returned; 0: from the first one on.
 * *ret_next 0: there are no more. A session that exists all the time comes once. */
int session_page(struct store_txn *txn, uint64_t after, size_t most, session_visitor each,
                 void *context, uint64_t *ret_next, struct tidings_error *error);

/* For a session of the last page: how many pushes to it are not among its items yet. */
struct db_waiting session_waiting(struct store_txn *txn, uint32_t session);
/* For the same sessions: is the row at hand, and not history, which would have to be read by
 * itself? */
bool item_is_near(struct store_txn *txn, uint32_t session, uint64_t n);
bool delivery_is_near(struct store_txn *txn, uint32_t session, uint64_t n);

/* If the row of an item that has not ended after all is history, which the engine drops by itself,
 * writes the row again. Errors: STORE, NOMEM. */
int item_take_back(struct store_txn *txn, uint32_t session, uint64_t n,
                   struct tidings_error *error);

/* Calls `each` with pushes to this session that ended in a database's inbox, as `dead_letters` in
 * db/remote.h does. */
int store_dead_letters(struct store_txn *txn, struct tidings_span name, size_t most,
                       int (*each)(void *context, const struct db_dead *dead), void *context,
                       struct tidings_error *error);
/* Reads a pushed item from its body, into which the texts point. False: it is no such body. */
bool item_read_body(struct tidings_span body, struct item *ret_item);

/* Figures of the whole store that a database has: see `figures` in db/remote.h. Errors: STORE. */
int store_figures(struct store_txn *txn,
                  void (*each)(void *context, const struct db_figure *figure), void *context,
                  struct tidings_error *error);

#endif
