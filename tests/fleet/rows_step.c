/* SPDX-License-Identifier: MIT
 *
 * tests/fleet/rows_step.c: a process makes a random transaction in its turn, and changes the model
 * in the same way.
 */
#include "rows.h"

struct tidings_span rows_name(uint32_t session) {
  static const char *const names[SESSIONS] = {"first", "second", "third"};
  return span_text(names[session]);
}

static struct session *session_at(uint32_t session) { return &rows_self.model->sessions[session]; }

/* Names the session by its number, its name or both. */
static struct db_scope scope_of(uint32_t session) {
  uint32_t how = session_at(session)->version ? rows_random(3) : 1;
  struct db_scope scope = {.session = how == 1 ? 0 : session + 1};
  if (how) scope.name = rows_name(session);
  return scope;
}

/* -- the end of a write ------------------------------------------------------------------------ */

static void note_view(const struct view *view) {
  struct session *session = session_at(view->session);
  uint32_t left = view->rows.push_count - view->folded;
  if (!view->wrote) return;
  *session = view->rows;
  session->version++;
  memmove(session->pushes, session->pushes + view->folded, left * sizeof *session->pushes);
  session->push_count = left;
  for (int id = 0; id < IDS; id++) session->noted[id] |= view->noted[id];
  for (int kind = 0; kind < ROW_KINDS; kind++) {
    uint64_t newest = rows_newest(session, kind), reported = view->reported[kind];
    uint64_t floor = reported < newest ? reported : newest;
    if (floor > session->floor_most[kind]) session->floor_most[kind] = floor;
  }
}

static void note_turn(const struct turn *turn) {
  rows_self.model->counter += turn->counted;
  note_view(&turn->declared);
  if (turn->has_other) note_view(&turn->other);
}

static void report_ended(struct turn *turn, struct view *view, int kind) {
  db_remote->ended_below(&turn->txn, view->session + 1, rows_kind(kind), view->rows.ended[kind]);
  view->reported[kind] = view->rows.ended[kind];
}

static void put_random(struct turn *turn, struct view *view, int kind, uint32_t at) {
  uint32_t lens[] = {0, 8, rows_random(60), rows_random(3000)};
  struct row row = {.seed = rows_random(UINT32_MAX), .len = (uint16_t)lens[rows_random(4)]};
  rows_put(turn, view, kind, at, row);
}

/* Does the server have what was written? The version alone does not show it, because the engine
 * also raises it to make a late commit void, and may not know that it did. */
static bool has_written(struct turn *next, const struct view *view) {
  const struct session *before = session_at(view->session);
  for (int kind = 0; kind < ROW_KINDS; kind++) {
    for (uint32_t at = 0; at < MOST_ROWS; at++) {
      const struct row *row = &view->rows.rows[kind][at], *old = &before->rows[kind][at];
      struct db_key key = rows_key(view->session, kind, at);
      struct tidings_span value;
      if (row->there == old->there && (!row->there || row->seed == old->seed || !row->len))
        continue;
      if (db_get(&next->txn, &key, &value)) rows_broken("a row that may be stored is not read");
      return row->there ? rows_is_value(row, value) : !value.ptr;
    }
  }
  return true;
}

/* Finds out a commit's unknown outcome, by a write that has the lock, because a late commit cannot
 * come after that. */
static void find_outcome(const struct turn *turn) {
  const struct view *view = turn->declared.wrote ? &turn->declared : &turn->other;
  uint32_t session = view->session;
  struct db_scope scope = {.session = session + 1};
  struct turn next = {.hurries = false};
  struct tidings_error error = {.size = sizeof error};
  db_txn_clear(&next.txn);
  if (db_write(rows_self.db, &scope, store_deadline_in(LONG_MS), &next.txn, &error))
    rows_broken("%s", error.text);
  uint64_t stamp = db_remote->stamp(&next.txn);
  if (stamp == session_at(session)->version + 1 && !turn->declared.stale) {
    if (has_written(&next, view)) note_turn(turn);
    else session_at(session)->version = stamp;
  }
  rows_view(&next, session);
  put_random(&next, &next.declared, KEPT, 0);
  if (db_commit(&next.txn, &error)) rows_broken("%s", error.text);
  note_turn(&next);
}

