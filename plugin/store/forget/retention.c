/* SPDX-License-Identifier: MIT
 *
 * store/forget/retention.c: which rows of a session may be forgotten: ended items beyond the newest
 * STORE_RETAIN_ITEMS or STORE_RETAIN_DAYS, deliveries of which nothing is left, dedup rows past
 * their window, messages that are over and transitions by the same limits, and all that a closed
 * session leaves. A pending or leased item is never forgotten, nor is a message that is not over.
 * Here each settle of a session forgets a few of its rows; sweep.c does it for sessions that settle
 * nothing.
 *
 * Each kind of row that may be forgotten has a line in `rules`.
 */
#include "store/forget/retention.h"

#include <errno.h>

enum { MESSAGE_ROWS_A_STEP = 16, MOST_STAYING = 1024 };

bool retention_is_older(int64_t now_ms, int64_t time_ms, int64_t age_ms) {
  int64_t since_ms;
  return !__builtin_sub_overflow(now_ms, age_ms, &since_ms) && time_ms < since_ms;
}

static bool is_too_old(const struct visit *visit, int64_t time_ms) {
  return retention_is_older(visit->now_ms, time_ms, RETENTION_AGE_MS);
}

/* Is a row beyond the limit if `newer` rows are newer than it? */
static bool is_excess(const struct visit *visit, uint64_t newer) {
  return newer >= (visit->pressed ? STORE_RETAIN_PRESSED : STORE_RETAIN_ITEMS);
}

/* -- judging rows ------------------------------------------------------------------------------ */

enum verdict {
  GOES,
  STAYS,
  SKIPS,     /* the row stays, and so do all before visit->next */
  REST_STAYS /* the row stays, and so do all after it */
};

/* Returns the number of the first item from `n` on that has ended; UINT64_MAX: none has. Calls come
 * in the order of n. */
static uint64_t ended_from(struct visit *visit, uint64_t n) {
  const struct head *head = visit->head;
  if (n < head->watermark) return n;
  for (; visit->taken < head->taken_count; visit->taken++) {
    const struct taken *taken = &head->taken[visit->taken];
    if (!taken->delivery && taken->last >= n) return n > taken->first ? n : taken->first;
  }
  return UINT64_MAX;
}

/* Does the write that forgets rows end the item? Then the host may take its delivery back soon. */
static bool ends_now(const struct visit *visit, uint64_t n) {
  for (size_t i = 0; i < visit->ended_count; i++) {
    if (visit->ended[i].first <= n && n <= visit->ended[i].last) return true;
  }
  return false;
}

/* An item that was not pushed long ago did not end long ago either. */
static bool was_pushed_long_ago(const struct visit *visit, uint64_t n) {
  struct db_key key = row_key(visit->session, ROW_ITEM, n);
  struct record_reader reader;
  return record_open(&reader, &key, visit->cursor.value) &&
         is_too_old(visit, record_read_i64(&reader));
}

/* The age of an item counts from its end, because a reminder may wait for long. The newest item
 * stays. The first item that was not pushed long ago ends the visit, because the items after it are
 * newer. */
static int judge_item(struct visit *visit, uint64_t n, enum verdict *ret_verdict) {
  *ret_verdict = GOES;
  if (visit->everything) return 0;
  visit->next = ended_from(visit, n);
  if (visit->next != n) {
    *ret_verdict = visit->next == UINT64_MAX ? REST_STAYS : SKIPS;
    return 0;
  }
  bool excess = is_excess(visit, visit->last - n), over = excess;
  if (n == visit->last || (!excess && !was_pushed_long_ago(visit, n))) {
    *ret_verdict = REST_STAYS;
    return 0;
  }
  int rc = 0;
  if (ends_now(visit, n)) over = false;
  else if (!excess) rc = visit_is_long_over(visit, n, &over);
  if (!over) *ret_verdict = ++visit->staying < MOST_STAYING ? STAYS : REST_STAYS;
  return rc;
}

