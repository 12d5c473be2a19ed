/* SPDX-License-Identifier: MIT
 *
 * tests/store/test_rows_turns.c: messages, transitions and a head's run are written and read as
 * records. A record that was cut or altered is refused, or read as values that the machine of turns
 * can handle.
 */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "kit.h"
#include "store/rows/rows.h"

static const struct db_key key = {{0, 0, 0, 1, ROW_MESSAGE}};

static struct message some_message(void) {
  return (struct message){.place = UINT64_MAX,
                          .delivery = 77,
                          .carriers = 2,
                          .stamp_ms = INT64_MIN,
                          .id = span_text("m1"),
                          .state = MESSAGE_LEASED,
                          .steer = true,
                          .waited = true,
                          .of_turn = false,
                          .orphaned = true};
}

static const struct transition_message some_steps[] = {{{"m1", 2}, MESSAGE_FIRED},
                                                       {{"", 0}, MESSAGE_CLOSED}};

static struct transition some_transition(void) {
  return (struct transition){.time_ms = -1,
                             .event = TURNS_EVENT_COUNT - 1,
                             .from = RUN_STARTING,
                             .to = RUN_ERROR,
                             .abort = true,
                             .system = UINT64_MAX,
                             .messages = some_steps,
                             .message_count = 2};
}

static struct run some_run(void) {
  struct run run = {.state = RUN_RETRYING,
                    .phase = PHASE_TOOLS,
                    .kind = TURN_OF_SYSTEM,
                    .offer_known = true,
                    .aborted = true,
                    .compacting = true,
                    .steering = true,
                    .settling = true,
                    .attempt = UINT32_MAX,
                    .stop = STOP_GIVEN,
                    .words = span_text("overloaded"),
                    .started_ms = -5,
                    .settle_since_ms = INT64_MAX,
                    .settle_last = 9,
                    .system_turns = 10,
                    .system_item = 11,
                    .orphaned = 8,
                    .auto_turns = 12,
                    .newest_asking = 13,
                    .last_message = 14,
                    .first_message = 3,
                    .last_place = UINT64_MAX,
                    .last_stamp_ms = INT64_MIN,
                    .abort_count = MAX_ABORTS};
  for (int i = 0; i < MAX_ABORTS; i++) run.aborts_ms[i] = i - 3;
  return run;
}

/* -- there and back ---------------------------------------------------------------------------- */

enum row { MESSAGE, TRANSITION, HEAD, ROWS };

static struct buffer encode(enum row row) {
  struct buffer body = BUFFER_EMPTY;
  struct message message = some_message();
  struct transition transition = some_transition();
  struct head head = {.run = some_run(), .last_transition = 40};
  if (row == MESSAGE) message_encode(&body, &message);
  else if (row == TRANSITION) transition_encode(&body, &transition);
  else head_encode(&body, &head);
  cr_assert(!body.failed);
  return body;
}

union any {
  struct message message;
  struct transition transition;
  struct head head;
};

/* Adds a right checksum, in memory of the exact size, and reads. */
static bool read_sealed(enum row row, struct tidings_span body, struct arena *arena,
                        union any *ret) {
  struct buffer sealed = BUFFER_EMPTY;
  struct record_reader reader;
  bool no_memory;
  buffer_span(&sealed, body);
  record_end(&sealed, &key);
  cr_assert(!sealed.failed);
  char *exact = arena_alloc(arena, sealed.len);
  cr_assert_not_null(exact);
  memcpy(exact, sealed.bytes, sealed.len);
  size_t len = sealed.len;
  buffer_free(&sealed);
  if (!record_open(&reader, &key, span_of(exact, len))) return false;
  if (row == MESSAGE) return message_decode(&reader, &ret->message);
  if (row == TRANSITION) return transition_decode(&reader, arena, &ret->transition, &no_memory);
  return head_decode(&reader, arena, &ret->head, &no_memory);
}

Test(rows_turns, message_round_trip) {
  struct arena arena = ARENA_EMPTY;
  struct buffer body = encode(MESSAGE);
  union any any;
  struct message wrote = some_message();
  cr_assert(read_sealed(MESSAGE, buffer_view(&body), &arena, &any));
  const struct message *message = &any.message;
  cr_expect(span_equal(message->id, wrote.id));
  cr_expect(message->place == wrote.place && message->delivery == wrote.delivery &&
            message->carriers == wrote.carriers);
  cr_expect(message->stamp_ms == wrote.stamp_ms && message->state == wrote.state);
  cr_expect(message->steer && message->waited && !message->of_turn && message->orphaned);
  cr_expect(!message->changed && !message->fresh && !message->named,
            "what is of a step only is not stored");
  buffer_free(&body);
  arena_free(&arena);
}

Test(rows_turns, transition_round_trip) {
  struct arena arena = ARENA_EMPTY;
  struct buffer body = encode(TRANSITION);
  union any any;
  struct transition wrote = some_transition();
  cr_assert(read_sealed(TRANSITION, buffer_view(&body), &arena, &any));
  const struct transition *transition = &any.transition;
  cr_expect(transition->time_ms == wrote.time_ms && transition->event == wrote.event &&
            transition->from == wrote.from);
  cr_expect(transition->to == wrote.to && transition->abort && transition->system == wrote.system);
  cr_assert_eq(transition->message_count, 2);
  for (size_t i = 0; i < 2; i++) {
    cr_expect(span_equal(transition->messages[i].id, some_steps[i].id));
    cr_expect_eq(transition->messages[i].state, some_steps[i].state);
  }
  buffer_free(&body);
  arena_free(&arena);
}

