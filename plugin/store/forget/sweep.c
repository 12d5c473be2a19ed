/* SPDX-License-Identifier: MIT
 *
 * store/forget/sweep.c: forgets rows of sessions in which no delivery is settled. The sweep goes
 * round all sessions: it visits some rows at each commit that is not a push, and rests for a while
 * after each round. A row of its own says how far it got. It finds the rows to purge in a snapshot,
 * so that a damaged page in an unused session cannot spoil the write of another.
 *
 * In the end a closed session has only its name and its head. They stay as long as a running
 * process may remember the session's number: see purge.c.
 */
#include "store/forget/sweep.h"

#include <errno.h>

enum {
  SWEEP_ROW = 2, /* row 0 is the schema's; the secret has another */
  FORGET_ROWS = 64,
  LOOK_AT_ROWS = 256,
  A_SESSION = 4,     /* turning to a session costs as much as this many rows */
  REST_MS = 3600000, /* the rest between two rounds */
};

/* -- its row ----------------------------------------------------------------------------------- */

/* If the store was never swept, or the row is damaged, the sweep is at the beginning of a round. */
int sweep_get(struct store_txn *txn, struct sweep *ret_sweep) {
  struct db_key key = row_key(0, ROW_META, SWEEP_ROW);
  struct sweep sweep = {0};
  struct record_reader reader;
  struct tidings_span value;
  int rc = row_get(txn, &key, &value);
  if (rc) return rc;
  *ret_sweep = (struct sweep){.session = 1};
  if (!value.ptr || !record_open(&reader, &key, value)) return 0;
  uint64_t session = record_read_u64(&reader);
  sweep.session = (uint32_t)session;
  sweep.rule = record_read_u64(&reader);
  sweep.n = record_read_u64(&reader);
  sweep.purgeable = record_read_u64(&reader);
  sweep.found = record_read_u64(&reader);
  sweep.name = record_read_u64(&reader);
  sweep.rested_ms = record_read_i64(&reader);
  if (record_close(&reader) && session <= UINT32_MAX && sweep.rule < RETENTION_RULES)
    *ret_sweep = sweep;
  return 0;
}

int sweep_put(struct store_txn *txn, const struct sweep *sweep, struct tidings_error *error) {
  struct db_key key = row_key(0, ROW_META, SWEEP_ROW);
  struct buffer body = BUFFER_EMPTY;
  record_begin(&body);
  record_u64(&body, sweep->session);
  record_u64(&body, sweep->rule);
  record_u64(&body, sweep->n);
  record_u64(&body, sweep->purgeable);
  record_u64(&body, sweep->found);
  record_u64(&body, sweep->name);
  record_i64(&body, sweep->rested_ms);
  return row_put(txn, &key, &body, error);
}

/* Setting the clock back ends the rest between two rounds. */
bool sweep_rests(const struct sweep *sweep, int64_t now_ms) {
  return !sweep->session && now_ms >= sweep->rested_ms &&
         !retention_is_older(now_ms, sweep->rested_ms, REST_MS);
}

/* -- what goes --------------------------------------------------------------------------------- */

struct findings {
  struct db_key rows[FORGET_ROWS], ids[FORGET_ROWS]; /* ids: the rows of the deliveries' ids */
  size_t count, id_count;
};

static int note_down(struct visit *visit, enum row_kind kind, uint64_t n) {
  struct findings *findings = visit->context;
  struct db_key id;
  if (kind == ROW_DELIVERY && visit_delivery_id(visit, &id))
    findings->ids[findings->id_count++] = id;
  findings->rows[findings->count++] = row_key(visit->session, kind, n);
  return 0;
}

struct round {
  struct store_txn *txn;           /* a snapshot */
  const struct store_txn *writing; /* the rows of sessions that this write has touched stay */
  uint32_t busy;                   /* the rows of this session stay too */
  int64_t now_ms;
  bool pressed;
  struct sweep *sweep;
  struct findings *findings;
  size_t may_look;
};

static void turn_to(struct sweep *sweep, uint64_t session) {
  sweep->session = session <= UINT32_MAX ? (uint32_t)session : 0;
  sweep->rule = 0;
  sweep->n = 0;
}

/* Turns to the session that is next in the store. *ret_found false: there are no more. */
static int find_session(struct round *round, bool *ret_found) {
  struct db_key from = row_key(round->sweep->session, 0, 0);
  struct db_cursor cursor;
  int rc = db_cursor_open(round->txn->db, &cursor);
  if (rc) return rc;
  rc = db_cursor_seek(&cursor, &from);
  bool found = !rc && cursor.key;
  uint32_t session = found ? row_key_session(cursor.key) : 0;
  db_cursor_close(&cursor);
  if (found && session != round->sweep->session) turn_to(round->sweep, session);
  if (!rc) *ret_found = found;
  return rc;
}

static bool is_busy(const struct round *round) {
  bool busy = round->sweep->session == round->busy;
  for (size_t i = 0; i < round->writing->db->touched_count; i++)
    busy = busy || round->writing->db->touched[i] == round->sweep->session;
  return busy;
}