/* Does not look up items that are in the history: the delivery moves to the history like them. */
static int has_items(struct visit *visit, const struct delivery *delivery, bool *ret_has) {
  bool has = false;
  int rc = 0;
  for (size_t i = 0; !rc && !has && i < delivery->disposition_count; i++) {
    struct db_key first = row_key(visit->session, ROW_ITEM, delivery->dispositions[i].first);
    has = db_remote && db_remote->is_history(visit->txn->db, &first);
    if (has) break;
    rc = db_cursor_seek(&visit->beside, &first);
    has = !rc && row_key_is_like(visit->beside.key, &first) &&
          row_key_n(visit->beside.key) <= delivery->dispositions[i].last;
  }
  if (!rc) *ret_has = has;
  return rc;
}

/* Deliveries are forgotten in order, as long as all their items are gone. A delivery that named no
 * item is forgotten when it is old. */
static int judge_delivery(struct visit *visit, uint64_t n, enum verdict *ret_verdict) {
  struct db_key key = row_key(visit->session, ROW_DELIVERY, n);
  const struct head *head = visit->head;
  struct record_reader reader;
  struct delivery delivery;
  bool no_memory = false;
  *ret_verdict = GOES;
  if (visit->everything) return 0;
  bool intact = record_open(&reader, &key, visit->cursor.value) &&
                delivery_decode(&reader, visit->arena, &delivery, &no_memory);
  if (no_memory) return ENOMEM;
  bool leased =
      (head->leased_count && n >= head->leased[0]) || (intact && delivery.state == DELIVERY_LEASED);
  if (leased || (intact && !delivery.disposition_count && !is_too_old(visit, delivery.leased_ms)))
    *ret_verdict = REST_STAYS;
  else if (intact && delivery.disposition_count) {
    bool left;
    int rc = has_items(visit, &delivery, &left);
    if (rc) return rc;
    if (left) *ret_verdict = REST_STAYS;
  }
  return 0;
}

/* The rows are in the order of their hashes, so all have to be looked at to find the old ones. A
 * row of a clock that was far ahead is forgotten too: see dedup_seen. */
static int judge_dedup(struct visit *visit, uint64_t n, enum verdict *ret_verdict) {
  struct db_key key = row_key(visit->session, ROW_DEDUP, n);
  struct record_reader reader;
  *ret_verdict = GOES; /* a damaged row too, because it names no event */
  if (!record_open(&reader, &key, visit->cursor.value)) return 0;
  int64_t time_ms = record_read_i64(&reader), keep_ms = record_read_i64(&reader);
  bool ahead = retention_is_older(time_ms, visit->now_ms, keep_ms);
  if (!ahead && !retention_is_older(visit->now_ms, time_ms, keep_ms)) *ret_verdict = STAYS;
  return 0;
}

/* May message `n`, whose row is `value`, be forgotten? A damaged one may. The age counts from the
 * end, because a message may wait for long; a row of an earlier version does not say the end. */
static bool message_goes(const struct visit *visit, uint64_t n, struct tidings_span value) {
  struct db_key key = row_key(visit->session, ROW_MESSAGE, n);
  struct record_reader reader;
  struct message message;
  if (!record_open(&reader, &key, value) || !message_decode(&reader, &message)) return true;
  if (!message_is_over(message.state) || message.of_turn || message.orphaned) return false;
  int64_t since_ms = message.due_ms > message.stamp_ms ? message.due_ms : message.stamp_ms;
  return is_excess(visit, visit->head->run.last_message - n) || is_too_old(visit, since_ms);
}

/* Messages after one that stays may be over too, so all are looked at. */
static int judge_message(struct visit *visit, uint64_t n, enum verdict *ret_verdict) {
  *ret_verdict = visit->everything || message_goes(visit, n, visit->cursor.value) ? GOES : STAYS;
  return 0;
}

