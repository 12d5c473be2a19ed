/* SPDX-License-Identifier: MIT
 *
 * store/rows/inbox.c: some engines keep pushes in an inbox. When a transaction of a session begins,
 * the session's pushes become items, in the order of the inbox. A snapshot numbers these items for
 * itself. The next write gives them the same numbers, unless the head has changed since the
 * snapshot.
 */
#include "store/rows/rows.h"

static int put_item(struct store_txn *txn, uint32_t session, uint64_t n, struct tidings_span body,
                    struct tidings_error *error) {
  struct db_key key = row_key(session, ROW_ITEM, n);
  struct buffer copy = BUFFER_EMPTY;
  buffer_span(&copy, body);
  return row_put(txn, &key, &copy, error);
}

static int put_all(struct store_txn *txn, uint32_t session, struct tidings_span body,
                   struct tidings_error *error) {
  struct arena arena = ARENA_EMPTY;
  struct head head;
  uint64_t last = 0;
  int code = head_get(txn, session, &arena, &head, error), rc = 0;
  if (!code) code = item_last(txn, session, &head, &last, error);
  while (!code && !rc && body.ptr) {
    code = put_item(txn, session, ++last, body, error);
    if (!code) rc = db_remote->inbox_next(txn->db, &body);
  }
  arena_free(&arena);
  return rc ? db_failed(error, rc, "take in what was pushed") : code;
}

int inbox_fold(struct store_txn *txn, const struct db_scope *scope, bool *ret_again,
               struct tidings_error *error) {
  struct tidings_span body;
  uint32_t session = scope ? scope->session : 0;
  int code = 0;
  *ret_again = false;
  if (!scope || !db_remote || !db_remote->inbox_waits(txn->db)) return 0;
  if (!session) code = session_find(txn, scope->name, &session, error);
  if (!code && !session && !txn->writing) {
    *ret_again = true;
    return 0;
  }
  if (!code && !session) code = session_add(txn, scope->name, &session, error);
  if (code) return code;
  if (txn->writing) txn->folded = session;
  if (txn->only_names) return 0;
  int rc = db_remote->inbox_next(txn->db, &body);
  if (rc) return db_failed(error, rc, "take in what was pushed");
  return body.ptr ? put_all(txn, session, body, error) : 0;
}

int inbox_finish(struct store_txn *txn, struct tidings_error *error) {
  struct arena arena = ARENA_EMPTY;
  struct head head;
  if (!txn->folded) return 0;
  int code = head_get(txn, txn->folded, &arena, &head, error);
  if (!code) code = head_put(txn, txn->folded, &head, error);
  arena_free(&arena);
  return code;
}

static struct db_places places_of(const struct store_txn *txn, uint64_t most) {
  return db_remote ? db_remote->inbox_places(txn->db, most) : (struct db_places){0, 0};
}

struct store_mark store_mark(const struct store_txn *txn, const struct head *head) {
  return (struct store_mark){head->generation, places_of(txn, UINT64_MAX)};
}

bool store_mark_holds(const struct store_txn *txn, const struct head *head,
                      const struct store_mark *mark) {
  const struct db_places places = places_of(txn, mark->places.count);
  return head->generation == mark->generation && places.count == mark->places.count &&
         places.stamp == mark->places.stamp;
}
