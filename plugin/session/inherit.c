/* SPDX-License-Identifier: MIT
 *
 * session/inherit.c: see inherit.h.
 */
#include "session/inherit.h"

#include "common/error.h"
#include "session/ending.h"

static bool names_another_session(const struct op *op, const struct session_event *named) {
  for (size_t i = 0; i < named->delivery_count; i++) {
    if (public_id_session(named->deliveries[i]) != op->session) return true;
  }
  return false;
}

static bool is_named(const struct session_event *named, uint64_t id) {
  for (size_t i = 0; id && i < named->delivery_count; i++) {
    if (named->deliveries[i] == id) return true;
  }
  return false;
}

int inherit_named(struct op *op, const struct session_event *named, struct tidings_error *error) {
  struct item *items;
  size_t count, ended = 0;
  if (!names_another_session(op, named)) return 0;
  int code = item_pending(op->txn, op->session, &op->head, &op->arena, &items, &count, error);
  if (code) return code;
  struct fate *fates = arena_zalloc(&op->arena, count, sizeof *fates);
  if (!fates) return fail(error, TIDINGS_E_NOMEM, "no memory to resume a forked session");
  for (size_t i = 0; i < count; i++) {
    struct origin origin = {0};
    if (items[i].copied) code = item_get_origin(op->txn, op->session, items[i].n, &origin, error);
    if (code) return code;
    if (is_named(named, origin.delivery))
      fates[ended++] =
          (struct fate){items[i].n, origin.delivery, origin.outcome, (uint8_t)REASON_PARENT};
  }
  return ending_remove(op, fates, ended, SETTLED_BY_RESUME, error);
}
