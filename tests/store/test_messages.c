/* SPDX-License-Identifier: MIT
 *
 * tests/store/test_messages.c: messages, their contents and ids, and transitions, as rows: they are
 * found, read and rewritten; and if a byte of a row is altered, only this row is lost.
 */
#include <criterion/criterion.h>
#include <stdio.h>

#include "kit.h"
#include "kit_rows.h"
#include "store/rows/rows.h"

TestSuite(messages, .init = kit_begin, .fini = kit_end);

static struct store *store;
static struct store_txn *txn; /* a write */
static struct arena arena;
static struct tidings_error error;
enum { S = 1 }; /* the session */

static void begin(void) {
  uint32_t session;
  error = new_error();
  store = store_at(kit_store);
  cr_assert_eq(store_write(store, NULL, store_deadline_in(KIT_BUDGET_MS), &txn, &error), 0, "%s",
               error.text);
  cr_assert_eq(session_add(txn, span_text("s"), &session, &error), 0);
  cr_assert_eq(session, S);
}

static void end(void) {
  store_end(txn);
  arena_free(&arena);
  store_close(store);
}

static void add(uint64_t n, const char *id, enum message_state state, const char *content,
                const char *trigger) {
  struct message message = {.n = n,
                            .place = 100 - n,
                            .stamp_ms = (int64_t)n,
                            .id = span_text(id),
                            .state = (uint8_t)state,
                            .carriers = state == MESSAGE_LEASED};
  int code = message_add(txn, S, &message, span_text(content), span_text(trigger), &error);
  cr_assert_eq(code, 0, "%s: %s", id, error.text);
}

static uint64_t find(const char *id) {
  uint64_t n = 99;
  cr_assert_eq(message_find(txn, S, span_text(id), &n, &error), 0, "%s", error.text);
  return n;
}

static void expect_content(uint64_t n, const char *content, const char *trigger) {
  struct tidings_span got_content, got_trigger;
  cr_assert_eq(content_get(txn, S, n, &arena, &got_content, &got_trigger, &error), 0);
  cr_expect(span_is(got_content, content), "%.*s", SPAN_FORMAT(got_content));
  cr_expect(span_is(got_trigger, trigger), "%.*s", SPAN_FORMAT(got_trigger));
}

/* -- sound rows -------------------------------------------------------------------------------- */

Test(messages, are_found_by_id_and_by_number) {
  begin();
  add(1, "m1", MESSAGE_QUEUED, "hello", "{\"kind\":\"cron\"}");
  add(2, "m2", MESSAGE_STEERING, "", "");
  cr_expect_eq(find("m1"), 1);
  cr_expect_eq(find("m2"), 2);
  cr_expect_eq(find("m"), 0);
  cr_expect_eq(find("m11"), 0);
  struct message message;
  cr_assert_eq(message_get(txn, S, 2, &arena, &message, &error), 0);
  cr_expect(message.n == 2 && span_is(message.id, "m2") && message.state == MESSAGE_STEERING &&
            message.place == 98);
  cr_expect_eq(message_get(txn, S, 3, &arena, &message, &error), TIDINGS_E_NOT_FOUND);
  expect_content(1, "hello", "{\"kind\":\"cron\"}");
  expect_content(2, "", "");
  end();
}

Test(messages, of_another_session_are_not_found) {
  begin();
  uint32_t other;
  uint64_t n;
  add(1, "m1", MESSAGE_QUEUED, "x", "");
  cr_assert_eq(session_add(txn, span_text("other"), &other, &error), 0);
  cr_assert_eq(message_find(txn, other, span_text("m1"), &n, &error), 0);
  cr_expect_eq(n, 0);
  cr_assert_eq(message_find(txn, 0, span_text("m1"), &n, &error), 0, "a session never heard of");
  cr_expect_eq(n, 0);
  struct message *messages;
  size_t count;
  cr_assert_eq(message_live(txn, other, 0, 0, &arena, &messages, &count, &error), 0);
  cr_expect_eq(count, 0);
  end();
}

Test(messages, an_edit_changes_the_content_alone) {
  begin();
  add(1, "m1", MESSAGE_QUEUED, "before", "{}");
  cr_assert_eq(content_put(txn, S, 1, span_text("after"), span_text("{}"), &error), 0);
  expect_content(1, "after", "{}");
  struct message message;
  cr_assert_eq(message_get(txn, S, 1, &arena, &message, &error), 0);
  cr_expect(message.state == MESSAGE_QUEUED && message.stamp_ms == 1);
  end();
}

