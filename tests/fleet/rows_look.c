/* SPDX-License-Identifier: MIT
 *
 * tests/fleet/rows_look.c: checks that each way of reading in a transaction gives the model's rows.
 */
#include <stdarg.h>
#include <unistd.h>

#include "rows.h"

struct rows_process rows_self;

uint32_t rows_random(uint32_t below) {
  uint64_t *state = &rows_self.model->random;
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return (uint32_t)(*state * 0x2545f4914f6cdd1du >> 32) % below;
}

void rows_broken(const char *format, ...) {
  va_list values;
  printf("not ok - process %c, step %u: ", rows_self.name, rows_self.model->step);
  va_start(values, format);
  (void)vprintf(format, values);
  va_end(values);
  printf("\n");
  (void)fflush(stdout);
  _exit(1);
}

/* -- rows -------------------------------------------------------------------------------------- */

static const uint8_t kinds[ROW_KINDS] = {3, 7, 4, 5, 6};
static const uint32_t counts[ROW_KINDS] = {1, 8, MOST_ROWS, MOST_ROWS, 12};

uint8_t rows_kind(int kind) { return kinds[kind]; }
bool rows_ends(int kind) { return kind == ITEM || kind == NUMBERED; }
uint32_t rows_first(int kind) { return rows_ends(kind); }
uint32_t rows_beyond(int kind) { return counts[kind]; }

/* Spreads the rows of kind LOOKED over all numbers. */
uint64_t rows_n(int kind, uint32_t at) {
  return kind == LOOKED ? at * UINT64_C(0x0a00000000000001) : at;
}

struct db_key rows_key(uint32_t session, int kind, uint32_t at) {
  struct db_key key;
  uint32_t session_be = htobe32(session + 1);
  uint64_t n_be = htobe64(rows_n(kind, at));
  memcpy(key.bytes, &session_be, 4);
  key.bytes[4] = kinds[kind];
  memcpy(key.bytes + 5, &n_be, 8);
  return key;
}

/* Returns an event, whose row is one of kind LOOKED. */
struct db_event rows_event(uint32_t session, uint32_t id) {
  static const char ids[IDS + 1] = "abcdef";
  return (struct db_event){.source = span_text("rows"),
                           .id = span_of(ids + id, 1),
                           .since_ms = 1000,
                           .row = rows_key(session, LOOKED, id)};
}

static uint8_t byte_of(const struct row *row, size_t at) {
  return (uint8_t)(row->seed >> at % 4 * 8 ^ at / 4);
}

bool rows_is_value(const struct row *row, struct tidings_span value) {
  bool same = value.ptr && value.len == row->len;
  for (size_t i = 0; same && i < value.len; i++) same = (uint8_t)value.ptr[i] == byte_of(row, i);
  return same;
}

uint32_t rows_newest(const struct session *session, int kind) {
  uint32_t at = counts[kind];
  while (at && !session->rows[kind][at - 1].there) at--;
  return at ? at - 1 : 0;
}

bool rows_failed(struct turn *turn, int rc, const char *what) {
  struct tidings_error error = {.size = sizeof error};
  if (!rc) return false;
  turn->failed = true;
  if (db_failed(&error, rc, what) != TIDINGS_E_BUSY ||
      !(turn->hurries || (turn->declared.stale && rc == PG_E_OUTDATED)))
    rows_broken("%s", error.text);
  return true;
}

void rows_put(struct turn *turn, struct view *view, int kind, uint32_t at, struct row row) {
  struct db_key key = rows_key(view->session, kind, at);
  void *room = NULL;
  if (turn->failed || rows_failed(turn, db_put_room(&turn->txn, &key, row.len, &room), "put"))
    return;
  for (size_t i = 0; i < row.len; i++) ((uint8_t *)room)[i] = byte_of(&row, i);
  row.there = true;
  row.again = rows_ends(kind) && at < view->rows.floor_most[kind];
  view->rows.rows[kind][at] = row;
  view->wrote = true;
}

void rows_delete(struct turn *turn, struct view *view, int kind, uint32_t at) {
  struct db_key key = rows_key(view->session, kind, at);
  if (turn->failed || rows_failed(turn, db_delete(&turn->txn, &key), "delete")) return;
  view->rows.rows[kind][at].there = false;
  view->wrote = true;
}

/* -- the begin --------------------------------------------------------------------------------- */

static struct row item_of(uint32_t seed) { return (struct row){.seed = seed, .len = 12}; }

/* Makes the next push an item. `puts`: also writes its rows; false: they exist already. */
static void fold(struct turn *turn, struct view *view, bool puts) {
  struct row *head = &view->rows.rows[HEAD][0];
  struct row item = item_of(view->rows.pushes[view->folded++]);
  struct row next = {.seed = head->seed + 1, .len = 8, .there = true};
  item.there = true;
  if (puts) {
    rows_put(turn, view, ITEM, head->seed, item);
    rows_put(turn, view, HEAD, 0, next);
  } else {
    view->rows.rows[ITEM][head->seed] = item;
    *head = next;
  }
}

