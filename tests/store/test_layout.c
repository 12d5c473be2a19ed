/* SPDX-License-Identifier: MIT
 *
 * tests/store/test_layout.c: the bytes of each kind of row belong to the layout's number. If two
 * builds wrote different bytes under the same number, each would take the other's sound stores for
 * damaged. With a new number, the older build refuses the store with a sentence.
 */
#include <criterion/criterion.h>
#include <stdio.h>

#include "kit.h"
#include "store/db/crc32c.h"
#include "store/rows/rows.h"

static const struct owner owner = {
    {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}, 17, 18, 19};

/* Every field is set, and no two alike. */
static struct run some_run(void) {
  return (struct run){.state = 2,
                      .phase = 1,
                      .kind = 1,
                      .offer_known = true,
                      .aborted = true,
                      .compacting = true,
                      .steering = true,
                      .settling = true,
                      .attempt = 20,
                      .words = span_text("words"),
                      .started_ms = 21,
                      .settle_since_ms = 22,
                      .settle_last = 23,
                      .system_turns = 24,
                      .system_item = 25,
                      .orphaned = 26,
                      .auto_turns = 27,
                      .newest_asking = 28,
                      .unfit = 29,
                      .last_message = 30,
                      .first_message = 31,
                      .last_place = 32,
                      .last_stamp_ms = 33,
                      .abort_count = 2,
                      .aborts_ms = {34, 35}};
}

static void encode_head(struct buffer *out) {
  static const struct taken taken[] = {{40, 42, 43}, {45, 45, 44}};
  static const uint64_t leased[] = {43, 44};
  struct head head = {.generation = 46,
                      .watermark = 39,
                      .floor = 47,
                      .last_delivery = 48,
                      .dedup_cursor = 49,
                      .epoch = 50,
                      .owner = owner,
                      .former_count = 1,
                      .attached_ms = 51,
                      .closed_ms = 52,
                      .cwd = span_text("/home"),
                      .host = span_text("host"),
                      .taken = taken,
                      .taken_count = 2,
                      .leased = leased,
                      .leased_count = 2,
                      .run = some_run(),
                      .last_transition = 53,
                      .message_cursor = 54,
                      .preamble = 55};
  head.formers[0] = owner;
  for (size_t i = 0; i < OUTCOME_COUNT; i++) head.outcomes[i] = 56 + i;
  head_encode(out, &head);
}

static void encode_delivery_of(uint32_t mark, struct buffer *out) {
  static const struct disposition_range ended[] = {{70, 71, 72, 1, 2}, {74, 75, 76, 2, 1}};
  static const struct disposition_range recalled[] = {{77, 78, 79, 1, 1}};
  static const uint64_t messages[] = {80, 82};
  const struct delivery delivery = {.n = 83,
                                    .mark = mark,
                                    .epoch = 84,
                                    .leased_ms = 85,
                                    .settled_ms = 86,
                                    .state = 1,
                                    .carrier = 1,
                                    .settled_by = 1,
                                    .source = 1,
                                    .after = 87,
                                    .call_id = span_text("call"),
                                    .tool = span_text("tool"),
                                    .dispositions = ended,
                                    .disposition_count = 2,
                                    .messages = messages,
                                    .message_count = 2,
                                    .recalled = recalled,
                                    .recalled_count = 1,
                                    .rewound_ms = 88,
                                    .rendering = {.hash = 89,
                                                  .bytes = 180,
                                                  .room = 181,
                                                  .deferred = 182,
                                                  .max_tokens = 183,
                                                  .coalesce_window_ms = 184,
                                                  .age_after_ms = 185,
                                                  .preset = 1,
                                                  .format = 2,
                                                  .order = 3,
                                                  .place = 4,
                                                  .bare = true,
                                                  .host_name = span_text("name"),
                                                  .nonce = span_text("nonce")}};
  delivery_encode(out, &delivery);
}

static void encode_delivery(struct buffer *out) { encode_delivery_of(UINT32_MAX - 2, out); }
static void encode_unmarked(struct buffer *out) { encode_delivery_of(0, out); }

static void encode_message(struct buffer *out) {
  const struct message message = {.n = 90,
                                  .place = 91,
                                  .delivery = 92,
                                  .carriers = 93,
                                  .stamp_ms = 94,
                                  .id = span_text("id"),
                                  .state = 1,
                                  .steer = true,
                                  .waited = true,
                                  .of_turn = true,
                                  .orphaned = true};
  message_encode(out, &message);
}

static void encode_item(struct buffer *out) {
  const struct notification note = {.source = span_text("source"),
                                    .name = span_text("name"),
                                    .message = span_text("message"),
                                    .data = span_text("{}"),
                                    .key = span_text("key"),
                                    .tool = span_text("tool"),
                                    .handle = span_text("handle"),
                                    .caused_by = span_text("call"),
                                    .occurred_ms = 100,
                                    .ttl_ms = 101,
                                    .level = 2,
                                    .activation = 1,
                                    .made_by = 1};
  item_encode(out, 102, &note, NULL);
}

static void encode_meta(struct buffer *out) {
  const struct meta_life life = {103, 104};
  meta_first(DB_LAYOUT, &life, out);
}

/* To change a row, raise DB_LAYOUT, and have maintenance/migrate.c read what was before. */
Test(layout, a_row_that_changes_gets_a_new_number) {
  static const struct {
    const char *kind;
    void (*encode)(struct buffer *out);
    uint32_t crc;
  } rows[] = {{"the store's own row", encode_meta, 0xce9b576a},
              {"a head", encode_head, 0x5431f9ab},
              {"a delivery", encode_delivery, 0x7501b53a},
              {"a delivery of layout 3", encode_unmarked, 0xe6686d67},
              {"a message", encode_message, 0x4f6d3e83},
              {"a notification", encode_item, 0x2a78cb44}};
  cr_assert_eq(STORE_SCHEMA, 4, "the checksums below are those of layout 4");
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct buffer out = BUFFER_EMPTY;
    rows[i].encode(&out);
    cr_assert_not(out.failed);
    uint32_t crc = crc32c(0, out.bytes, out.len);
    cr_expect_eq(crc, rows[i].crc, "%s has changed, and the layout has its old number: %08x",
                 rows[i].kind, crc);
    buffer_free(&out);
  }
}

/* Their last four bytes are a checksum that depends on the session's number, which is random. */
Test(layout, outlines_that_change_get_a_new_number, .init = kit_begin, .fini = kit_end) {
  struct store *store = store_at(kit_store);
  struct tidings_error error = new_error();
  struct store_txn *txn = NULL;
  struct tidings_span value;
  for (int i = 1; i < 128; i++) {
    char message[16];
    bool duplicate;
    (void)snprintf(message, sizeof message, "message %d", i);
    const struct said said = {.session = "s", .message = message, .now_ms = 1000000 + i};
    cr_assert_eq(say(store, said, &duplicate, &error), 0, "%s", error.text);
  }
  struct db_key key = row_key(number_of(store, "s"), ROW_OUTLINES, 0);
  cr_assert_eq(store_read(store, NULL, store_deadline_in(KIT_BUDGET_MS), &txn, &error), 0);
  cr_assert_eq(row_get(txn, &key, &value), 0);
  cr_assert(value.ptr && value.len > 4);
  uint32_t crc = crc32c(0, value.ptr, value.len - 4);
  cr_expect_eq(crc, 0x871a32a1, "a row of outlines has changed: %08x", crc);
  store_end(txn);
  store_close(store);
}