Test(messages, the_live_are_those_that_are_not_over_or_still_matter) {
  begin();
  add(1, "before the first", MESSAGE_QUEUED, "x", "");
  add(2, "fired", MESSAGE_FIRED, "x", "");
  add(3, "leased", MESSAGE_LEASED, "x", "");
  add(4, "of turn", MESSAGE_FIRED, "x", "");
  add(5, "orphaned", MESSAGE_FIRED, "x", "");
  add(6, "cancelled", MESSAGE_CANCELLED, "x", "");
  add(7, "queued", MESSAGE_QUEUED, "x", "");
  struct message message;
  for (uint64_t n = 4; n <= 5; n++) {
    cr_assert_eq(message_get(txn, S, n, &arena, &message, &error), 0);
    message.of_turn = n == 4;
    message.orphaned = n == 5;
    cr_assert_eq(message_put(txn, S, &message, &error), 0);
  }
  struct message *messages;
  size_t count;
  cr_assert_eq(message_live(txn, S, 2, 50, &arena, &messages, &count, &error), 0);
  cr_assert_eq(count, 4, "%zu", count);
  static const uint64_t live[] = {3, 4, 5, 7};
  for (size_t i = 0; i < count; i++) cr_expect_eq(messages[i].n, live[i]);
  memset(&messages[count], 0x5a,
         50 * sizeof *messages); /* there is room: a sanitizer would see if not */
  end();
}

/* -- ids that collide -------------------------------------------------------------------------- */

static void plant(uint64_t place, const char *id, uint64_t n) {
  struct db_key key = row_key(S, ROW_MESSAGE_ID, place);
  struct buffer body = BUFFER_EMPTY;
  record_begin(&body);
  record_u64(&body, n);
  record_bytes(&body, span_text(id));
  cr_assert_eq(row_put(txn, &key, &body, &error), 0);
  buffer_free(&body);
}

Test(messages, ids_that_collide_are_told_apart) {
  begin();
  for (uint64_t i = 0; i < 15; i++) {
    char other[8];
    (void)snprintf(other, sizeof other, "o%llu", (unsigned long long)i);
    plant(id_row_of("m1") + i, other, 100 + i);
    cr_expect_eq(find("m1"), 0, "after %llu others", (unsigned long long)i);
  }
  add(1, "m1", MESSAGE_QUEUED, "in the last place", "");
  cr_expect_eq(find("m1"), 1);
  struct message message;
  cr_assert_eq(message_get(txn, S, 1, &arena, &message, &error), 0);
  cr_expect(span_is(message.id, "m1"));
  end();
}

Test(messages, too_many_ids_that_collide_are_refused_and_nothing_is_stored) {
  begin();
  for (uint64_t i = 0; i < 16; i++) plant(id_row_of("m1") + i, "other", 100 + i);
  struct message message = {.n = 1, .id = span_text("m1"), .state = MESSAGE_QUEUED};
  cr_expect_eq(message_add(txn, S, &message, span_text("x"), span_of(NULL, 0), &error),
               TIDINGS_E_FULL);
  cr_expect_str_eq(error.text,
                   "message \"m1\": too many ids of this session collide with it; choose another");
  cr_expect_eq(find("m1"), 0);
  cr_expect_eq(message_get(txn, S, 1, &arena, &message, NULL), TIDINGS_E_NOT_FOUND);
  end();
}

/* -- damage ------------------------------------------------------------------------------------ */

/* Alters byte `at` of a row; false: it has not so many. */
static bool alter(enum row_kind kind, uint64_t n, size_t at, uint8_t bits) {
  static uint8_t bytes[4096];
  struct db_key key = row_key(S, kind, n);
  struct tidings_span value;
  cr_assert_eq(row_get(txn, &key, &value), 0);
  cr_assert_leq(value.len, sizeof bytes);
  if (at >= value.len) return false;
  memcpy(bytes, value.ptr, value.len);
  bytes[at] ^= bits;
  cr_assert_eq(db_put(txn->db, &key, span_of((const char *)bytes, value.len)), 0);
  return true;
}

/* Calls `check` with each byte of the row altered in turn. */
static void alter_each(enum row_kind kind, uint64_t n, void (*check)(void)) {
  size_t at = 0;
  for (; alter(kind, n, at, 0x10); at++) {
    check();
    cr_assert(alter(kind, n, at, 0x10), "and back");
  }
  cr_assert_gt(at, 4, "the row has bytes");
}