/* A content is forgotten before its message. A content whose message is lost is forgotten too. */
static int judge_content(struct visit *visit, uint64_t n, enum verdict *ret_verdict) {
  struct db_key key = row_key(visit->session, ROW_MESSAGE, n);
  struct tidings_span message = span_of(NULL, 0);
  int rc = visit->everything ? 0 : row_get(visit->txn, &key, &message);
  if (!rc) *ret_verdict = !message.ptr || message_goes(visit, n, message) ? GOES : STAYS;
  return rc;
}

static int has_row(struct visit *visit, enum row_kind kind, uint64_t n, bool *ret_has) {
  struct db_key key = row_key(visit->session, kind, n);
  struct tidings_span value;
  int rc = row_get(visit->txn, &key, &value);
  if (!rc) *ret_has = value.ptr != NULL;
  return rc;
}

/* The row of an id is forgotten after its message. Ids that collide are found one after the other,
 * so an id that has another one after it stays. */
static int judge_message_id(struct visit *visit, uint64_t n, enum verdict *ret_verdict) {
  struct db_key key = row_key(visit->session, ROW_MESSAGE_ID, n);
  struct record_reader reader;
  bool stays = false;
  int rc = 0;
  if (!visit->everything && record_open(&reader, &key, visit->cursor.value))
    rc = has_row(visit, ROW_MESSAGE, record_read_u64(&reader), &stays);
  if (!rc && !visit->everything && !stays) rc = has_row(visit, ROW_MESSAGE_ID, n + 1, &stays);
  *ret_verdict = stays ? STAYS : GOES;
  return rc;
}

static int judge_transition(struct visit *visit, uint64_t n, enum verdict *ret_verdict) {
  struct db_key key = row_key(visit->session, ROW_TRANSITION, n);
  struct record_reader reader;
  bool excess = visit->everything || is_excess(visit, visit->head->last_transition - n);
  if (!excess && record_open(&reader, &key, visit->cursor.value))
    excess = is_too_old(visit, record_read_i64(&reader));
  *ret_verdict = excess ? GOES : REST_STAYS;
  return 0;
}

/* The rows are in the order of their hashes, so each is judged by itself. */
static int judge_rate(struct visit *visit, uint64_t n, enum verdict *ret_verdict) {
  struct db_key key = row_key(visit->session, ROW_RATE, n);
  bool over = visit->everything || rate_is_over(&key, visit->cursor.value, visit->now_ms);
  *ret_verdict = over ? GOES : STAYS;
  return 0;
}

/* Judges rows that have no age of their own. */
static int judge_with_session(struct visit *visit, uint64_t n, enum verdict *ret_verdict) {
  (void)n;
  *ret_verdict = visit->everything ? GOES : REST_STAYS;
  return 0;
}

/* Returns the number of the first row of outlines, from `row` on, whose items have all ended;
 * UINT64_MAX: there is none. */
static uint64_t ended_outlines_from(struct visit *visit, uint64_t row) {
  const struct head *head = visit->head;
  uint64_t below = outline_row_of(head->watermark);
  if (row < below) return row;
  for (; visit->taken < head->taken_count; visit->taken++) {
    const struct taken *taken = &head->taken[visit->taken];
    uint64_t end = outline_row_of(taken->last + 1), first = below;
    if (taken->first > head->watermark) first = outline_row_of(taken->first - 1) + 1;
    if (first < row) first = row;
    if (!taken->delivery && first < end) return first;
  }
  return UINT64_MAX;
}

/* Outlines serve pending items only, so a row is forgotten when all its items have ended. */
static int judge_outlines(struct visit *visit, uint64_t n, enum verdict *ret_verdict) {
  *ret_verdict = GOES;
  if (visit->everything) return 0;
  visit->next = ended_outlines_from(visit, n);
  if (visit->next != n) *ret_verdict = visit->next == UINT64_MAX ? REST_STAYS : SKIPS;
  return 0;
}

