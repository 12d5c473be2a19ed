/* SPDX-License-Identifier: MIT
 *
 * rules/turns/urge.c: decides what the host does about an urgent notification: start a turn in an
 * idle session, stop a stream, or nothing, because the next carrier has it anyway. It never changes
 * which message is next. And it says in which runs looking for that can be left out.
 */
#include "rules/turns/internal.h"

/* Each item asks once for a turn of the plugin's own, until something is shown or comes back. An
 * item that was not due when those before it asked does so when it is due. If a queued message
 * starts the turn, the item may ask again, because that message may be cancelled. */
static void ask_for_turn(struct step *step) {
  struct run *run = step->run;
  const struct urgency *urgency = &step->input->urgency;
  bool fresh = urgency->asking > run->newest_asking ||
               (urgency->asking && run->asked_ms && urgency->due_ms > run->asked_ms);
  if (!fresh) return;
  if (turns_anything_due(step)) {
    turns_offer_batch(step);
  } else if (run->auto_turns < step->input->settings->max_auto_turns) {
    turns_offer_system_turn(step);
    if (urgency->asking > run->newest_asking) run->newest_asking = urgency->asking;
    run->asked_ms = step->input->now_ms;
  }
}

/* A time further away than the window, in either direction, does not count: the clock may jump. */
static bool still_counts(int64_t at_ms, int64_t now_ms, int64_t window_ms) {
  return now_ms - at_ms < window_ms && at_ms - now_ms < window_ms;
}

/* Records an abort in place of those that do not count any more. */
static void record_abort(struct run *run, int64_t now_ms, int64_t window_ms) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < run->abort_count; i++) {
    if (still_counts(run->aborts_ms[i], now_ms, window_ms))
      run->aborts_ms[kept++] = run->aborts_ms[i];
  }
  run->aborts_ms[kept++] = now_ms; /* fewer than max_aborts counted, which is at most MAX_ABORTS */
  run->abort_count = kept;
}

static void stop_stream(struct step *step) {
  struct run *run = step->run;
  const struct settings *settings = step->input->settings;
  int64_t now_ms = step->input->now_ms, window_ms = settings->abort_window_ms;
  uint32_t recent = 0;
  for (uint32_t i = 0; i < run->abort_count; i++)
    recent += still_counts(run->aborts_ms[i], now_ms, window_ms);
  if (run->aborted || recent >= settings->max_aborts) return;
  record_abort(run, now_ms, window_ms);
  run->aborted = true;
  step->result.abort = true;
}

void turns_urge(struct step *step) {
  if (step->run->state == RUN_IDLE) ask_for_turn(step);
  else if (step->run->state == RUN_BUSY && step->run->phase == PHASE_STREAMING &&
           step->input->urgency.urgent)
    stop_stream(step);
}

bool turns_reacts_to_urgency(const struct run *run) {
  if (run->compacting) return false;
  return run->state == RUN_IDLE ||
         (run->state == RUN_BUSY && run->phase == PHASE_STREAMING && !run->aborted && !run->stop);
}

bool turns_has_unknown_offer(const struct run *run) {
  return run->state == RUN_STARTING && !run->offer_known && !run->compacting;
}
