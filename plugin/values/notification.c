/* SPDX-License-Identifier: MIT
 *
 * values/notification.c: the names of levels and outcomes, as people and JSON say them.
 */
#include "values/notification.h"

const char *level_name(unsigned level) {
  static const char *const names[LEVEL_COUNT] = {"info", "warning", "error", "critical"};
  return level < LEVEL_COUNT ? names[level] : "?";
}

const char *outcome_name(unsigned outcome) {
  static const char *const names[OUTCOME_COUNT] = {"none",        "delivered", "superseded",
                                                   "annihilated", "withdrawn", "expired",
                                                   "filtered",    "dropped",   "closed"};
  return outcome < OUTCOME_COUNT ? names[outcome] : "?";
}
