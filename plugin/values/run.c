/* SPDX-License-Identifier: MIT
 *
 * values/run.c: the names of a run's and a message's states, as people and JSON say them.
 */
#include "values/run.h"

#include <stdio.h>

const char *run_state_name(unsigned state) {
  static const char *const names[RUN_STATE_COUNT] = {"idle",     "starting", "busy",
                                                     "retrying", "waiting",  "error"};
  return state < RUN_STATE_COUNT ? names[state] : "?";
}

const char *message_state_name(unsigned state) {
  static const char *const names[MESSAGE_STATE_COUNT] = {"?",      "queued", "steering",  "offered",
                                                         "leased", "fired",  "cancelled", "closed"};
  return state < MESSAGE_STATE_COUNT ? names[state] : "?";
}

struct system_id system_turn_id(uint64_t n) {
  struct system_id id;
  (void)snprintf(id.text, sizeof id.text, SYSTEM_TURN_PREFIX "%llu", (unsigned long long)n);
  return id;
}
