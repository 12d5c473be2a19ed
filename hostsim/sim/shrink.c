/* SPDX-License-Identifier: MIT
 *
 * sim/shrink.c: delta debugging by leaving out.
 */
#include "sim/shrink.h"

#include <string.h>

struct shrinking {
  struct schedule *schedule;
  shrink_trial *trial;
  void *context;
  unsigned done, most;
};

/* Takes the candidate over if it still shows the difference. */
static bool attempt(struct shrinking *shrinking, const struct schedule *candidate) {
  if (shrinking->done >= shrinking->most) return false;
  shrinking->done++;
  if (!shrinking->trial(shrinking->context, candidate)) return false;
  *shrinking->schedule = *candidate;
  return true;
}

static void without(const struct schedule *schedule, size_t first, size_t count,
                    struct schedule *ret_candidate) {
  *ret_candidate = *schedule;
  size_t behind = schedule->step_count - first - count;
  memmove(ret_candidate->steps[first], schedule->steps[first + count], behind * SCHEDULE_STEP);
  ret_candidate->step_count -= count;
}

/* From the end: what a difference needs is mostly near it, and what came after it goes first. */
static bool drop_chunks(struct shrinking *shrinking, size_t size) {
  static struct schedule candidate;
  bool dropped = false;
  for (size_t end = shrinking->schedule->step_count; end > 0;) {
    size_t first = end > size ? end - size : 0;
    without(shrinking->schedule, first, end - first, &candidate);
    dropped = attempt(shrinking, &candidate) || dropped;
    end = first;
  }
  return dropped;
}

/* Two that only make sense together, such as a fault and its repair. */
static bool drop_pairs(struct shrinking *shrinking) {
  enum { FEW_STEPS = 32 };
  static struct schedule one, both;
  for (size_t second = shrinking->schedule->step_count;
       second-- > 1 && shrinking->schedule->step_count <= FEW_STEPS;) {
    for (size_t first = second; first-- > 0;) {
      without(shrinking->schedule, second, 1, &one);
      without(&one, first, 1, &both);
      if (attempt(shrinking, &both)) return true;
    }
  }
  return false;
}

static bool clear(struct shrinking *shrinking, size_t step, size_t byte, bool head) {
  static struct schedule candidate;
  candidate = *shrinking->schedule;
  uint8_t *at = head ? &candidate.head[byte] : &candidate.steps[step][byte];
  if (*at == 0) return false;
  *at = 0;
  return attempt(shrinking, &candidate);
}

unsigned schedule_shrink(struct schedule *schedule, shrink_trial *trial, void *context,
                         unsigned trials) {
  struct shrinking shrinking = {
      .schedule = schedule, .trial = trial, .context = context, .most = trials};
  for (size_t size = schedule->step_count; size > 1; size = (size + 1) / 2)
    (void)drop_chunks(&shrinking, size / 2 > 0 ? size / 2 : 1);
  while (drop_chunks(&shrinking, 1)) {}
  for (size_t byte = 0; byte < SCHEDULE_HEAD; byte++) (void)clear(&shrinking, 0, byte, true);
  for (size_t step = 0; step < schedule->step_count; step++)
    for (size_t byte = 1; byte < SCHEDULE_STEP; byte++) (void)clear(&shrinking, step, byte, false);
  while (drop_chunks(&shrinking, 1) || drop_pairs(&shrinking)) {}
  return shrinking.done;
}
