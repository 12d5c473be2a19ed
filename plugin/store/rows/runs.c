/* SPDX-License-Identifier: MIT
 *
 * store/rows/runs.c: what a run looks like inside the record of its session's head.
 */
#include "store/rows/rows.h"

enum run_flag {
  RUN_OFFER_KNOWN = 1,
  RUN_ABORTED = 2,
  RUN_COMPACTING = 4,
  RUN_STEERING = 8,
  RUN_SETTLING = 16,
  RUN_UNFIT = 32,    /* `unfit` is not 0, and is stored at the end */
  RUN_ASKED_AT = 64, /* the same for `asked_ms` */
  RUN_FLAGS = 128
};

/* `stop` and a flag are stored in the bits above the attempt, because earlier builds read only the
 * lower half of that number. */
enum { STOP_SHIFT = 32, STOP_BITS = 2, ORPHANED_SHIFT = STOP_SHIFT + STOP_BITS };

static uint64_t flag(bool set, unsigned bit) { return set ? bit : 0; }

void run_encode(struct buffer *out, const struct run *run) {
  record_u64(out, run->state);
  record_u64(out, run->phase);
  record_u64(out, run->kind);
  record_u64(out, flag(run->offer_known, RUN_OFFER_KNOWN) | flag(run->aborted, RUN_ABORTED) |
                      flag(run->compacting, RUN_COMPACTING) | flag(run->steering, RUN_STEERING) |
                      flag(run->settling, RUN_SETTLING) | flag(run->unfit, RUN_UNFIT) |
                      flag(run->asked_ms, RUN_ASKED_AT));
  record_u64(out, run->attempt | (uint64_t)run->stop << STOP_SHIFT |
                      (uint64_t)run->calls_orphaned << ORPHANED_SHIFT);
  record_bytes(out, run->words);
  record_i64(out, run->started_ms);
  record_i64(out, run->settle_since_ms);
  record_u64(out, run->settle_last);
  record_u64(out, run->system_turns);
  record_u64(out, run->system_item);
  record_u64(out, run->orphaned);
  record_u64(out, run->auto_turns);
  record_u64(out, run->newest_asking);
  record_u64(out, run->last_message);
  record_u64(out, run->first_message);
  record_u64(out, run->last_place);
  record_i64(out, run->last_stamp_ms);
  record_u64(out, run->abort_count);
  for (uint32_t i = 0; i < run->abort_count; i++) record_i64(out, run->aborts_ms[i]);
  if (run->unfit) record_u64(out, run->unfit);
  if (run->asked_ms) record_i64(out, run->asked_ms);
}

void run_decode(struct record_reader *reader, struct run *ret_run) {
  struct run run = {0};
  run.state = record_read_below(reader, RUN_STATE_COUNT);
  run.phase = record_read_below(reader, PHASE_COUNT);
  run.kind = record_read_below(reader, TURN_KIND_COUNT);
  uint8_t flags = record_read_below(reader, RUN_FLAGS);
  run.offer_known = flags & RUN_OFFER_KNOWN;
  run.aborted = flags & RUN_ABORTED;
  run.compacting = flags & RUN_COMPACTING;
  run.steering = flags & RUN_STEERING;
  run.settling = flags & RUN_SETTLING;
  uint64_t attempt = record_read_u64(reader);
  run.attempt = (uint32_t)attempt;
  run.stop = (uint8_t)(attempt >> STOP_SHIFT & ((1 << STOP_BITS) - 1));
  run.calls_orphaned = attempt >> ORPHANED_SHIFT & 1;
  if (run.stop >= STOP_COUNT || attempt >> ORPHANED_SHIFT > 1) reader->bad = true;
  run.words = record_read_bytes(reader);
  run.started_ms = record_read_i64(reader);
  run.settle_since_ms = record_read_i64(reader);
  run.settle_last = record_read_u64(reader);
  run.system_turns = record_read_u64(reader);
  run.system_item = record_read_u64(reader);
  run.orphaned = record_read_u64(reader);
  run.auto_turns = (uint32_t)record_read_u64(reader);
  run.newest_asking = record_read_u64(reader);
  run.last_message = record_read_u64(reader);
  run.first_message = record_read_u64(reader);
  run.last_place = record_read_u64(reader);
  run.last_stamp_ms = record_read_i64(reader);
  run.abort_count = record_read_below(reader, MAX_ABORTS + 1);
  for (uint32_t i = 0; i < run.abort_count; i++) run.aborts_ms[i] = record_read_i64(reader);
  if (flags & RUN_UNFIT) run.unfit = record_read_u64(reader);
  if (flags & RUN_ASKED_AT) run.asked_ms = record_read_i64(reader);
  *ret_run = run;
}