struct forget_rule {
  enum row_kind kind;
  /* 0, or the engine's error */
  int (*judge)(struct visit *visit, uint64_t n, enum verdict *ret_verdict);
};

/* The rules for each kind. Deliveries come after their items, messages after their contents, and
 * the ids of messages after the messages. */
static const struct forget_rule rules[RETENTION_RULES] = {
    {ROW_ITEM, judge_item},
    {ROW_DELIVERY, judge_delivery},
    {ROW_DEDUP, judge_dedup},
    {ROW_MEMORY, judge_with_session},
    {ROW_CONTENT, judge_content},
    {ROW_MESSAGE, judge_message},
    {ROW_MESSAGE_ID, judge_message_id},
    {ROW_TRANSITION, judge_transition},
    {ROW_RATE, judge_rate},
    {ROW_TOOLS, judge_with_session},
    {ROW_DELIVERY_ID, judge_with_session}, /* for a delivery whose row is lost; the other ids go
                                              with their deliveries */
    {ROW_OUTLINES, judge_outlines},
};

bool visit_delivery_id(const struct visit *visit, struct db_key *ret_key) {
  struct db_key key = row_key(visit->session, ROW_DELIVERY, row_key_n(visit->cursor.key));
  struct record_reader reader;
  struct delivery delivery;
  bool no_memory = false;
  if (!record_open(&reader, &key, visit->cursor.value) ||
      !delivery_decode(&reader, visit->arena, &delivery, &no_memory) || !delivery.mark)
    return false;
  *ret_key = row_key(visit->session, ROW_DELIVERY_ID, delivery.mark);
  return true;
}

int visit_delete(struct visit *visit, enum row_kind kind, uint64_t n) {
  struct db_key id;
  bool named = kind == ROW_DELIVERY && visit_delivery_id(visit, &id);
  (void)n;
  int rc = db_cursor_delete(&visit->cursor);
  return !rc && named ? db_delete(visit->txn->db, &id) : rc;
}

/* -- visiting a session ------------------------------------------------------------------------ */

int visit_begin(struct visit *visit) {
  int rc = db_remote ? db_remote->cursor_open_near(visit->txn->db, &visit->cursor)
                     : db_cursor_open(visit->txn->db, &visit->cursor);
  if (rc) return rc;
  rc = db_cursor_open(visit->txn->db, &visit->beside);
  if (rc) db_cursor_close(&visit->cursor);
  visit->everything =
      visit->head->closed_ms && head_is_over(visit->head, visit->last) &&
      retention_is_older(visit->now_ms, visit->head->closed_ms, STORE_RETAIN_CLOSED_MS);
  return rc;
}

void visit_end(struct visit *visit) {
  db_cursor_close(&visit->beside);
  db_cursor_close(&visit->cursor);
}

/* Judges the row under the cursor and moves on. *ret_rest_stays: all rows after it stay too. */
static int visit_row(struct visit *visit, const struct forget_rule *rule, uint64_t *n,
                     bool *ret_rest_stays) {
  uint64_t at = row_key_n(visit->cursor.key);
  enum verdict verdict;
  visit->may_look--;
  visit->next = at + 1;
  int rc = rule->judge(visit, at, &verdict);
  if (rc) return rc;
  *ret_rest_stays = verdict == REST_STAYS;
  if (*ret_rest_stays) return 0;
  if (verdict == GOES) {
    visit->may_forget--;
    rc = visit->forget(visit, rule->kind, at);
    if (rc) return rc;
  }
  *n = visit->next;
  struct db_key next = row_key(visit->session, rule->kind, *n);
  return verdict == SKIPS ? db_cursor_seek(&visit->cursor, &next) : db_cursor_next(&visit->cursor);
}