/* Returns whether the transaction is to be made again. */
static bool commit(struct turn *turn) {
  struct tidings_error error = {.size = sizeof error};
  bool wrote = turn->declared.wrote || (turn->has_other && turn->other.wrote) || turn->counted;
  int code = db_commit(&turn->txn, &error);
  if (!code && wrote && turn->declared.stale) rows_broken("an outdated write was committed");
  if (turn->txn.outdated && !turn->declared.stale)
    rows_broken("it is not outdated: %s", error.text);
  if (turn->txn.outdated) return true;
  if (!code) note_turn(turn);
  else if (!turn->hurries) rows_broken("%s", error.text);
  else if (code != TIDINGS_E_OUTCOME_UNKNOWN && code != TIDINGS_E_BUSY)
    rows_broken("a late commit: %s", error.text);
  else if (turn->declared.wrote || (turn->has_other && turn->other.wrote)) find_outcome(turn);
  return false;
}

/* -- operations -------------------------------------------------------------------------------- */

static uint32_t choose_row(const struct view *view, int kind) {
  uint32_t newest = rows_newest(&view->rows, kind), first = rows_first(kind);
  if (!rows_ends(kind)) return rows_random(rows_beyond(kind));
  if (newest < first) newest = first;
  /* Prefers a row that was written again, or one of the last. */
  uint32_t again = first + rows_random(newest), most = rows_random(2) ? newest : 0;
  for (; again < most; again++)
    if (view->rows.rows[kind][again].again) return again;
  if (newest > 8 && rows_random(3)) first = newest - 8;
  return first + rows_random(newest - first + 1);
}

static void put_new(struct turn *turn, struct view *view) {
  const struct row *head = &view->rows.rows[HEAD][0];
  uint32_t numbered = rows_newest(&view->rows, NUMBERED) + 1 + rows_random(2);
  if (view->stale) return;
  if (head->seed + MOST_PUSHES < MOST_ROWS) {
    struct row next = {.seed = head->seed + 1, .len = 8};
    put_random(turn, view, ITEM, head->seed);
    rows_put(turn, view, HEAD, 0, next);
  }
  if (numbered < MOST_ROWS) put_random(turn, view, NUMBERED, numbered);
}

/* Puts and deletes a row several times in one transaction. */
static void put_and_delete(struct turn *turn, struct view *view, int kind, uint32_t at) {
  for (uint32_t i = 2 + rows_random(3); i--;) {
    if (rows_random(2)) put_random(turn, view, kind, at);
    else rows_delete(turn, view, kind, at);
    if (!rows_random(3)) rows_get(turn, view, kind, at);
  }
}

static void delete_by_cursor(struct turn *turn, struct view *view, int kind, uint32_t from) {
  struct db_cursor cursor;
  struct db_key key = rows_key(view->session, kind, from);
  if (turn->failed || view->stale) return;
  if (db_cursor_open(&turn->txn, &cursor)) rows_broken("no memory");
  int rc = db_cursor_seek(&cursor, &key);
  for (int i = 0; i < 4 && !rows_failed(turn, rc, "seek"); i++) {
    uint32_t at = from;
    while (at < rows_beyond(kind) && !view->rows.rows[kind][at].there) at++;
    key = rows_key(view->session, kind, at);
    if (at == rows_beyond(kind)) break;
    if (!cursor.key || memcmp(cursor.key, key.bytes, sizeof key.bytes) != 0)
      rows_broken("a cursor that deletes passes over row %u of kind %d", at, kind);
    if (i % 2 == 0 && !rows_failed(turn, db_cursor_delete(&cursor), "delete")) {
      view->rows.rows[kind][at].there = false;
      view->wrote = true;
    }
    from = at + 1;
    rc = turn->failed ? 0 : db_cursor_next(&cursor);
  }
  db_cursor_close(&cursor);
}