static void expect_second_lost(void) {
  struct message message;
  struct message *messages;
  size_t count;
  cr_assert_eq(message_get(txn, S, 2, &arena, &message, &error), TIDINGS_E_STORE);
  cr_assert(strstr(error.text, "damaged") && strstr(error.text, "message"), "%s", error.text);
  cr_assert_eq(message_live(txn, S, 1, 0, &arena, &messages, &count, &error), 0);
  cr_assert(count == 2 && messages[0].n == 1 && messages[1].n == 3, "%zu", count);
}

Test(messages, a_damaged_message_is_passed_over) {
  begin();
  add(1, "m1", MESSAGE_QUEUED, "x", "");
  add(2, "m2", MESSAGE_QUEUED, "x", "");
  add(3, "m3", MESSAGE_QUEUED, "x", "");
  alter_each(ROW_MESSAGE, 2, expect_second_lost);
  end();
}

static void expect_text_lost(void) {
  expect_content(2, "(the text of this message was lost: its record in the store is damaged)", "");
  expect_content(1, "one", "{}");
}

Test(messages, a_damaged_content_says_so) {
  begin();
  add(1, "m1", MESSAGE_QUEUED, "one", "{}");
  add(2, "m2", MESSAGE_QUEUED, "two", "{\"kind\":\"cron\"}");
  alter_each(ROW_CONTENT, 2, expect_text_lost);
  expect_content(2, "two", "{\"kind\":\"cron\"}");
  expect_content(3, "(the text of this message was lost: its record in the store is damaged)", "");
  end();
}

static void expect_id_lost(void) {
  cr_assert_eq(find("m2"), 0);
  cr_assert_eq(find("m1"), 1);
}

Test(messages, a_damaged_id_finds_nothing_and_can_be_used_again) {
  begin();
  add(1, "m1", MESSAGE_QUEUED, "x", "");
  add(2, "m2", MESSAGE_QUEUED, "x", "");
  alter_each(ROW_MESSAGE_ID, id_row_of("m2"), expect_id_lost);
  cr_expect_eq(find("m2"), 2);
  cr_assert(alter(ROW_MESSAGE_ID, id_row_of("m2"), 5, 1));
  add(3, "m2", MESSAGE_QUEUED, "x", "");
  cr_expect_eq(find("m2"), 3);
  end();
}

/* -- transitions ------------------------------------------------------------------------------- */

static uint64_t seen[8];
static size_t seen_count;

static int see(void *context, const struct transition *transition) {
  seen[seen_count++] = transition->n;
  return context && transition->n == *(const uint64_t *)context ? TIDINGS_E_STATE : 0;
}

static void put_transitions(void) {
  for (uint64_t n = 1; n <= 4; n++) {
    struct transition_message message = {.id = span_text("m1"), .state = MESSAGE_FIRED};
    struct transition transition = {
        .n = n, .event = TURNS_FINISHED, .to = RUN_IDLE, .messages = &message, .message_count = 1};
    cr_assert_eq(transition_put(txn, S, &transition, &error), 0);
  }
}

static void expect_seen(uint64_t first, uint64_t *until, size_t count, const uint64_t *numbers) {
  seen_count = 0;
  cr_assert_eq(transition_scan(txn, S, first, &arena, see, until, &error),
               until ? TIDINGS_E_STATE : 0, "%s", error.text);
  cr_assert_eq(seen_count, count);
  for (size_t i = 0; i < count; i++) cr_assert_eq(seen[i], numbers[i]);
}

Test(messages, transitions_are_read_in_order_from_where_one_likes) {
  begin();
  put_transitions();
  expect_seen(1, NULL, 4, (uint64_t[]){1, 2, 3, 4});
  expect_seen(3, NULL, 2, (uint64_t[]){3, 4});
  expect_seen(5, NULL, 0, NULL);
  uint64_t until = 2;
  expect_seen(1, &until, 2, (uint64_t[]){1, 2});
  end();
}

static void expect_third_lost(void) { expect_seen(1, NULL, 3, (uint64_t[]){1, 2, 4}); }

Test(messages, a_damaged_transition_is_passed_over) {
  begin();
  put_transitions();
  alter_each(ROW_TRANSITION, 3, expect_third_lost);
  end();
}
