/* SPDX-License-Identifier: MIT
 *
 * Compares what the model reads with what tidings says about it, for random notifications,
 * configurations and formats: 20,000 rounds, or TIDINGS_LAWS_ROUNDS; TIDINGS_LAWS_ROUND plays one.
 */
#include <stdlib.h>

#include "laws.h"

struct seen {
  size_t reasons[REASON_COUNT], files, repeated, steered, waiting;
};

static void play(long number, struct seen *seen) {
  static struct round round;
  laws_make(&round, number);
  laws_show(&round);
  law_age(&round);
  law_delivered_is_shown(&round);
  law_nothing_invented(&round);
  law_critical_first(&round);
  law_newest_state(&round);
  law_one_unit(&round);
  law_order_of_commit(&round);
  law_room(&round);
  for (size_t f = 0; f < round.plan.disposition_count; f++)
    seen->reasons[round.plan.dispositions[f].reason]++;
  for (size_t l = 0; l < round.plan.line_count; l++) {
    seen->files += round.plan.lines[l].files != NULL;
    seen->repeated += !round.plan.lines[l].files && round.plan.lines[l].count > 1;
  }
  seen->steered += round.steered_count;
  seen->waiting += round.reading.waiting;
  arena_free(&round.arena);
}

static long number_in(const char *variable, long otherwise) {
  const char *given = getenv(variable);
  return given ? strtol(given, NULL, 10) : otherwise;
}

Test(laws, what_tidings_says_is_what_the_model_reads) {
  struct seen seen = {.files = 0};
  long alone = number_in("TIDINGS_LAWS_ROUND", -1),
       rounds = number_in("TIDINGS_LAWS_ROUNDS", 20000);
  if (alone >= 0) {
    play(alone, &seen);
    return;
  }
  for (long number = 0; number < rounds; number++) play(number, &seen);
  cr_expect(seen.reasons[REASON_SHORTENED] && seen.reasons[REASON_COUNTED] &&
            seen.reasons[REASON_NEWER_STATE] && seen.reasons[REASON_OPPOSITE] &&
            seen.reasons[REASON_CAP_OLDEST] && seen.reasons[REASON_CAP_LOWEST]);
  cr_expect(seen.files && seen.repeated && seen.steered && seen.waiting);
}
