/* SPDX-License-Identifier: MIT
 *
 * store/rows/deliveries.c: the delivery rows of a session: what was handed out, to which carrier,
 * and how it ended.
 */
#include "store/rows/rows.h"

enum { RENDERING_NUMBERS = 128 };

/* Stores ranges as differences, which are short. A reader that adds them up finds no range out of
 * order. */
static void encode_dispositions(struct buffer *out, const struct disposition_range *dispositions,
                                size_t count) {
  uint64_t base = 0;
  record_u64(out, count);
  for (size_t i = 0; i < count; i++) {
    record_u64(out, dispositions[i].first - base);
    record_u64(out, dispositions[i].last - dispositions[i].first);
    record_u64(out, dispositions[i].outcome);
    record_u64(out, dispositions[i].reason);
    record_u64(out, dispositions[i].ref);
    base = dispositions[i].last + 1;
  }
}

/* Refuses a range that goes above `most`. NULL: no memory. */
static struct disposition_range *decode_dispositions(struct record_reader *reader,
                                                     struct arena *arena, uint64_t most,
                                                     size_t *ret_count) {
  size_t count = record_read_count(reader, 5);
  struct disposition_range *dispositions = arena_zalloc(arena, count, sizeof *dispositions);
  uint64_t base = 0;
  for (size_t i = 0; dispositions && i < count; i++) {
    dispositions[i].first = base + record_read_u64(reader);
    dispositions[i].last = dispositions[i].first + record_read_u64(reader);
    dispositions[i].outcome = record_read_below(reader, OUTCOME_COUNT);
    dispositions[i].reason = record_read_below(reader, REASON_COUNT);
    dispositions[i].ref = record_read_u64(reader);
    if (dispositions[i].first < base || dispositions[i].last < dispositions[i].first ||
        dispositions[i].last > most || dispositions[i].last == UINT64_MAX)
      reader->bad = true;
    base = dispositions[i].last + 1;
  }
  *ret_count = count;
  return dispositions;
}

/* For a delivery that has shown nothing, writes only a zero. */
static void encode_rendering(struct buffer *out, const struct rendering *rendering) {
  record_u64(out, rendering->bytes);
  if (!rendering->bytes) return;
  record_u64(out, rendering->hash);
  record_u64(out, rendering->room);
  record_u64(out, rendering->deferred);
  record_u64(out, rendering->max_tokens);
  record_u64(out, rendering->coalesce_window_ms);
  record_u64(out, rendering->age_after_ms);
  record_u64(out, rendering->preset);
  record_u64(out, rendering->format);
  record_u64(out, rendering->order);
  record_u64(out, rendering->place);
  record_u64(out, rendering->bare);
  record_bytes(out, rendering->host_name);
  record_bytes(out, rendering->nonce);
}

/* Presets and formats of later versions are kept as numbers. */
static uint8_t decode_number(struct record_reader *reader) {
  return record_read_below(reader, RENDERING_NUMBERS);
}

static uint32_t decode_u32(struct record_reader *reader) {
  uint64_t value = record_read_u64(reader);
  if (value > UINT32_MAX) reader->bad = true;
  return (uint32_t)value;
}

static struct rendering decode_rendering(struct record_reader *reader) {
  struct rendering rendering = {.bytes = record_read_u64(reader)};
  if (!rendering.bytes) return rendering;
  rendering.hash = record_read_u64(reader);
  rendering.room = record_read_u64(reader);
  rendering.deferred = record_read_u64(reader);
  rendering.max_tokens = decode_u32(reader);
  rendering.coalesce_window_ms = decode_u32(reader);
  rendering.age_after_ms = decode_u32(reader);
  rendering.preset = decode_number(reader);
  rendering.format = decode_number(reader);
  rendering.order = decode_number(reader);
  rendering.place = decode_number(reader);
  rendering.bare = record_read_below(reader, 2);
  rendering.host_name = record_read_bytes(reader);
  rendering.nonce = record_read_bytes(reader);
  return rendering;
}

