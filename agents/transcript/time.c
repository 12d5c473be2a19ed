/* SPDX-License-Identifier: MIT
 */
#include "agents/transcript/time.h"

#include <ctype.h>
#include <string.h>
#include <time.h>

int64_t hook_time_ms(const char *text) {
  struct tm parts = {.tm_isdst = 0};
  const char *rest = strptime(text, "%Y-%m-%dT%H:%M:%S", &parts);
  int64_t ms = 0;
  if (rest && *rest == '.') {
    for (int64_t unit = 100; isdigit((unsigned char)*++rest); unit /= 10)
      ms += (*rest - '0') * unit;
  }
  if (!rest || strcmp(rest, "Z") != 0) return 0;
  time_t seconds = timegm(&parts);
  return seconds > 0 ? (int64_t)seconds * 1000 + ms : 0;
}
