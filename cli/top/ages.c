/* SPDX-License-Identifier: MIT
 *
 * top/ages.c: see the header.
 */
#include "cli/top/ages.h"

#include <stdio.h>
#include <time.h>

int64_t ages_read(const char *time) {
  struct tm parts = {.tm_isdst = 0};
  int ms = 0;
  if (sscanf(time, "%4d-%2d-%2dT%2d:%2d:%2d.%3dZ", &parts.tm_year, &parts.tm_mon, &parts.tm_mday,
             &parts.tm_hour, &parts.tm_min, &parts.tm_sec, &ms) < 6)
    return 0;
  parts.tm_year -= 1900;
  parts.tm_mon--;
  return (int64_t)timegm(&parts) * 1000 + ms;
}

struct age ages_since(int64_t time_ms, int64_t now_ms) {
  static const struct {
    int64_t ms;
    char name;
  } units[] = {{86400000, 'd'}, {3600000, 'h'}, {60000, 'm'}, {1000, 's'}};
  struct age age = {.text = ""};
  if (!time_ms) return age;
  int64_t ms = now_ms > time_ms ? now_ms - time_ms : 0;
  size_t i = 0;
  while (i < 3 && ms < units[i].ms) i++;
  int64_t count = ms / units[i].ms;
  (void)snprintf(age.text, sizeof age.text, "%d%c", count < 999 ? (int)count : 999, units[i].name);
  age.until_ms = time_ms + (count + 1) * units[i].ms;
  return age;
}
