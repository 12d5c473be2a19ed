/* SPDX-License-Identifier: MIT
 *
 * tests/store/kit_rows.h: writes many rows at once, like those of pushes and deliveries.
 */
#ifndef TESTS_STORE_KIT_ROWS_H
#define TESTS_STORE_KIT_ROWS_H

#include "store/rows/rows.h"

void fill_items(struct store *store, const char *session, uint64_t first, uint64_t last,
                int64_t time_ms);
/* Makes delivery `n` with the items first..last, leased or (`commit`) committed. */
void deliver_items(struct store *store, uint32_t session, uint64_t n, uint64_t first, uint64_t last,
                   bool commit, int64_t now_ms);
/* Returns the n of the row that finds a message by its id, if no other id collides. */
uint64_t id_row_of(const char *id);
size_t rows_in(struct store *store, uint32_t session, enum row_kind kind);

#endif
