/* SPDX-License-Identifier: MIT
 *
 * store/rows/rows.c: what an item, a head and a delivery look like as a record. Fields are in a
 * fixed order; a later format number may append.
 */
#include "store/rows/record.h"

void encode_item(struct buffer *out, int64_t time_ms, const struct notification *note) {
  record_begin(out);
  record_i64(out, time_ms);
  record_i64(out, note->ttl_ms);
  record_u64(out, note->level);
  record_u64(out, note->activation);
  record_bytes(out, note->source);
  record_bytes(out, note->name);
  record_bytes(out, note->message);
  record_bytes(out, note->data);
  record_bytes(out, note->key);
  record_bytes(out, note->tool);
  record_bytes(out, note->handle);
  record_bytes(out, note->caused_by);
}

bool decode_item(struct record_reader *reader, struct item *ret_item) {
  struct notification *note = &ret_item->note;
  ret_item->time_ms = record_read_i64(reader);
  note->ttl_ms = record_read_i64(reader);
  note->level = record_read_below(reader, LEVEL_COUNT);
  note->activation = record_read_below(reader, ACTIVATION_INTERRUPT + 1);
  note->source = record_read_bytes(reader);
  note->name = record_read_bytes(reader);
  note->message = record_read_bytes(reader);
  note->data = record_read_bytes(reader);
  note->key = record_read_bytes(reader);
  note->tool = record_read_bytes(reader);
  note->handle = record_read_bytes(reader);
  note->caused_by = record_read_bytes(reader);
  return record_close(reader);
}

static void encode_owner(struct buffer *out, const struct owner *owner) {
  record_u64(out, owner->pid);
  if (!owner->pid) return;
  buffer_append(out, owner->boot_id, sizeof owner->boot_id);
  record_u64(out, owner->pid_namespace);
  record_u64(out, owner->start_time);
}

static void decode_owner(struct record_reader *reader, struct owner *owner) {
  uint64_t pid = record_read_u64(reader);
  memset(owner, 0, sizeof *owner);
  if (!pid) return;
  if (pid > INT32_MAX || (size_t)(reader->end - reader->at) < sizeof owner->boot_id) {
    reader->bad = true;
    return;
  }
  owner->pid = (uint32_t)pid;
  memcpy(owner->boot_id, reader->at, sizeof owner->boot_id);
  reader->at += sizeof owner->boot_id;
  owner->pid_namespace = record_read_u64(reader);
  owner->start_time = record_read_u64(reader);
}

/* Ranges are stored as differences: they are short, and order is checked on the way in. */
static void encode_taken(struct buffer *out, const struct head *head) {
  uint64_t base = head->watermark;
  record_u64(out, head->taken_count);
  for (size_t i = 0; i < head->taken_count; i++) {
    const struct taken *taken = &head->taken[i];
    record_u64(out, taken->first - base);
    record_u64(out, taken->last - taken->first);
    record_u64(out, taken->delivery);
    base = taken->last + 1;
  }
}

static struct taken *decode_taken(struct record_reader *reader, struct arena *arena, uint64_t base,
                                  size_t *ret_count) {
  size_t count = record_read_count(reader, 3);
  struct taken *taken = arena_zalloc(arena, count, sizeof *taken);
  for (size_t i = 0; taken && i < count; i++) {
    taken[i].first = base + record_read_u64(reader);
    taken[i].last = taken[i].first + record_read_u64(reader);
    taken[i].delivery = record_read_u64(reader);
    if (taken[i].first < base || taken[i].last < taken[i].first || taken[i].last == UINT64_MAX)
      reader->bad = true;
    base = taken[i].last + 1;
  }
  *ret_count = count;
  return taken;
}

void encode_head(struct buffer *out, const struct head *head) {
  record_begin(out);
  record_u64(out, head->generation);
  record_u64(out, head->watermark);
  record_u64(out, head->floor);
  record_u64(out, head->last_delivery);
  record_u64(out, head->dedup_cursor);
  record_u64(out, head->epoch);
  encode_owner(out, &head->owner);
  record_u64(out, head->former_count);
  for (size_t i = 0; i < head->former_count; i++) encode_owner(out, &head->formers[i]);
  record_i64(out, head->attached_ms);
  record_i64(out, head->closed_ms);
  record_bytes(out, head->cwd);
  record_bytes(out, head->host);
  encode_taken(out, head);
  record_u64(out, head->leased_count);
  for (size_t i = 0; i < head->leased_count; i++) record_u64(out, head->leased[i]);
  record_u64(out, OUTCOME_COUNT);
  for (size_t i = 0; i < OUTCOME_COUNT; i++) record_u64(out, head->outcomes[i]);
  encode_run(out, &head->run);
  record_u64(out, head->last_transition);
  record_u64(out, head->message_cursor);
}