void rows_view(struct turn *turn, uint32_t session) {
  struct view *view = &turn->declared;
  struct tidings_span body;
  *view = (struct view){.session = session, .rows = rows_self.model->sessions[session]};
  uint64_t stamp = db_remote->stamp(&turn->txn), version = view->rows.version;
  view->stale = turn->txn.may_be_stale && stamp != version;
  if (view->stale) return;
  if (stamp != version) rows_broken("the version is %ju, read as %ju", version, stamp);
  if (!version) rows_put(turn, view, HEAD, 0, (struct row){.seed = 1, .len = 8});
  uint64_t before = db_remote->inbox_places(&turn->txn, UINT64_MAX).count;
  if (before > view->rows.push_count) rows_broken("pushes are there twice");
  while (view->folded < before) fold(turn, view, false);
  while (!turn->failed && !rows_failed(turn, db_remote->inbox_next(&turn->txn, &body), "fold") &&
         body.ptr) {
    struct row item = item_of(view->rows.pushes[view->folded]);
    if (view->folded == view->rows.push_count || !rows_is_value(&item, body))
      rows_broken("a push is there that should not be");
    fold(turn, view, true);
  }
  if (!turn->failed && !turn->txn.may_be_stale && view->folded < view->rows.push_count)
    rows_broken("%u of %u pushes are there", view->folded, view->rows.push_count);
}

/* Makes the view of another session, with the part of its inbox that this process has seen. */
void rows_view_other(struct turn *turn, uint32_t session) {
  struct view *view = &turn->other;
  struct db_key key = rows_key(session, HEAD, 0);
  struct tidings_span value;
  uint32_t next;
  *view = (struct view){.session = session, .rows = rows_self.model->sessions[session]};
  if (rows_failed(turn, db_get(&turn->txn, &key, &value), "get")) return;
  if (value.len != 8) rows_broken("the head of another session has %zu bytes", value.len);
  memcpy(&next, value.ptr, sizeof next);
  next = le32toh(next);
  if (next - view->rows.rows[HEAD][0].seed > view->rows.push_count)
    rows_broken("the head of another session is wrong: %u", next);
  while (view->rows.rows[HEAD][0].seed < next) fold(turn, view, false);
  turn->has_other = true;
}

/* -- reading ----------------------------------------------------------------------------------- */

void rows_get(struct turn *turn, const struct view *view, int kind, uint32_t at) {
  const struct row *row = &view->rows.rows[kind][at];
  struct db_key key = rows_key(view->session, kind, at);
  struct tidings_span value;
  if (turn->failed || rows_failed(turn, db_get(&turn->txn, &key, &value), "get")) return;
  if (view->stale) return;
  if (row->there ? !rows_is_value(row, value) : value.ptr != NULL)
    rows_broken("session %u, kind %d, row %u: %s", view->session, kind, at,
                value.ptr ? "another value" : "it is not there");
}

/* Returns the index of the row under the cursor; beyond the last: it is of another kind, or there
 * is none. */
static uint32_t stands_at(const struct db_cursor *cursor, const struct view *view, int kind) {
  struct db_key key = rows_key(view->session, kind, 0);
  uint64_t n;
  if (!cursor->key || memcmp(cursor->key, key.bytes, 5) != 0) return counts[kind];
  memcpy(&n, cursor->key + 5, sizeof n);
  n = be64toh(n);
  uint32_t at = rows_first(kind);
  while (at < counts[kind] && rows_n(kind, at) != n) at++;
  if (at == counts[kind] || !view->rows.rows[kind][at].there ||
      !rows_is_value(&view->rows.rows[kind][at], cursor->value))
    rows_broken("session %u, kind %d: a cursor stands at %ju: %s", view->session, kind, n,
                at == counts[kind] || !view->rows.rows[kind][at].there ? "no row" : "wrong value");
  return at;
}

/* May a near cursor leave the row out? */
static bool is_far(const struct view *view, int kind, uint32_t at) {
  return kind == LOOKED || (rows_ends(kind) && at < view->rows.floor_most[kind]);
}

void rows_forward(struct turn *turn, const struct view *view, int kind, uint32_t from, bool near) {
  struct db_cursor cursor;
  struct db_key key = rows_key(view->session, kind, from);
  if (turn->failed || view->stale) return;
  if (near ? db_remote->cursor_open_near(&turn->txn, &cursor) : db_cursor_open(&turn->txn, &cursor))
    rows_broken("no memory");
  int rc = db_cursor_seek(&cursor, &key);
  for (uint32_t at = from; !rows_failed(turn, rc, "seek");) {
    uint32_t stands = stands_at(&cursor, view, kind);
    for (; at < stands; at++)
      if (view->rows.rows[kind][at].there && !(near && is_far(view, kind, at)))
        rows_broken("session %u, kind %d: a %s cursor leaves out row %u, floor %ju", view->session,
                    kind, near ? "near" : "full", at, view->rows.floor_most[kind]);
    if (stands == counts[kind]) break;
    at = stands + 1;
    rc = db_cursor_next(&cursor);
  }
  db_cursor_close(&cursor);
}

void rows_backward(struct turn *turn, const struct view *view, int kind, uint32_t from) {
  struct db_cursor cursor;
  uint32_t steps = 6;
  if (turn->failed || view->stale) return;
  if (db_cursor_open(&turn->txn, &cursor)) rows_broken("no memory");
  for (uint32_t at = from; steps--;) {
    struct db_key key = rows_key(view->session, kind, at);
    if (rows_failed(turn, db_cursor_before(&cursor, &key), "seek")) break;
    uint32_t stands = stands_at(&cursor, view, kind), wanted = at;
    while (wanted && !view->rows.rows[kind][wanted - 1].there) wanted--;
    if (wanted ? stands != wanted - 1 : stands != counts[kind])
      rows_broken("session %u, kind %d: before row %u a cursor stands at %u instead of %u",
                  view->session, kind, at, stands, wanted ? wanted - 1 : counts[kind]);
    if (!wanted) break;
    at = stands;
  }
  db_cursor_close(&cursor);
}