void delivery_encode(struct buffer *out, const struct delivery *delivery) {
  record_begin(out);
  record_u64(out, delivery->epoch);
  record_i64(out, delivery->leased_ms);
  record_i64(out, delivery->settled_ms);
  record_u64(out, delivery->state);
  record_u64(out, delivery->carrier);
  record_u64(out, delivery->settled_by);
  record_u64(out, delivery->source);
  record_u64(out, delivery->after);
  record_bytes(out, delivery->call_id);
  record_bytes(out, delivery->tool);
  encode_dispositions(out, delivery->dispositions, delivery->disposition_count);
  record_u64(out, delivery->message_count);
  for (size_t i = 0; i < delivery->message_count; i++) record_u64(out, delivery->messages[i]);
  /* A record may end here or after any of the next fields. Records of earlier versions do. */
  bool marked = delivery->mark, rendered = delivery->rendering.bytes || marked,
       rewound = delivery->rewound_ms;
  if (delivery->recalled_count || rewound || rendered)
    encode_dispositions(out, delivery->recalled, delivery->recalled_count);
  if (rewound || rendered) record_i64(out, delivery->rewound_ms);
  if (rendered) encode_rendering(out, &delivery->rendering);
  if (marked) record_u64(out, delivery->mark);
}

/* Reads the fields that later versions appended. False: no memory. */
static bool decode_rest(struct record_reader *reader, struct arena *arena,
                        struct delivery *delivery) {
  delivery->recalled =
      decode_dispositions(reader, arena, delivery->after, &delivery->recalled_count);
  bool more = reader->at < reader->end;
  if (more) delivery->rewound_ms = record_read_i64(reader);
  bool rendered = reader->at < reader->end;
  if (rendered) delivery->rendering = decode_rendering(reader);
  else if (more ? !delivery->rewound_ms : !delivery->recalled_count) reader->bad = true;
  bool marked = rendered && reader->at < reader->end;
  if (marked) delivery->mark = decode_u32(reader);
  if (marked ? !delivery->mark : rendered && !delivery->rendering.bytes) reader->bad = true;
  return delivery->recalled;
}

bool delivery_decode(struct record_reader *reader, struct arena *arena,
                     struct delivery *ret_delivery, bool *ret_no_memory) {
  struct delivery delivery = {0};
  *ret_no_memory = false;
  delivery.epoch = record_read_u64(reader);
  delivery.leased_ms = record_read_i64(reader);
  delivery.settled_ms = record_read_i64(reader);
  delivery.state = record_read_below(reader, DELIVERY_REWOUND + 1);
  delivery.carrier = record_read_below(reader, CARRIER_CLOSED + 1);
  delivery.settled_by = record_read_below(reader, SETTLED_ON_RETURN + 1);
  delivery.source = record_read_below(reader, 2);
  delivery.after = record_read_u64(reader);
  delivery.call_id = record_read_bytes(reader);
  delivery.tool = record_read_bytes(reader);
  struct disposition_range *dispositions =
      decode_dispositions(reader, arena, delivery.after, &delivery.disposition_count);
  if (!dispositions) {
    *ret_no_memory = true;
    return false;
  }
  delivery.dispositions = dispositions;
  delivery.message_count = record_read_count(reader, 1);
  uint64_t *messages = arena_zalloc(arena, delivery.message_count, sizeof *messages);
  if (!messages) {
    *ret_no_memory = true;
    return false;
  }
  for (size_t i = 0; i < delivery.message_count; i++) messages[i] = record_read_u64(reader);
  delivery.messages = messages;
  if (reader->at < reader->end && !decode_rest(reader, arena, &delivery)) {
    *ret_no_memory = true;
    return false;
  }
  if (!record_close(reader)) return false;
  *ret_delivery = delivery;
  return true;
}

