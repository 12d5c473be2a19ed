/* SPDX-License-Identifier: MIT
 *
 * tests/model/setups.c: with these depths, exploring all setups takes about 20 s on one core. The
 * command line can set greater depths.
 */
#include "setups.h"

enum { ALL = 1000 }; /* there are no more states long before this depth */

#define LIMITS                                                                                     \
  .max_auto_turns = 1, .critical_force = true, .max_aborts = 1, .abort_window_ms = TICK_MS
#define CRITICAL .item_urgent = true, .item_asks = true
#define SERIAL .discipline = DISCIPLINE_SERIAL
#define COALESCING .discipline = DISCIPLINE_COALESCING

static const struct setup setups[] = {
    {.name = "one message", .settings = {SERIAL, LIMITS}, .messages = 1, .depth = ALL, CRITICAL},
    {.name = "serial", .settings = {SERIAL, LIMITS}, .messages = 2, .depth = 9, CRITICAL},
    {.name = "coalescing",
     .settings = {COALESCING, LIMITS},
     .messages = 2,
     .depth = 8,
     CRITICAL,
     .tight = true},
    {.name = "serial with a settle delay",
     .settings = {SERIAL, LIMITS, .settle_delay_ms = TICK_MS},
     .messages = 2,
     .depth = 8,
     CRITICAL,
     .clock = true},
    {.name = "coalescing with a settle delay",
     .settings = {COALESCING, LIMITS, .settle_delay_ms = TICK_MS},
     .messages = 2,
     .depth = 8,
     CRITICAL,
     .clock = true,
     .tight = true},
    {.name = "held after a restart",
     .settings = {SERIAL, LIMITS, .restart_hold = true},
     .messages = 2,
     .depth = 8,
     .item_asks = true},
    {.name = "never settled",
     .settings = {COALESCING, LIMITS},
     .messages = 2,
     .depth = ALL,
     CRITICAL,
     .fires_at_once = true},
    {.name = "three messages",
     .settings = {SERIAL, LIMITS},
     .messages = 3,
     .depth = 8,
     .tight = true},
};

const struct setup *setups_all(size_t *ret_count) {
  *ret_count = sizeof setups / sizeof *setups;
  return setups;
}
