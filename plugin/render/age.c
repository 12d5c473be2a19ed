/* SPDX-License-Identifier: MIT
 */
#include "render/age.h"

#include <inttypes.h>
#include <stdio.h>

/* A unit is used until the next larger one is exact enough. */
static const struct {
  const char *name;
  int64_t ms, below;
} units[] = {{"s", 1000, 60 * INT64_C(1000)},
             {"min", 60000, 120 * INT64_C(60000)},
             {"h", 3600000, 48 * INT64_C(3600000)},
             {"days", 86400000, INT64_MAX}};

struct age render_age(const struct render_input *input, const struct line *line) {
  struct age age = {.len = 0};
  int64_t passed;
  size_t unit = 0;
  if (!input->age_after_ms || __builtin_sub_overflow(input->now_ms, line->time_ms, &passed) ||
      passed <= (int64_t)input->age_after_ms || passed < units[0].ms)
    return age;
  while (passed >= units[unit].below && units[unit].below != INT64_MAX) unit++;
  age.len =
      (size_t)snprintf(age.text, sizeof age.text, "%s%" PRId64 " %s ago",
                       line->count > 1 ? "newest " : "", passed / units[unit].ms, units[unit].name);
  return age;
}
