/* SPDX-License-Identifier: MIT
 *
 * urgency/urge.c: what something urgent makes the host do: start a turn in an idle session, stop a stream, or nothing, because the next carrier
 * has it anyway. It never changes which message is next.
 */
#include <string.h>

#include "turns/internal.h"

/* Each item asks once, until something is shown or comes back. */
static void ask_for_turn(struct step *step) {
  struct run *run = step->run;
  const struct urgency *urgency = &step->input->urgency;
  if (urgency->asking <= run->asked) return;
  if (anything_queued(step->turns)) offer_batch(step);
  else if (run->auto_turns < step->input->settings->max_auto_turns) offer_system_turn(step);
  if (run->state == RUN_STARTING) run->asked = urgency->asking;
}

/* Whichever way the clock jumps, what lies further off than the window does not count. */
static uint32_t count_aborts(const struct run *run, int64_t now_ms, int64_t window_ms) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < run->abort_count; i++) {
    int64_t at = run->aborts_ms[i];
    count += now_ms - at < window_ms && at - now_ms < window_ms;
  }
  return count;
}

/* The newest are kept: as many as may ever count. */
static void record_abort(struct run *run, int64_t now_ms) {
  if (run->abort_count == MAX_ABORTS) {
    run->abort_count--;
    memmove(&run->aborts_ms[0], &run->aborts_ms[1], run->abort_count * sizeof *run->aborts_ms);
  }
  run->aborts_ms[run->abort_count++] = now_ms;
}

static void stop_stream(struct step *step) {
  struct run *run = step->run;
  const struct settings *settings = step->input->settings;
  if (run->aborted || count_aborts(run, step->input->now_ms, settings->abort_window_ms) >= settings->max_aborts) return;
  record_abort(run, step->input->now_ms);
  run->aborted = true;
  step->result.abort = true;
}

void urge(struct step *step) {
  if (step->run->state == RUN_IDLE) ask_for_turn(step);
  else if (step->run->state == RUN_BUSY && step->run->phase == PHASE_STREAMING && step->input->urgency.urgent) stop_stream(step);
}