int visit_rows(struct visit *visit, size_t rule, uint64_t *n, bool *ret_done) {
  struct db_key first = row_key(visit->session, rules[rule].kind, *n);
  bool done = false;
  visit->taken = 0;
  int rc = db_cursor_seek(&visit->cursor, &first);
  while (!rc && !done) {
    done = !row_key_is_like(visit->cursor.key, &first);
    if (done || !visit->may_look || !visit->may_forget) break;
    rc = visit_row(visit, &rules[rule], n, &done);
  }
  if (!rc) *ret_done = done;
  return rc;
}

int visit_is_purgeable(struct visit *visit, bool *ret_purgeable) {
  struct db_key after_head = row_key(visit->session, ROW_HEAD + 1, 0);
  *ret_purgeable = false;
  if (!visit->everything) return 0;
  int rc = db_cursor_seek(&visit->beside, &after_head);
  if (!rc)
    *ret_purgeable = !visit->beside.key || row_key_session(visit->beside.key) != visit->session;
  return rc;
}

/* -- a session's own settle -------------------------------------------------------------------- */

/* Visits messages only if the session has some; they are few compared with items. */
static int forget_messages(struct visit *visit, struct head *head) {
  uint64_t contents = 0, messages = 0, transitions = 0;
  bool done;
  int rc = 0;
  if (!head->last_transition) return 0;
  visit->may_look = visit->may_forget = MESSAGE_ROWS_A_STEP;
  rc = visit_rows(visit, RETENTION_CONTENTS, &contents, &done);
  visit->may_look = visit->may_forget = MESSAGE_ROWS_A_STEP;
  if (!rc) rc = visit_rows(visit, RETENTION_MESSAGES, &messages, &done);
  visit->may_look = visit->may_forget = MESSAGE_ROWS_A_STEP;
  if (!rc) rc = visit_rows(visit, RETENTION_MESSAGE_IDS, &head->message_cursor, &done);
  if (!rc && done) head->message_cursor = 0;
  visit->may_look = visit->may_forget = MESSAGE_ROWS_A_STEP;
  return rc ? rc : visit_rows(visit, RETENTION_TRANSITIONS, &transitions, &done);
}

static int forget_some(struct visit *visit, struct head *head, size_t limit) {
  uint64_t items = 0, deliveries = 0, outlines = 0;
  bool done;
  visit->may_look = SIZE_MAX;
  visit->may_forget = limit;
  int rc = visit_rows(visit, RETENTION_ITEMS, &items, &done);
  if (!rc) rc = visit_rows(visit, RETENTION_DELIVERIES, &deliveries, &done);
  visit->may_forget = limit;
  if (!rc && !db_remote) rc = visit_rows(visit, RETENTION_OUTLINES, &outlines, &done);
  visit->may_look = visit->may_forget = limit; /* no fewer ids than items, or ids pile up */
  if (!rc) rc = visit_rows(visit, RETENTION_DEDUP, &head->dedup_cursor, &done);
  if (!rc && done) head->dedup_cursor = 0;
  return rc ? rc : forget_messages(visit, head);
}

int retention_step(struct store_txn *txn, uint32_t session, struct head *head, int64_t now_ms,
                   size_t limit, const struct disposition_range *ended, size_t count,
                   struct tidings_error *error) {
  struct arena arena = ARENA_EMPTY;
  struct visit visit = {.txn = txn,
                        .session = session,
                        .head = head,
                        .now_ms = now_ms,
                        .arena = &arena,
                        .forget = visit_delete,
                        .ended = ended,
                        .ended_count = count};
  int code = item_last(txn, session, head, &visit.last, error);
  if (code) return code;
  head->floor = visit.last;
  int rc = visit_begin(&visit);
  if (rc) return db_failed(error, rc, "purge old rows");
  rc = forget_some(&visit, head, limit);
  visit_end(&visit);
  arena_free(&arena);
  return rc ? db_failed(error, rc, "purge old rows") : 0;
}