Test(rows_turns, run_round_trip) {
  struct arena arena = ARENA_EMPTY;
  struct buffer body = encode(HEAD);
  union any any;
  struct run wrote = some_run();
  cr_assert(read_sealed(HEAD, buffer_view(&body), &arena, &any));
  const struct run *run = &any.head.run;
  cr_expect_eq(any.head.last_transition, 40);
  cr_expect(run->state == wrote.state && run->phase == wrote.phase && run->kind == wrote.kind);
  cr_expect(run->offer_known && run->aborted && run->compacting && run->steering && run->settling);
  cr_expect(run->attempt == wrote.attempt && span_equal(run->words, wrote.words) &&
            run->started_ms == wrote.started_ms);
  cr_expect(run->settle_since_ms == wrote.settle_since_ms && run->settle_last == wrote.settle_last);
  cr_expect(run->orphaned == wrote.orphaned);
  cr_expect(run->system_turns == wrote.system_turns && run->system_item == wrote.system_item &&
            run->auto_turns == wrote.auto_turns);
  cr_expect(run->newest_asking == wrote.newest_asking && run->last_message == wrote.last_message &&
            run->first_message == wrote.first_message);
  cr_expect(run->last_place == wrote.last_place && run->last_stamp_ms == wrote.last_stamp_ms);
  cr_assert_eq(run->abort_count, wrote.abort_count);
  cr_expect_eq(run->stop, wrote.stop);
  cr_expect_eq(memcmp(run->aborts_ms, wrote.aborts_ms, sizeof wrote.aborts_ms), 0);
  buffer_free(&body);
  arena_free(&arena);
}

/* Sets a flag at a time, so that none stands for another. */
Test(rows_turns, each_flag_of_a_run_is_its_own) {
  for (int i = 0; i < 5; i++) {
    struct head head = {.run = {.offer_known = i == 0,
                                .aborted = i == 1,
                                .compacting = i == 2,
                                .steering = i == 3,
                                .settling = i == 4}};
    struct buffer body = BUFFER_EMPTY;
    struct arena arena = ARENA_EMPTY;
    union any any;
    head_encode(&body, &head);
    cr_assert(read_sealed(HEAD, buffer_view(&body), &arena, &any));
    const struct run *run = &any.head.run;
    cr_expect(run->offer_known == (i == 0) && run->aborted == (i == 1) &&
              run->compacting == (i == 2) && run->steering == (i == 3) &&
              run->settling == (i == 4));
    buffer_free(&body);
    arena_free(&arena);
  }
}

/* A message without a carrier would never come back. */
Test(rows_turns, what_is_leased_has_a_carrier) {
  struct message message = some_message();
  struct buffer body = BUFFER_EMPTY;
  struct arena arena = ARENA_EMPTY;
  union any any;
  message.carriers = 0;
  message_encode(&body, &message);
  cr_expect(!read_sealed(MESSAGE, buffer_view(&body), &arena, &any));
  buffer_free(&body);
  arena_free(&arena);
}

/* -- altered ----------------------------------------------------------------------------------- */

Test(rows_turns, cut_anywhere_they_are_refused) {
  union any any;
  for (enum row row = MESSAGE; row < HEAD; row++) {
    struct buffer body = encode(row);
    for (size_t len = 0; len < body.len; len++) {
      struct arena arena = ARENA_EMPTY;
      cr_expect(!read_sealed(row, span_of(body.bytes, len), &arena, &any), "row %d cut at %zu", row,
                len);
      arena_free(&arena);
    }
    struct arena arena = ARENA_EMPTY;
    buffer_byte(&body, 0);
    cr_expect(!read_sealed(row, buffer_view(&body), &arena, &any), "row %d with a byte more", row);
    arena_free(&arena);
    buffer_free(&body);
  }
}

static void check_whatever(enum row row, struct tidings_span body) {
  struct arena arena = ARENA_EMPTY;
  union any any;
  if (read_sealed(row, body, &arena, &any)) {
    if (row == MESSAGE) cr_assert(any.message.state > 0 && any.message.state < MESSAGE_STATE_COUNT);
    if (row == TRANSITION)
      cr_assert(any.transition.event < TURNS_EVENT_COUNT && any.transition.to < RUN_STATE_COUNT);
    if (row == HEAD)
      cr_assert(any.head.run.state < RUN_STATE_COUNT && any.head.run.abort_count <= MAX_ABORTS);
  }
  arena_free(&arena);
}

Test(rows_turns, hostile_bytes_do_no_harm) {
  struct random random = {.state = 12};
  for (enum row row = MESSAGE; row < ROWS; row++) {
    struct buffer body = encode(row);
    for (int round = 0; round < 10000; round++) {
      struct buffer hostile = BUFFER_EMPTY;
      buffer_span(&hostile, buffer_view(&body));
      cr_assert(hostile.bytes);
      for (size_t hits = 1 + random_below(&random, 4); hits; hits--)
        hostile.bytes[1 + random_below(&random, hostile.len - 1)] =
            (char)(random_below(&random, 3) ? random_next(&random) : 0xff);
      check_whatever(row, buffer_view(&hostile));
      buffer_free(&hostile);
    }
    buffer_free(&body);
  }
}

Test(rows_turns, a_count_that_cannot_be_is_refused_before_memory_is_taken) {
  static const uint64_t counts[] = {1, 3, 1000, UINT32_MAX, (uint64_t)1 << 60, UINT64_MAX};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    struct arena arena = ARENA_EMPTY;
    struct buffer body = BUFFER_EMPTY;
    union any any;
    record_begin(&body);
    for (int field = 0; field < 6; field++) record_u64(&body, 0);
    record_u64(&body, counts[i]);
    cr_expect(!read_sealed(TRANSITION, buffer_view(&body), &arena, &any), "%llu messages",
              (unsigned long long)counts[i]);
    buffer_free(&body);
    arena_free(&arena);
  }
}