bool decode_head(struct record_reader *reader, struct arena *arena, struct head *ret_head,
                 bool *ret_no_memory) {
  struct head head = {0};
  *ret_no_memory = false;
  head.generation = record_read_u64(reader);
  head.watermark = record_read_u64(reader);
  head.floor = record_read_u64(reader);
  head.last_delivery = record_read_u64(reader);
  head.dedup_cursor = record_read_u64(reader);
  head.epoch = record_read_u64(reader);
  decode_owner(reader, &head.owner);
  head.former_count = record_read_below(reader, FORMERS + 1);
  for (size_t i = 0; i < head.former_count; i++) decode_owner(reader, &head.formers[i]);
  head.attached_ms = record_read_i64(reader);
  head.closed_ms = record_read_i64(reader);
  head.cwd = record_read_bytes(reader);
  head.host = record_read_bytes(reader);
  head.taken = decode_taken(reader, arena, head.watermark, &head.taken_count);
  head.leased_count = record_read_count(reader, 1);
  uint64_t *leased = arena_zalloc(arena, head.leased_count, sizeof *leased);
  if (!head.taken || !leased) {
    *ret_no_memory = true;
    return false;
  }
  for (size_t i = 0; i < head.leased_count; i++) leased[i] = record_read_u64(reader);
  head.leased = leased;
  if (record_read_u64(reader) != OUTCOME_COUNT) reader->bad = true;
  for (size_t i = 0; i < OUTCOME_COUNT; i++) head.outcomes[i] = record_read_u64(reader);
  decode_run(reader, &head.run);
  head.last_transition = record_read_u64(reader);
  head.message_cursor = record_read_u64(reader);
  if (!record_close(reader)) return false;
  *ret_head = head;
  return true;
}

void encode_delivery(struct buffer *out, const struct delivery *delivery) {
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
  record_u64(out, delivery->fate_count);
  uint64_t base = 0;
  for (size_t i = 0; i < delivery->fate_count; i++) {
    const struct fate_range *fate = &delivery->fates[i];
    record_u64(out, fate->first - base);
    record_u64(out, fate->last - fate->first);
    record_u64(out, fate->outcome);
    record_u64(out, fate->reason);
    record_u64(out, fate->ref);
    base = fate->last + 1;
  }
  record_u64(out, delivery->message_count);
  for (size_t i = 0; i < delivery->message_count; i++) record_u64(out, delivery->messages[i]);
}

bool decode_delivery(struct record_reader *reader, struct arena *arena,
                     struct delivery *ret_delivery, bool *ret_no_memory) {
  struct delivery delivery = {0};
  *ret_no_memory = false;
  delivery.epoch = record_read_u64(reader);
  delivery.leased_ms = record_read_i64(reader);
  delivery.settled_ms = record_read_i64(reader);
  delivery.state = record_read_below(reader, DELIVERY_ROLLED_BACK + 1);
  delivery.carrier = record_read_below(reader, CARRIER_CLOSED + 1);
  delivery.settled_by = record_read_below(reader, SETTLED_ON_RETURN + 1);
  delivery.source = record_read_below(reader, 2);
  delivery.after = record_read_u64(reader);
  delivery.call_id = record_read_bytes(reader);
  delivery.tool = record_read_bytes(reader);
  delivery.fate_count = record_read_count(reader, 5);
  struct fate_range *fates = arena_zalloc(arena, delivery.fate_count, sizeof *fates);
  if (!fates) {
    *ret_no_memory = true;
    return false;
  }
  uint64_t base = 0;
  for (size_t i = 0; i < delivery.fate_count; i++) {
    fates[i].first = base + record_read_u64(reader);
    fates[i].last = fates[i].first + record_read_u64(reader);
    fates[i].outcome = record_read_below(reader, OUTCOME_COUNT);
    fates[i].reason = record_read_below(reader, REASON_COUNT);
    fates[i].ref = record_read_u64(reader);
    if (fates[i].first < base || fates[i].last < fates[i].first || fates[i].last > delivery.after ||
        fates[i].last == UINT64_MAX)
      reader->bad = true;
    base = fates[i].last + 1;
  }
  delivery.fates = fates;
  delivery.message_count = record_read_count(reader, 1);
  uint64_t *messages = arena_zalloc(arena, delivery.message_count, sizeof *messages);
  if (!messages) {
    *ret_no_memory = true;
    return false;
  }
  for (size_t i = 0; i < delivery.message_count; i++) messages[i] = record_read_u64(reader);
  delivery.messages = messages;
  if (!record_close(reader)) return false;
  *ret_delivery = delivery;
  return true;
}