static void end_some(struct turn *turn, struct view *view, int kind) {
  uint64_t most = rows_newest(&view->rows, kind) + 2, *ended = &view->rows.ended[kind];
  uint64_t next = *ended + rows_random(16);
  if (view->stale) return;
  if (next > most) next = most;
  if (next > *ended) *ended = next; /* it grows, even if the newest row is gone */
  report_ended(turn, view, kind);
}

/* Writes rows that may be in the history already, and that move there again. */
static void put_again(struct turn *turn, struct view *view, int kind) {
  uint64_t floor = view->rows.floor_most[kind];
  if (view->stale || floor < 2) return;
  put_random(turn, view, kind, 1 + rows_random((uint32_t)floor - 1));
  end_some(turn, view, kind);
}

/* Increments a row of the store, which other processes also write; the session's counter shows
 * whether it was done. */
static void count_up(struct turn *turn, struct view *view) {
  struct db_key key = {{0, 0, 0, 0, PG_META, 0, 0, 0, 0, 0, 0, 0, 9}};
  struct tidings_span value;
  uint32_t counter = 0;
  if (turn->failed || turn->counted || rows_failed(turn, db_remote->own(&turn->txn, 0), "own") ||
      rows_failed(turn, db_get(&turn->txn, &key, &value), "get"))
    return;
  if (value.ptr) memcpy(&counter, value.ptr, sizeof counter);
  if (counter++ != rows_self.model->counter) rows_broken("the counter is %u", counter - 1);
  rows_failed(turn, db_put(&turn->txn, &key, span_of((char *)&counter, sizeof counter)), "put");
  turn->counted = !turn->failed;
  put_random(turn, view, KEPT, 0);
}

/* Looks up the declared event, or another one, and checks whether it was seen. */
static void look_for_event(struct turn *turn) {
  const struct view *view = &turn->declared;
  uint32_t id = rows_random(3) ? turn->event : rows_random(IDS);
  struct db_event event = rows_event(view->session, id);
  bool seen = false;
  if (turn->failed || view->stale ||
      rows_failed(turn,
                  db_remote->inbox_seen(&turn->txn, view->session + 1, event.source, event.id,
                                        event.since_ms, &seen),
                  "look for an event"))
    return;
  if (seen != view->rows.noted[id]) rows_broken("event %u was %sseen", id, seen ? "" : "not ");
  rows_get(turn, view, LOOKED, id);
}

/* Notes an event. Nothing looks for the note before the commit. */
static void note_event(struct turn *turn, struct view *view) {
  uint32_t id = rows_random(IDS);
  struct db_event event = rows_event(view->session, id);
  if (turn->failed || view->stale ||
      rows_failed(turn,
                  db_remote->inbox_note(&turn->txn, view->session + 1, event.source, event.id,
                                        event.since_ms, (int64_t)LONG_MS * 1000),
                  "note an event"))
    return;
  view->noted[id] = true;
  put_random(turn, view, LOOKED, id);
}

static void read_some(struct turn *turn, const struct view *view) {
  int kind = (int)rows_random(ROW_KINDS);
  uint32_t at = choose_row(view, kind);
  switch (rows_random(5)) {
  case 4: look_for_event(turn); break;
  case 0: rows_get(turn, view, kind, at); break;
  case 1: rows_backward(turn, view, kind, at); break;
  default: rows_forward(turn, view, kind, at, rows_random(2)); break;
  }
}

static void write_some(struct turn *turn, struct view *view) {
  int kind = KEPT + (int)rows_random(ROW_KINDS - KEPT);
  uint32_t at = choose_row(view, kind);
  switch (rows_random(11)) {
  case 0:
    rows_get(turn, view, kind, at);
    put_random(turn, view, kind, at);
    break;
  case 1:
    rows_delete(turn, view, kind, at);
    rows_forward(turn, view, kind, rows_first(kind), false);
    break;
  case 2: put_and_delete(turn, view, kind, at); break;
  case 3: delete_by_cursor(turn, view, kind, at); break;
  case 4: end_some(turn, view, ITEM); break;
  case 5: end_some(turn, view, NUMBERED); break;
  case 6:
    if (!rows_random(3)) count_up(turn, view);
    break;
  case 8: note_event(turn, view); break;
  case 7: put_again(turn, view, at % 2 ? ITEM : NUMBERED); break;
  default: put_new(turn, view); break;
  }
}

