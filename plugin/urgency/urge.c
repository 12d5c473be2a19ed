/* SPDX-License-Identifier: MIT
 *
 * urgency/urge.c: what something urgent makes the host do: start a turn in an idle session, stop a stream, or nothing, because the next carrier
 * has it anyway. It never changes which message is next.
 */
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
static void forget_old_aborts(struct run *run, int64_t now_ms, int64_t window_ms) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < run->abort_count; i++) {
    int64_t at = run->aborts_ms[i];
    if (now_ms - at < window_ms && at - now_ms < window_ms) run->aborts_ms[kept++] = at;
  }
  run->abort_count = kept;
}

static void stop_stream(struct step *step) {
  struct run *run = step->run;
  const struct settings *settings = step->input->settings;
  if (run->aborted) return;
  forget_old_aborts(run, step->input->now_ms, settings->abort_window_ms);
  if (run->abort_count >= settings->max_aborts || run->abort_count == MAX_ABORTS) return;
  run->aborts_ms[run->abort_count++] = step->input->now_ms;
  run->aborted = true;
  step->result.abort = true;
}

void urge(struct step *step) {
  if (step->run->state == RUN_IDLE) ask_for_turn(step);
  else if (step->run->state == RUN_BUSY && step->run->phase == PHASE_STREAMING && step->input->urgency.urgent) stop_stream(step);
}
