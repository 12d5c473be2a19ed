/* SPDX-License-Identifier: MIT
 *
 * tests/store/test_rows.c: items, heads and deliveries as records. A record with a right checksum
 * may still be hostile: it must be refused, or read as values that the later arithmetic can
 * handle.
 */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "kit.h"
#include "store/rows/rows.h"

static const struct db_key key = {{0, 0, 0, 1, ROW_HEAD}};

static const struct taken some_taken[] = {{5, 9, 0}, {10, 10, 3}, {20, 4000000000, 4}};
static const uint64_t some_leases[] = {3, 4};
static const struct disposition_range some_dispositions[] = {
    {1, 1, 0, OUTCOME_DELIVERED, REASON_SHOWN},
    {2, 900, 77, OUTCOME_SUPERSEDED, REASON_NEWER_KEY},
    {1000, 1000, 0, OUTCOME_CLOSED, REASON_SESSION_CLOSED}};

static struct head some_head(void) {
  struct head head = {.generation = 8,
                      .watermark = 5,
                      .floor = 4,
                      .last_delivery = 4,
                      .dedup_cursor = UINT64_MAX,
                      .epoch = 2,
                      .owner = {.pid = 77, .pid_namespace = 4026531836, .start_time = UINT64_MAX},
                      .attached_ms = -5,
                      .closed_ms = 6,
                      .cwd = span_text("/home/x"),
                      .host = span_text("JP"),
                      .taken = some_taken,
                      .taken_count = 3,
                      .leased = some_leases,
                      .leased_count = 2};
  for (size_t i = 0; i < OUTCOME_COUNT; i++) head.outcomes[i] = i * 1000;
  memset(head.owner.boot_id, 0xa5, sizeof head.owner.boot_id);
  return head;
}

static struct delivery some_delivery(void) {
  return (struct delivery){.epoch = 3,
                           .leased_ms = INT64_MAX,
                           .settled_ms = INT64_MIN,
                           .state = DELIVERY_COMMITTED,
                           .carrier = CARRIER_CHAT_REQUEST,
                           .settled_by = SETTLED_BY_RESUME,
                           .source = 1,
                           .after = 1000,
                           .call_id = span_text("call"),
                           .tool = span_text("bash"),
                           .dispositions = some_dispositions,
                           .disposition_count = 3};
}

static const struct notification some_note = {.source = {"tool", 4},
                                              .name = {"failed", 6},
                                              .message = {"It failed.", 10},
                                              .data = {"{}", 2},
                                              .key = {"k", 1},
                                              .tool = {"cargo", 5},
                                              .handle = {"h_3", 3},
                                              .caused_by = {"c1", 2},
                                              .ttl_ms = 60000,
                                              .level = TIDINGS_LEVEL_CRITICAL,
                                              .activation = ACTIVATION_INTERRUPT};

enum row { ITEM, HEAD, DELIVERY, ROWS };

static struct buffer encode(enum row row) {
  struct buffer bytes = BUFFER_EMPTY;
  struct head head = some_head();
  struct delivery delivery = some_delivery();
  if (row == ITEM) item_encode(&bytes, -1, &some_note, NULL);
  else if (row == HEAD) head_encode(&bytes, &head);
  else delivery_encode(&bytes, &delivery);
  cr_assert(!bytes.failed);
  return bytes;
}

/* Adds a right checksum, in memory of the exact size, and reads. */
static bool read_sealed(enum row row, struct tidings_span body, struct arena *arena, void *ret) {
  struct buffer sealed = BUFFER_EMPTY;
  struct record_reader reader;
  bool no_memory;
  union {
    struct item item;
    struct head head;
    struct delivery delivery;
  } any;
  buffer_span(&sealed, body);
  record_end(&sealed, &key);
  cr_assert(!sealed.failed);
  char *exact = arena_alloc(arena, sealed.len);
  cr_assert_not_null(exact);
  memcpy(exact, sealed.bytes, sealed.len);
  size_t len = sealed.len;
  buffer_free(&sealed);
  if (!record_open(&reader, &key, span_of(exact, len))) return false;
  if (row == ITEM) return item_decode(&reader, ret ? ret : &any.item);
  if (row == HEAD) return head_decode(&reader, arena, ret ? ret : &any.head, &no_memory);
  return delivery_decode(&reader, arena, ret ? ret : &any.delivery, &no_memory);
}

