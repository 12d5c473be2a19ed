/* SPDX-License-Identifier: MIT
 *
 * feed/pace.h: how many notifications a minute are passed on. More than that is counted, and
 * becomes one summary. Pure: times are handed in.
 */
#ifndef CLI_FEED_PACE_H
#define CLI_FEED_PACE_H

#include <stdbool.h>
#include <stdint.h>

struct pace {
  uint64_t per_minute; /* 0: no limit */
  int64_t begun_ms;    /* of the minute that runs */
  uint64_t passed, held;
};

enum { PACE_MINUTE_MS = 60000 };

/* May one more be passed on? Else it is counted. */
bool pace_take(struct pace *pace, int64_t now_ms);
/* How many were held back in a minute that is over, or in this one if it is the `last`; 0: nothing
 * is to be said now. They are forgotten. */
uint64_t pace_over(struct pace *pace, int64_t now_ms, bool last);
/* How long until there may be something to say; -1: nothing will. */
int pace_wait_ms(const struct pace *pace, int64_t now_ms);

#endif
