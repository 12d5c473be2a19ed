/* SPDX-License-Identifier: MIT
 *
 * top/ages.h: ages of events in at most four columns. Pure.
 */
#ifndef TIDINGS_CLI_TOP_AGES_H
#define TIDINGS_CLI_TOP_AGES_H

#include <stdint.h>

/* Converts a time of RFC 3339 in UTC to milliseconds since 1970; 0: this is no such time. */
int64_t ages_read(const char *time);

struct age {
  char text[8];     /* "7s", "59m", "3h", "12d"; "": there is no time */
  int64_t until_ms; /* when the text changes; 0: never */
};
struct age ages_since(int64_t time_ms, int64_t now_ms);

#endif