Test(rows, item_round_trip) {
  struct arena arena = ARENA_EMPTY;
  struct buffer body = encode(ITEM);
  struct item item;
  cr_assert(read_sealed(ITEM, buffer_view(&body), &arena, &item));
  cr_assert_eq(item.time_ms, -1);
  cr_assert(span_equal(item.note.source, some_note.source));
  cr_assert(span_equal(item.note.name, some_note.name));
  cr_assert(span_equal(item.note.message, some_note.message));
  cr_assert(span_equal(item.note.data, some_note.data));
  cr_assert(span_equal(item.note.key, some_note.key));
  cr_assert(span_equal(item.note.tool, some_note.tool));
  cr_assert(span_equal(item.note.handle, some_note.handle));
  cr_assert(span_equal(item.note.caused_by, some_note.caused_by));
  cr_assert_eq(item.note.ttl_ms, some_note.ttl_ms);
  cr_assert_eq(item.note.level, some_note.level);
  cr_assert_eq(item.note.activation, some_note.activation);
  buffer_free(&body);
  arena_free(&arena);
}

/* This member was appended: records of earlier versions end before it. */
Test(rows, item_with_origin_round_trip) {
  static const struct origin origin = {
      .item = (uint64_t)1 << 32 | 7, .delivery = (uint64_t)1 << 32 | 3, .outcome = OUTCOME_EXPIRED};
  for (int way = 0; way < 2 * MAKER_COUNT; way++) {
    struct arena arena = ARENA_EMPTY;
    struct buffer body = BUFFER_EMPTY, before = BUFFER_EMPTY;
    struct notification note = some_note;
    struct item item;
    uint8_t made_by = (uint8_t)(way / 2);
    note.made_by = made_by;
    note.occurred_ms = way % 2 ? -7 : 0;
    item_encode(&before, 1, &note, NULL);
    cr_assert(read_sealed(ITEM, buffer_view(&before), &arena, &item));
    cr_assert(!item.copied);
    item_encode(&body, 1, &note, &origin);
    cr_assert(read_sealed(ITEM, buffer_view(&body), &arena, &item));
    cr_assert(item.copied);
    cr_assert_eq(item.note.made_by, made_by);
    cr_assert_eq(item.note.occurred_ms, note.occurred_ms);
    for (size_t len = before.len + 1; len < body.len; len++)
      cr_assert(!read_sealed(ITEM, span_of(body.bytes, len), &arena, NULL), "cut at %zu", len);
    buffer_free(&body);
    buffer_free(&before);
    arena_free(&arena);
  }
}

Test(rows, head_round_trip) {
  struct arena arena = ARENA_EMPTY;
  struct buffer body = encode(HEAD);
  struct head head, wrote = some_head();
  cr_assert(read_sealed(HEAD, buffer_view(&body), &arena, &head));
  cr_assert_eq(head.generation, wrote.generation);
  cr_assert_eq(head.watermark, wrote.watermark);
  cr_assert_eq(head.floor, wrote.floor);
  cr_assert_eq(head.last_delivery, wrote.last_delivery);
  cr_assert_eq(head.dedup_cursor, wrote.dedup_cursor);
  cr_assert_eq(head.epoch, wrote.epoch);
  cr_assert(owner_equal(&head.owner, &wrote.owner));
  cr_assert_eq(head.attached_ms, wrote.attached_ms);
  cr_assert_eq(head.closed_ms, wrote.closed_ms);
  cr_assert(span_equal(head.cwd, wrote.cwd));
  cr_assert(span_equal(head.host, wrote.host));
  cr_assert_eq(head.taken_count, wrote.taken_count);
  for (size_t i = 0; i < wrote.taken_count; i++) {
    cr_assert_eq(head.taken[i].first, wrote.taken[i].first);
    cr_assert_eq(head.taken[i].last, wrote.taken[i].last);
    cr_assert_eq(head.taken[i].delivery, wrote.taken[i].delivery);
  }
  cr_assert_eq(head.leased_count, wrote.leased_count);
  cr_assert_eq(memcmp(head.leased, wrote.leased, sizeof some_leases), 0);
  cr_assert_eq(memcmp(head.outcomes, wrote.outcomes, sizeof wrote.outcomes), 0);
  buffer_free(&body);
  arena_free(&arena);
}

