/* SPDX-License-Identifier: MIT
 */
#include "cli/top/ages.h"

#include <stdbool.h>
#include <stdio.h>
#include <time.h>

int64_t ages_read(const char *time) {
  static const char form[] = "0000-00-00T00:00:00.000Z";
  int numbers[7] = {0}; /* in the order of the text */
  for (size_t i = 0, n = 0; i < sizeof form; i++) {
    bool digit = time[i] >= '0' && time[i] <= '9';
    if (form[i] == '0' ? !digit : time[i] != form[i]) return 0;
    if (digit) numbers[n] = numbers[n] * 10 + (time[i] - '0');
    else n++;
  }
  struct tm parts = {.tm_year = numbers[0] - 1900,
                     .tm_mon = numbers[1] - 1,
                     .tm_mday = numbers[2],
                     .tm_hour = numbers[3],
                     .tm_min = numbers[4],
                     .tm_sec = numbers[5]};
  return (int64_t)timegm(&parts) * 1000 + numbers[6];
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