/* -- transactions ------------------------------------------------------------------------------ */

static void look_at_other(struct turn *turn) {
  uint32_t session = rows_random(SESSIONS);
  if (!turn->failed && !turn->has_other && session != turn->declared.session &&
      session_at(session)->version)
    rows_view_other(turn, session);
}

static void work_on(struct turn *turn, bool writes) {
  struct view *view = &turn->declared;
  for (int kind = ITEM; writes && kind <= NUMBERED; kind++)
    if (!turn->failed && !view->stale && rows_random(4)) report_ended(turn, view, kind);
  bool only_other = !rows_random(4);
  for (uint32_t i = 1 + rows_random(8); i-- && !turn->failed;) {
    if (only_other || !rows_random(8)) look_at_other(turn);
    struct view *at = turn->has_other && (only_other || rows_random(2)) ? &turn->other : view;
    if (turn->failed) break;
    if (writes && rows_random(3)) write_some(turn, at);
    else read_some(turn, at);
  }
}

static bool begin_turn(struct turn *turn, struct db_scope *scope, bool writes, uint32_t session) {
  uint32_t hurry = session_at(session)->version ? rows_random(24) : 8;
  uint32_t ms = hurry == 0 ? 1 + rows_random(8) : hurry < 8 ? SHORT_MS : LONG_MS;
  struct tidings_error error = {.size = sizeof error};
  *turn = (struct turn){.hurries = ms != LONG_MS};
  db_txn_clear(&turn->txn);
  turn->event = rows_random(IDS);
  turn->said = rows_event(session, turn->event);
  if (rows_random(2)) scope->event = &turn->said;
  store_deadline deadline = store_deadline_in(ms);
  int code = writes ? db_write(rows_self.db, scope, deadline, &turn->txn, &error)
                    : db_read(rows_self.db, scope, deadline, &turn->txn, &error);
  if (code && (!turn->hurries || code != TIDINGS_E_BUSY)) rows_broken("%s", error.text);
  return !code;
}

/* Returns whether the transaction is to be made again, because it was outdated. */
static bool write_randomly(uint32_t session, bool optimistic) {
  struct db_scope scope = scope_of(session);
  struct turn turn;
  scope.optimistic = optimistic;
  if (!begin_turn(&turn, &scope, true, session)) return false;
  bool new = !session_at(session)->version;
  if (new)
    rows_failed(&turn, db_remote->name_session(&turn.txn, session + 1, rows_name(session)), "name");
  rows_view(&turn, session);
  if (turn.declared.stale && !optimistic) rows_broken("it was read as outdated without need");
  work_on(&turn, true);
  if (!turn.failed && rows_random(6)) return commit(&turn);
  db_end(&turn.txn);
  return turn.declared.stale;
}

static void read_randomly(uint32_t session) {
  struct session *is = session_at(session);
  struct db_scope scope = scope_of(session);
  uint64_t stamp = rows_self.stamps[session];
  struct turn turn;
  if (rows_random(2) && stamp) {
    bool same = db_remote->is_unchanged(rows_self.db, session + 1, stamp,
                                        store_deadline_in(LONG_MS), &scope.has_answer);
    if (same && (stamp != is->version || is->push_count))
      rows_broken("session %u has changed, and it is not seen", session);
  }
  if (!begin_turn(&turn, &scope, false, session)) return;
  rows_view(&turn, session);
  rows_self.stamps[session] = is->version;
  work_on(&turn, false);
  db_end(&turn.txn);
}