/* Later members stand at the end: a record without it is one of an earlier version. */
Test(rows, later_fields_round_trip) {
  static const struct {
    int64_t occurred_ms;
    uint8_t made_by;
    uint64_t preamble;
  } cases[] = {{0, 0, 0},
               {1771844400250, 0, 3},
               {0, MADE_BY_MCP_STATE, UINT64_MAX},
               {1, MADE_BY_MCP_STATE, 1}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct arena arena = ARENA_EMPTY;
    struct buffer item_body = BUFFER_EMPTY, head_body = BUFFER_EMPTY;
    struct notification note = some_note;
    struct head wrote = some_head(), head;
    struct item item;
    note.occurred_ms = cases[i].occurred_ms;
    note.made_by = cases[i].made_by;
    wrote.preamble = cases[i].preamble;
    item_encode(&item_body, -1, &note, NULL);
    head_encode(&head_body, &wrote);
    cr_assert(read_sealed(ITEM, buffer_view(&item_body), &arena, &item));
    cr_assert(read_sealed(HEAD, buffer_view(&head_body), &arena, &head));
    cr_expect_eq(item.note.occurred_ms, note.occurred_ms);
    cr_expect_eq(item.note.made_by, note.made_by);
    cr_expect_eq(head.preamble, wrote.preamble);
    buffer_free(&item_body);
    buffer_free(&head_body);
    arena_free(&arena);
  }
}

Test(rows, delivery_keeps_how_it_was_rendered) {
  struct buffer body = BUFFER_EMPTY;
  struct arena arena = ARENA_EMPTY;
  struct delivery read, wrote = some_delivery();
  wrote.rendering = (struct rendering){.hash = UINT64_MAX,
                                       .bytes = 1,
                                       .room = UINT64_MAX,
                                       .deferred = 2,
                                       .max_tokens = UINT32_MAX,
                                       .coalesce_window_ms = 3,
                                       .preset = 127,
                                       .format = 5,
                                       .order = 2,
                                       .place = 1,
                                       .bare = true,
                                       .host_name = span_text("JP"),
                                       .nonce = span_text("n")};
  delivery_encode(&body, &wrote);
  cr_assert(read_sealed(DELIVERY, buffer_view(&body), &arena, &read));
  const struct rendering *is = &read.rendering, *was = &wrote.rendering;
  cr_assert(is->hash == was->hash && is->bytes == was->bytes && is->room == was->room &&
            is->deferred == was->deferred && is->max_tokens == was->max_tokens &&
            is->coalesce_window_ms == was->coalesce_window_ms);
  cr_assert(is->preset == was->preset && is->format == was->format && is->order == was->order &&
            is->place == was->place);
  cr_assert(is->bare && span_is(is->host_name, "JP") && span_is(is->nonce, "n") &&
            !read.rewound_ms && !read.recalled_count);
  buffer_free(&body);
  arena_free(&arena);
}

Test(rows, delivery_round_trip) {
  struct arena arena = ARENA_EMPTY;
  struct buffer body = encode(DELIVERY);
  struct delivery delivery, wrote = some_delivery();
  cr_assert(read_sealed(DELIVERY, buffer_view(&body), &arena, &delivery));
  cr_assert_eq(delivery.epoch, wrote.epoch);
  cr_assert_eq(delivery.leased_ms, wrote.leased_ms);
  cr_assert_eq(delivery.settled_ms, wrote.settled_ms);
  cr_assert_eq(delivery.state, wrote.state);
  cr_assert_eq(delivery.carrier, wrote.carrier);
  cr_assert_eq(delivery.settled_by, wrote.settled_by);
  cr_assert_eq(delivery.source, wrote.source);
  cr_assert_eq(delivery.after, wrote.after);
  cr_assert(span_equal(delivery.call_id, wrote.call_id));
  cr_assert(span_equal(delivery.tool, wrote.tool));
  cr_assert_eq(delivery.disposition_count, wrote.disposition_count);
  for (size_t i = 0; i < wrote.disposition_count; i++) {
    cr_assert_eq(delivery.dispositions[i].first, wrote.dispositions[i].first);
    cr_assert_eq(delivery.dispositions[i].last, wrote.dispositions[i].last);
    cr_assert_eq(delivery.dispositions[i].ref, wrote.dispositions[i].ref);
    cr_assert_eq(delivery.dispositions[i].outcome, wrote.dispositions[i].outcome);
    cr_assert_eq(delivery.dispositions[i].reason, wrote.dispositions[i].reason);
  }
  buffer_free(&body);
  arena_free(&arena);
}

