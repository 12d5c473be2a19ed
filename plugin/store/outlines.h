/* SPDX-License-Identifier: MIT
 *
 * store/outlines.h: outlines of items, for a delivery that looks at everything that is pending and
 * shows little of it. Each row has many outlines, so that few rows have to be read.
 */
#ifndef STORE_OUTLINES_H
#define STORE_OUTLINES_H

#include "store/store.h"
#include "values/outline.h"

/* Calls `each` for the outlines of items first..last in order until it returns an error, which is
 * then returned; outlines of items that no longer exist may be among them. Several may share one
 * struct for their kind. The text is valid until `each` returns. */
typedef int (*outline_visitor)(void *context, const struct outline *outline);
int outline_scan(struct store_txn *txn, uint32_t session, uint64_t first, uint64_t last,
                 outline_visitor each, void *context, struct tidings_error *error);
/* The same from number `first` on, for all items that have not ended according to the head, and for
 * some that have. */
int outline_live(struct store_txn *txn, uint32_t session, const struct head *head, uint64_t first,
                 outline_visitor each, void *context, struct tidings_error *error);

/* Is the item, if there is one, neither leased nor ended? */
bool head_has_pending(const struct head *head, uint64_t n);

#endif
