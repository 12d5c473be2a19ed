/* SPDX-License-Identifier: MIT
 *
 * store/outlines.h: outlines of items, for who looks at all that is pending and shows little of it.
 * Many are in one row, so that fewer rows have to be read.
 */
#ifndef STORE_OUTLINES_H
#define STORE_OUTLINES_H

#include "store/store.h"
#include "values/outline.h"

/* Calls `each` for the outlines of items first..last in order until it returns an error, which is
 * then returned; those of items that are gone may be among them. The kind of several may be one.
 * Text is gone when `each` returns. */
typedef int (*outline_visitor)(void *context, const struct outline *outline);
int outline_scan(struct store_txn *txn, uint32_t session, uint64_t first, uint64_t last,
                 outline_visitor each, void *context, struct tidings_error *error);
/* The same from number `first` on for all that has not ended, according to the head, and for some
 * that has. */
int outline_live(struct store_txn *txn, uint32_t session, const struct head *head, uint64_t first,
                 outline_visitor each, void *context, struct tidings_error *error);

/* Is the item, if there is one, neither leased nor ended? */
bool head_has_pending(const struct head *head, uint64_t n);

#endif