/* This member was appended later: rows of earlier versions, and most new rows, end before it. */
Test(rows, delivery_with_recalled_items_round_trip) {
  static const struct disposition_range recalled[] = {
      {3, 4, 0, OUTCOME_WITHDRAWN, REASON_POLLED},
      {9, 9, 0, OUTCOME_WITHDRAWN, REASON_RUNNING},
  };
  struct arena arena = ARENA_EMPTY;
  struct buffer body = BUFFER_EMPTY, before = encode(DELIVERY);
  struct delivery read, wrote = some_delivery();
  cr_assert(read_sealed(DELIVERY, buffer_view(&before), &arena, &read));
  cr_assert_eq(read.recalled_count, 0);
  wrote.recalled = recalled;
  wrote.recalled_count = 2;
  delivery_encode(&body, &wrote);
  cr_assert(read_sealed(DELIVERY, buffer_view(&body), &arena, &read));
  cr_assert_eq(read.recalled_count, 2);
  for (size_t i = 0; i < 2; i++) {
    cr_assert_eq(read.recalled[i].first, recalled[i].first);
    cr_assert_eq(read.recalled[i].last, recalled[i].last);
    cr_assert_eq(read.recalled[i].outcome, recalled[i].outcome);
    cr_assert_eq(read.recalled[i].reason, recalled[i].reason);
  }
  for (size_t len = before.len + 1; len < body.len; len++)
    cr_assert(!read_sealed(DELIVERY, span_of(body.bytes, len), &arena, NULL), "cut at %zu", len);
  buffer_free(&body);
  buffer_free(&before);
  arena_free(&arena);
}

Test(rows, delivery_that_was_rewound_round_trip) {
  static const struct disposition_range recalled = {3, 4, 0, OUTCOME_WITHDRAWN, REASON_POLLED};
  for (size_t count = 0; count < 2; count++) {
    struct arena arena = ARENA_EMPTY;
    struct buffer body = BUFFER_EMPTY;
    struct delivery read, wrote = some_delivery();
    wrote.state = DELIVERY_REWOUND;
    wrote.rewound_ms = -1;
    wrote.recalled = &recalled;
    wrote.recalled_count = count;
    delivery_encode(&body, &wrote);
    cr_assert(read_sealed(DELIVERY, buffer_view(&body), &arena, &read));
    cr_assert_eq(read.state, DELIVERY_REWOUND);
    cr_assert_eq(read.rewound_ms, -1);
    cr_assert_eq(read.recalled_count, count);
    buffer_free(&body);
    arena_free(&arena);
  }
}

Test(rows, cut_anywhere_they_are_refused) {
  for (enum row row = ITEM; row < ROWS; row++) {
    struct buffer body = encode(row);
    for (size_t len = 0; len < body.len; len++) {
      struct arena arena = ARENA_EMPTY;
      cr_assert(!read_sealed(row, span_of(body.bytes, len), &arena, NULL), "row %d cut at %zu", row,
                len);
      arena_free(&arena);
    }
    struct arena arena = ARENA_EMPTY;
    buffer_byte(&body, 0);
    cr_assert(!read_sealed(row, buffer_view(&body), &arena, NULL), "row %d with a byte more", row);
    arena_free(&arena);
    buffer_free(&body);
  }
}

/* The result must be sound whatever the bytes were: ranges in order, no number that a loop could
 * run past. */
