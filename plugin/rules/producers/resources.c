/* SPDX-License-Identifier: MIT
 *
 * rules/producers/resources.c: the configuration, the token budget, the provider's patience.
 */
#include "rules/producers/internal.h"

void produce_config_changed(const struct report *report, struct produced *produced,
                            struct buffer *words) {
  set_kind(&produced->note, "config", "reloaded", TIDINGS_LEVEL_INFO);
  buffer_text(words, "Configuration reloaded: ");
  buffer_span(words, report->summary);
}

/* used >= percent of limit, without overflow. */
static bool reaches(int64_t used, int64_t limit, int64_t percent) {
  return used >= limit / 100 * percent + (limit % 100 * percent + 99) / 100;
}

/* A threshold that usage has fallen below may speak again; of those that are crossed at once the
 * highest speaks. */
void produce_budget_usage(const struct report *report, struct produced *produced,
                          struct buffer *words) {
  static const uint8_t thresholds[] = {75, 90, 95};
  uint8_t reached = 0, before = produced->memory.budget_percent;
  for (size_t i = 0; i < sizeof thresholds / sizeof *thresholds; i++) {
    if (reaches(report->used, report->limit, thresholds[i])) reached = thresholds[i];
  }
  produced->memory.budget_percent = reached;
  if (reached <= before) return;
  set_kind(&produced->note, "budget", "threshold",
           reached == 95 ? TIDINGS_LEVEL_ERROR : TIDINGS_LEVEL_WARNING);
  buffer_format(words, "Token budget: %u%% used (%lld of %lld).", reached, (long long)report->used,
                (long long)report->limit);
}

void produce_rate_limited(const struct report *report, struct produced *produced,
                          struct buffer *words) {
  int64_t seconds = report->retry_after_ms / 1000 + (report->retry_after_ms % 1000 > 0);
  set_kind(&produced->note, "rate", "limited", TIDINGS_LEVEL_WARNING);
  buffer_format(words, "Rate limited; retry after %lld s.", (long long)seconds);
}