/* Ends early when enough rows were visited or found; the sweep then continues at this place. */
static int visit_session(struct round *round, struct visit *visit) {
  struct sweep *sweep = round->sweep;
  bool purgeable = false, done = true;
  int rc = visit_begin(visit);
  if (rc) return rc;
  if (!sweep->rule && !sweep->n) rc = visit_is_purgeable(visit, &purgeable);
  while (!rc && done && sweep->rule < RETENTION_RULES) {
    rc = visit_rows(visit, sweep->rule, &sweep->n, &done);
    if (rc || !done) break;
    sweep->rule++;
    sweep->n = 0;
  }
  visit_end(visit);
  sweep->found += purgeable;
  round->may_look = visit->may_look;
  if (!rc && done) turn_to(sweep, (uint64_t)sweep->session + 1);
  return rc;
}

/* Passes over a session whose head is damaged, because nobody knows what has ended in it. */
static int look_at_session(struct round *round) {
  struct arena arena = ARENA_EMPTY;
  struct head head;
  struct visit visit = {.txn = round->txn,
                        .session = round->sweep->session,
                        .head = &head,
                        .now_ms = round->now_ms,
                        .pressed = round->pressed,
                        .arena = &arena,
                        .forget = note_down,
                        .context = round->findings,
                        .may_look = round->may_look,
                        .may_forget = FORGET_ROWS - round->findings->count};
  bool known = !is_busy(round) && !head_get(round->txn, visit.session, &arena, &head, NULL) &&
               !item_last(round->txn, visit.session, &head, &visit.last, NULL);
  int rc = 0;
  if (known) rc = visit_session(round, &visit);
  else turn_to(round->sweep, (uint64_t)visit.session + 1);
  arena_free(&arena);
  return rc;
}

static void end_round(struct round *round) {
  *round->sweep = (struct sweep){
      .purgeable = round->sweep->found, .name = round->sweep->name, .rested_ms = round->now_ms};
}

static int look_round(struct round *round) {
  while (round->may_look && round->findings->count < FORGET_ROWS) {
    bool found = false;
    round->may_look -= round->may_look > A_SESSION ? A_SESSION : round->may_look;
    int rc = round->sweep->session ? find_session(round, &found) : 0;
    if (!rc && found) rc = look_at_session(round);
    if (rc) return rc;
    if (!found || !round->sweep->session) {
      end_round(round);
      return 0;
    }
  }
  return 0;
}

/* Reads a snapshot of the state that `writing` began with; `writing` holds the writer lock. */
static int find_rows(const struct store_txn *writing, uint32_t busy, int64_t now_ms, bool pressed,
                     struct sweep *sweep, struct findings *findings) {
  struct store_txn beside = {.store = writing->store};
  beside.db = &beside.own;
  int rc = db_look_on(writing->db, beside.db);
  if (rc) return rc;
  struct round round = {.txn = &beside,
                        .writing = writing,
                        .busy = busy,
                        .now_ms = now_ms,
                        .pressed = pressed,
                        .sweep = sweep,
                        .findings = findings,
                        .may_look = LOOK_AT_ROWS};
  rc = look_round(&round);
  db_end(beside.db);
  return rc;
}

/* -- the steps --------------------------------------------------------------------------------- */

static int delete_all(struct store_txn *txn, const struct findings *findings) {
  int rc = 0;
  for (size_t i = 0; !rc && i < findings->count; i++) rc = db_delete(txn->db, &findings->rows[i]);
  for (size_t i = 0; !rc && i < findings->id_count; i++) rc = db_delete(txn->db, &findings->ids[i]);
  return rc;
}

int store_sweep(struct store_txn *txn, uint32_t session, int64_t now_ms,
                struct tidings_error *error) {
  struct findings findings = {.count = 0};
  struct sweep sweep;
  if (db_remote) return 0;
  int rc = sweep_get(txn, &sweep);
  if (rc) return db_failed(error, rc, "read how far it was swept");
  if (sweep_rests(&sweep, now_ms)) return 0;
  if (!sweep.session) turn_to(&sweep, 1);
  rc = find_rows(txn, session, now_ms, false, &sweep, &findings);
  if (rc == ETIMEDOUT) return 0; /* another time */
  if (rc) {
    findings.count = findings.id_count = 0;
    turn_to(&sweep, (uint64_t)sweep.session + 1); /* nothing can be read in this session */
  }
  rc = delete_all(txn, &findings);
  return rc ? db_failed(error, rc, "purge old rows") : sweep_put(txn, &sweep, error);
}

/* Starts at the first session. The snapshot still has the rows that this write has deleted, so each
 * step continues where the one before has ended. */
int store_give_up(struct store_txn *txn, int64_t now_ms, size_t *ret_count,
                  struct tidings_error *error) {
  enum { STEPS = 32 };
  struct sweep sweep;
  size_t count = 0;
  int code = sweep_get(txn, &sweep); /* the sweep's place is written back unchanged */
  code = code ? db_failed(error, code, "read how far it was swept") : sweep_put(txn, &sweep, error);
  if (code) return code;
  sweep = (struct sweep){.session = 1};
  for (int i = 0; i < STEPS && sweep.session; i++) {
    struct findings findings = {.count = 0};
    int rc = find_rows(txn, 0, now_ms, true, &sweep, &findings);
    if (!rc) rc = delete_all(txn, &findings);
    if (rc) return db_failed(error, rc, "give up history");
    count += findings.count;
  }
  *ret_count = count;
  return 0;
}
