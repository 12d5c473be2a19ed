/* SPDX-License-Identifier: MIT
 *
 * store/rows/rows_turns.c: what a run, a message and a transition look like as a record.
 */
#include "store/rows/record.h"

enum run_flag {
  RUN_TOLD = 1,
  RUN_ABORTED = 2,
  RUN_COMPACTING = 4,
  RUN_STEERING = 8,
  RUN_SETTLING = 16,
  RUN_FLAGS = 32
};
enum message_flag {
  FLAG_STEER = 1,
  FLAG_WAITED = 2,
  FLAG_OF_TURN = 4,
  FLAG_ORPHANED = 8,
  MESSAGE_FLAGS = 16
};

static uint64_t flag(bool set, unsigned bit) { return set ? bit : 0; }

void encode_run(struct buffer *out, const struct run *run) {
  record_u64(out, run->state);
  record_u64(out, run->phase);
  record_u64(out, run->kind);
  record_u64(out, flag(run->told, RUN_TOLD) | flag(run->aborted, RUN_ABORTED) |
                      flag(run->compacting, RUN_COMPACTING) | flag(run->steering, RUN_STEERING) |
                      flag(run->settling, RUN_SETTLING));
  record_u64(out, run->attempt);
  record_bytes(out, run->words);
  record_i64(out, run->started_ms);
  record_i64(out, run->settle_since_ms);
  record_u64(out, run->settle_last);
  record_u64(out, run->system_turns);
  record_u64(out, run->system_item);
  record_u64(out, run->orphaned);
  record_u64(out, run->auto_turns);
  record_u64(out, run->asked);
  record_u64(out, run->last_message);
  record_u64(out, run->first_message);
  record_u64(out, run->last_place);
  record_i64(out, run->last_stamp_ms);
  record_u64(out, run->abort_count);
  for (uint32_t i = 0; i < run->abort_count; i++) record_i64(out, run->aborts_ms[i]);
}

void decode_run(struct record_reader *reader, struct run *ret_run) {
  struct run run = {0};
  run.state = record_read_below(reader, RUN_STATE_COUNT);
  run.phase = record_read_below(reader, PHASE_COUNT);
  run.kind = record_read_below(reader, TURN_KIND_COUNT);
  uint8_t flags = record_read_below(reader, RUN_FLAGS);
  run.told = flags & RUN_TOLD;
  run.aborted = flags & RUN_ABORTED;
  run.compacting = flags & RUN_COMPACTING;
  run.steering = flags & RUN_STEERING;
  run.settling = flags & RUN_SETTLING;
  run.attempt = (uint32_t)record_read_u64(reader);
  run.words = record_read_bytes(reader);
  run.started_ms = record_read_i64(reader);
  run.settle_since_ms = record_read_i64(reader);
  run.settle_last = record_read_u64(reader);
  run.system_turns = record_read_u64(reader);
  run.system_item = record_read_u64(reader);
  run.orphaned = record_read_u64(reader);
  run.auto_turns = (uint32_t)record_read_u64(reader);
  run.asked = record_read_u64(reader);
  run.last_message = record_read_u64(reader);
  run.first_message = record_read_u64(reader);
  run.last_place = record_read_u64(reader);
  run.last_stamp_ms = record_read_i64(reader);
  run.abort_count = record_read_below(reader, MAX_ABORTS + 1);
  for (uint32_t i = 0; i < run.abort_count; i++) run.aborts_ms[i] = record_read_i64(reader);
  *ret_run = run;
}

void encode_message(struct buffer *out, const struct message *message) {
  record_begin(out);
  record_bytes(out, message->id);
  record_u64(out, message->place);
  record_u64(out, message->delivery);
  record_u64(out, message->carriers);
  record_i64(out, message->stamp_ms);
  record_u64(out, message->state);
  record_u64(out, flag(message->steer, FLAG_STEER) | flag(message->waited, FLAG_WAITED) |
                      flag(message->of_turn, FLAG_OF_TURN) |
                      flag(message->orphaned, FLAG_ORPHANED));
}

bool decode_message(struct record_reader *reader, struct message *ret_message) {
  struct message message = {.id = record_read_bytes(reader)};
  message.place = record_read_u64(reader);
  message.delivery = record_read_u64(reader);
  message.carriers = (uint32_t)record_read_u64(reader);
  message.stamp_ms = record_read_i64(reader);
  message.state = record_read_below(reader, MESSAGE_STATE_COUNT);
  uint8_t flags = record_read_below(reader, MESSAGE_FLAGS);
  message.steer = flags & FLAG_STEER;
  message.waited = flags & FLAG_WAITED;
  message.of_turn = flags & FLAG_OF_TURN;
  message.orphaned = flags & FLAG_ORPHANED;
  if (!message.state || (message.state == MESSAGE_LEASED && !message.carriers) ||
      !record_close(reader))
    return false;
  *ret_message = message;
  return true;
}

void encode_transition(struct buffer *out, const struct transition *transition) {
  record_begin(out);
  record_i64(out, transition->time_ms);
  record_u64(out, transition->event);
  record_u64(out, transition->from);
  record_u64(out, transition->to);
  record_u64(out, transition->abort);
  record_u64(out, transition->system);
  record_u64(out, transition->message_count);
  for (size_t i = 0; i < transition->message_count; i++) {
    record_bytes(out, transition->messages[i].id);
    record_u64(out, transition->messages[i].state);
  }
}

bool decode_transition(struct record_reader *reader, struct arena *arena,
                       struct transition *ret_transition, bool *ret_no_memory) {
  struct transition transition = {.time_ms = record_read_i64(reader)};
  *ret_no_memory = false;
  transition.event = record_read_below(reader, TURNS_EVENT_COUNT);
  transition.from = record_read_below(reader, RUN_STATE_COUNT);
  transition.to = record_read_below(reader, RUN_STATE_COUNT);
  transition.abort = record_read_below(reader, 2);
  transition.system = record_read_u64(reader);
  transition.message_count = record_read_count(reader, 2);
  struct transition_message *messages =
      arena_zalloc(arena, transition.message_count, sizeof *messages);
  if (!messages) {
    *ret_no_memory = true;
    return false;
  }
  for (size_t i = 0; i < transition.message_count; i++) {
    messages[i].id = record_read_bytes(reader);
    messages[i].state = record_read_below(reader, MESSAGE_STATE_COUNT);
  }
  transition.messages = messages;
  if (!record_close(reader)) return false;
  *ret_transition = transition;
  return true;
}