static void check_head(const struct head *head) {
  uint64_t next = head->watermark;
  for (size_t i = 0; i < head->taken_count; i++) {
    cr_assert_geq(head->taken[i].first, next);
    cr_assert_geq(head->taken[i].last, head->taken[i].first);
    cr_assert_neq(head->taken[i].last, UINT64_MAX);
    next = head->taken[i].last + 1;
  }
}

static void check_delivery(const struct delivery *delivery) {
  uint64_t next = 0;
  for (size_t i = 0; i < delivery->disposition_count; i++) {
    const struct disposition_range *disposition = &delivery->dispositions[i];
    cr_assert_geq(disposition->first, next);
    cr_assert_geq(disposition->last, disposition->first);
    cr_assert_leq(disposition->last, delivery->after, "an item newer than the delivery");
    cr_assert_lt(disposition->outcome, OUTCOME_COUNT);
    next = disposition->last + 1;
  }
}

static void check_whatever(enum row row, struct tidings_span body) {
  struct arena arena = ARENA_EMPTY;
  union {
    struct item item;
    struct head head;
    struct delivery delivery;
  } any;
  if (read_sealed(row, body, &arena, &any)) {
    if (row == HEAD) check_head(&any.head);
    if (row == DELIVERY) check_delivery(&any.delivery);
  }
  arena_free(&arena);
}

Test(rows, hostile_bytes_do_no_harm) {
  struct random random = {.state = 11};
  for (enum row row = ITEM; row < ROWS; row++) {
    struct buffer body = encode(row);
    for (int round = 0; round < 20000; round++) {
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

Test(rows, counts_that_cannot_be_are_refused_before_memory_is_taken) {
  static const uint64_t counts[] = {1, 3, 1000, UINT32_MAX, (uint64_t)1 << 60, UINT64_MAX};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    struct arena arena = ARENA_EMPTY;
    struct buffer body = BUFFER_EMPTY;
    record_begin(&body);
    for (int field = 0; field < 6; field++) record_u64(&body, 1);
    record_u64(&body, 0); /* no owner */
    for (int field = 0; field < 3; field++) record_u64(&body, 0);
    record_u64(&body, counts[i]); /* taken */
    cr_assert(!read_sealed(HEAD, buffer_view(&body), &arena, NULL), "%llu ranges",
              (unsigned long long)counts[i]);
    buffer_free(&body);
    body = (struct buffer)BUFFER_EMPTY;
    record_begin(&body);
    for (int field = 0; field < 10; field++) record_u64(&body, 0);
    record_u64(&body, counts[i]); /* dispositions */
    cr_assert(!read_sealed(DELIVERY, buffer_view(&body), &arena, NULL), "%llu dispositions",
              (unsigned long long)counts[i]);
    buffer_free(&body);
    arena_free(&arena);
  }
}

/* With ranges up to UINT64_MAX, a loop over them would never end, and the next range would begin at
 * 0. */
Test(rows, ranges_that_wrap_are_refused) {
  struct arena arena = ARENA_EMPTY;
  const struct taken to_the_end[] = {{5, UINT64_MAX, 1}};
  const struct disposition_range dispositions[] = {
      {1, UINT64_MAX, 0, OUTCOME_DELIVERED, REASON_SHOWN}};
  const struct disposition_range newer[] = {{1, 1001, 0, OUTCOME_DELIVERED, REASON_SHOWN}};
  struct head head = some_head();
  struct delivery delivery = some_delivery();
  struct buffer body = BUFFER_EMPTY;
  head.taken = to_the_end;
  head.taken_count = 1;
  head_encode(&body, &head);
  cr_assert(!read_sealed(HEAD, buffer_view(&body), &arena, NULL));
  buffer_free(&body);
  delivery.dispositions = dispositions;
  delivery.disposition_count = 1;
  delivery.after = UINT64_MAX;
  delivery_encode(&body, &delivery);
  cr_assert(!read_sealed(DELIVERY, buffer_view(&body), &arena, NULL));
  buffer_free(&body);
  delivery.dispositions = newer;
  delivery.after = 1000;
  delivery_encode(&body, &delivery);
  cr_assert(!read_sealed(DELIVERY, buffer_view(&body), &arena, NULL),
            "an item that was not there yet");
  buffer_free(&body);
  arena_free(&arena);
}