static int read_delivery(uint32_t session, uint64_t n, struct tidings_span value,
                         struct arena *arena, struct delivery *ret_delivery,
                         struct tidings_error *error) {
  struct db_key key = row_key(session, ROW_DELIVERY, n);
  struct record_reader reader;
  struct tidings_span copy;
  bool no_memory = false;
  if (arena_copy(arena, value, &copy))
    return fail(error, TIDINGS_E_NOMEM, "no memory for a delivery");
  if (!record_open(&reader, &key, copy) ||
      !delivery_decode(&reader, arena, ret_delivery, &no_memory)) {
    return no_memory ? fail(error, TIDINGS_E_NOMEM, "no memory for a delivery")
                     : row_damaged(error, "delivery", session, n);
  }
  ret_delivery->n = n;
  return 0;
}

int delivery_get(struct store_txn *txn, uint32_t session, uint64_t n, struct arena *arena,
                 struct delivery *ret_delivery, struct tidings_error *error) {
  struct db_key key = row_key(session, ROW_DELIVERY, n);
  struct tidings_span value;
  int rc = row_get(txn, &key, &value);
  if (rc) return db_failed(error, rc, "read a delivery");
  if (!value.ptr) return fail(error, TIDINGS_E_NOT_FOUND, "the store has no such delivery");
  return read_delivery(session, n, value, arena, ret_delivery, error);
}

static int make_up(const struct head *head, uint64_t n, struct arena *arena,
                   struct delivery *ret_delivery, struct tidings_error *error) {
  struct disposition_range *dispositions =
      arena_zalloc(arena, head->taken_count, sizeof *dispositions);
  size_t count = 0;
  if (!dispositions) return fail(error, TIDINGS_E_NOMEM, "no memory for a delivery");
  for (size_t i = 0; i < head->taken_count; i++) {
    const struct taken *taken = &head->taken[i];
    if (taken->delivery == n)
      dispositions[count++] =
          (struct disposition_range){taken->first, taken->last, 0, OUTCOME_DELIVERED, REASON_SHOWN};
  }
  *ret_delivery = (struct delivery){
      .n = n,
      .epoch = head->epoch,
      .leased_ms = head->attached_ms,
      .state = DELIVERY_LEASED,
      .carrier = CARRIER_NONE,
      .after = count ? dispositions[count - 1].last : 0,
      .dispositions = dispositions,
      .disposition_count = count,
  };
  return 0;
}

int delivery_get_leased(struct store_txn *txn, uint32_t session, const struct head *head,
                        uint64_t n, struct arena *arena, struct delivery *ret_delivery,
                        struct tidings_error *error) {
  struct db_key key = row_key(session, ROW_DELIVERY, n);
  struct tidings_span value;
  int rc = row_get(txn, &key, &value);
  if (rc) return db_failed(error, rc, "read a delivery");
  int code =
      !value.ptr ? TIDINGS_E_STORE : read_delivery(session, n, value, arena, ret_delivery, NULL);
  if (code == TIDINGS_E_NOMEM) return fail(error, code, "no memory for a delivery");
  return code ? make_up(head, n, arena, ret_delivery, error) : 0;
}

int delivery_put(struct store_txn *txn, uint32_t session, const struct delivery *delivery,
                 struct tidings_error *error) {
  struct db_key key = row_key(session, ROW_DELIVERY, delivery->n);
  struct buffer body = BUFFER_EMPTY;
  delivery_encode(&body, delivery);
  return row_put(txn, &key, &body, error);
}

int delivery_scan(struct store_txn *txn, uint32_t session, struct arena *arena,
                  delivery_visitor each, void *context, struct tidings_error *error) {
  struct db_key from = row_key(session, ROW_DELIVERY, 0);
  struct db_cursor cursor;
  int code = 0, rc = db_cursor_open(txn->db, &cursor);
  if (rc) return db_failed(error, rc, "read deliveries");
  rc = db_cursor_seek(&cursor, &from);
  while (!rc && row_key_is_like(cursor.key, &from)) {
    struct delivery delivery;
    code = read_delivery(session, row_key_n(cursor.key), cursor.value, arena, &delivery, error);
    bool damaged = code == TIDINGS_E_STORE;
    if (!code) code = each(context, &delivery);
    if (code && !damaged) break;
    code = 0;
    rc = db_cursor_next(&cursor);
  }
  db_cursor_close(&cursor);
  return rc ? db_failed(error, rc, "read deliveries") : code;
}
