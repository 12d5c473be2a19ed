/* SPDX-License-Identifier: MIT
 *
 * session/copies.h: which notifications a session has already, so that a fork or a collection gives
 * it none of them again. A copy is known by its origin, the public id of the original item.
 */
#ifndef SESSION_COPIES_H
#define SESSION_COPIES_H

#include "session/op.h"

struct copies {
  uint64_t *origins; /* the first `sorted` of them ascending */
  size_t count, sorted, capacity;
};

/* Reads the origins of all copies in `session`, whatever became of them. Errors: STORE, NOMEM. */
int copies_read(struct op *op, uint32_t session, struct copies *ret_copies,
                struct tidings_error *error);
/* Reads what op->session has or has ended itself: its own items and its copies, but not the items
 * that ended as closed, because another session has them now. Errors: STORE, NOMEM. */
int copies_read_kept(struct op *op, struct copies *ret_copies, struct tidings_error *error);
int copies_add(struct op *op, struct copies *copies, uint64_t origin, struct tidings_error *error);
bool copies_has(const struct copies *copies, uint64_t origin);

#endif