int rows_write(uint32_t session, uint32_t ms, bool gives_up, int code) {
  struct db_scope scope = {.session = session + 1};
  struct tidings_error error = {.size = sizeof error};
  struct turn turn = {.hurries = code != 0};
  db_txn_clear(&turn.txn);
  int got = db_write(rows_self.db, &scope, store_deadline_in(ms), &turn.txn, &error);
  if (got && got != code) rows_broken("%s", error.text);
  if (got) return got;
  rows_view(&turn, session);
  for (int kind = ITEM; kind <= NUMBERED; kind++) report_ended(&turn, &turn.declared, kind);
  put_random(&turn, &turn.declared, KEPT, 1);
  if (gives_up || turn.failed) db_end(&turn.txn);
  else got = db_commit(&turn.txn, &error);
  if (got && code == TIDINGS_E_OUTCOME_UNKNOWN) find_outcome(&turn);
  else if (got && got != code) rows_broken("%s", error.text);
  else if (!got && !gives_up && !turn.failed) note_turn(&turn);
  return turn.failed ? code : got;
}

void rows_check(uint32_t session) {
  struct db_scope scope = scope_of(session);
  struct tidings_error error = {.size = sizeof error};
  struct turn turn = {.hurries = false};
  db_txn_clear(&turn.txn);
  if (!session_at(session)->version) return;
  if (db_read(rows_self.db, &scope, store_deadline_in(LONG_MS), &turn.txn, &error))
    rows_broken("%s", error.text);
  rows_view(&turn, session);
  for (int kind = 0; kind < ROW_KINDS; kind++) {
    for (int i = 0; i < (kind == LOOKED ? 6 : 2); i++)
      rows_get(&turn, &turn.declared, kind, choose_row(&turn.declared, kind));
    rows_forward(&turn, &turn.declared, kind, rows_first(kind), true);
    rows_backward(&turn, &turn.declared, kind, rows_beyond(kind));
    rows_forward(&turn, &turn.declared, kind, rows_first(kind), false);
  }
  rows_self.stamps[session] = session_at(session)->version;
  db_end(&turn.txn);
}

/* -- steps ------------------------------------------------------------------------------------- */

static void push_one(uint32_t session) {
  struct session *is = session_at(session);
  struct row item = {.seed = rows_random(UINT32_MAX), .len = 12};
  struct tidings_error error = {.size = sizeof error};
  char body[12];
  if (is->push_count == MOST_PUSHES || is->rows[HEAD][0].seed + 2 * MOST_PUSHES > MOST_ROWS) return;
  for (size_t i = 0; i < sizeof body; i++)
    body[i] = (char)(item.seed >> i % 4 * 8 ^ i / 4); /* like the bytes of rows_put */
  struct db_push push = {.error = &error, .bytes = sizeof body};
  push.row = (struct db_inbox){.session = rows_name(session),
                               .body = span_of(body, sizeof body),
                               .kind_source = span_text("rows"),
                               .pending_limit = 10000,
                               .rings = rows_random(2)};
  if (db_push(rows_self.db, &push, store_deadline_in(LONG_MS))) rows_broken("%s", error.text);
  is->pushes[is->push_count++] = item.seed;
}

static struct turn held;
static bool holds;

/* Checks that the rows that a snapshot has loaded stay as they were, whatever was written
 * meanwhile, and releases it. */
void rows_release_snapshot(void) {
  if (!holds) return;
  for (int kind = 0; kind < LOOKED; kind++)
    rows_forward(&held, &held.declared, kind, rows_first(kind), true);
  db_end(&held.txn);
  holds = false;
}

static void hold_snapshot(uint32_t session) {
  struct db_scope scope = scope_of(session);
  if (!begin_turn(&held, &scope, false, session)) return;
  held.hurries = false;
  rows_view(&held, session);
  holds = true;
}

void rows_step(void) {
  uint32_t session = rows_random(SESSIONS);
  if (!rows_random(3)) push_one(session);
  if (session_at(session)->version && !rows_random(4)) {
    if (holds) rows_release_snapshot();
    else hold_snapshot(session);
  }
  if (session_at(session)->version && !rows_random(3)) read_randomly(session);
  else if (write_randomly(session, rows_random(2))) write_randomly(session, false);
  if (rows_random(2)) rows_check(session);
}
