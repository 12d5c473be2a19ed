/* SPDX-License-Identifier: MIT
 *
 * command/due.c: uses the wall clock for times and durations: a message that is due in 20 minutes
 * is due then even if the machine sleeps or restarts in between.
 */
#include "command/due.h"

#include <string.h>
#include <time.h>

#include "common/clock.h"

/* Reads a time zone, "Z" or "+01:00", at the end of `text`, after a time of day. Returns its
 * length, and in *ret_minutes how far it is ahead of UTC. 0: there is no zone. */
static size_t zone_at_end(const char *text, long *ret_minutes) {
  size_t len = strlen(text);
  unsigned hours, minutes;
  *ret_minutes = 0;
  if (len && (text[len - 1] == 'Z' || text[len - 1] == 'z')) return 1;
  if (len < 6 || (text[len - 6] != '+' && text[len - 6] != '-') || text[len - 3] != ':') return 0;
  const char *at = &text[len - 5];
  if (strspn(at, "0123456789") != 2 || strspn(at + 3, "0123456789") != 2) return 0;
  hours = (unsigned)(at[0] - '0') * 10 + (unsigned)(at[1] - '0');
  minutes = (unsigned)(at[3] - '0') * 10 + (unsigned)(at[4] - '0');
  if (hours > 23 || minutes > 59) return 0;
  *ret_minutes = (long)(hours * 60 + minutes) * (at[-1] == '-' ? -1 : 1);
  return 6;
}

/* *ret_dated: the text has a date; if not, only hours, minutes and seconds are set. */
static int read_parts(const char *text, struct tm *ret_parts, bool *ret_dated) {
  struct tm parts = {.tm_isdst = -1};
  const char *rest = strptime(text, "%Y-%m-%d", &parts);
  *ret_dated = rest;
  if (rest && *rest) {
    if (*rest != ' ' && *rest != 'T' && *rest != 't') return -1;
    rest++;
  }
  if (!rest || *rest) {
    rest = strptime(rest ? rest : text, "%H:%M", &parts);
    if (rest && *rest == ':') rest = strptime(rest, ":%S", &parts);
  }
  *ret_parts = parts;
  return rest && !*rest ? 0 : -1;
}

static int read_next_time_of_day(const struct tm *wanted, int64_t now_ms, int64_t *ret_ms) {
  time_t now = (time_t)(now_ms / 1000);
  for (int day = 0; day < 2; day++) {
    struct tm parts;
    if (!localtime_r(&now, &parts)) return -1;
    parts.tm_mday += day;
    parts.tm_hour = wanted->tm_hour;
    parts.tm_min = wanted->tm_min;
    parts.tm_sec = wanted->tm_sec;
    parts.tm_isdst = -1;
    time_t then = mktime(&parts);
    if (then == (time_t)-1) return -1;
    *ret_ms = (int64_t)then * 1000;
    if (*ret_ms > now_ms) return 0;
  }
  return 0;
}

/* Reads a time. "9:30" and "09:30:15" are the next such time of day after `now_ms`. "2026-11-27"
 * and "2026-11-27 9:30" are local times, or in a zone if "Z" or "+01:00" follows. "@1795766400" is
 * in seconds since 1970. Returns 0, or -1. */
static int read_time(const char *text, int64_t now_ms, int64_t *ret_ms) {
  struct tm parts;
  bool dated;
  long minutes = 0; /* gcc at -O1 does not see that a zone sets it */
  uint64_t seconds;
  char copy[64];
  if (*text == '@') {
    if (cli_number(text + 1, 1, 253402300799, &seconds)) return -1;
    *ret_ms = (int64_t)seconds * 1000;
    return 0;
  }
  size_t len = strlen(text), zone = strchr(text, ':') ? zone_at_end(text, &minutes) : 0;
  if (len >= sizeof copy) return -1;
  memcpy(copy, text, len - zone);
  copy[len - zone] = '\0';
  if (read_parts(copy, &parts, &dated) || (zone && !dated)) return -1;
  if (!dated) return read_next_time_of_day(&parts, now_ms, ret_ms);
  if (!clock_day_exists(&parts)) return -1;
  time_t then = zone ? timegm(&parts) - minutes * 60 : mktime(&parts);
  if (then <= 0) return -1;
  *ret_ms = (int64_t)then * 1000;
  return 0;
}

int due_read(const struct cli *cli, const char *in, const char *at, int64_t *ret_ms) {
  int64_t now_ms = clock_wall_ms(), due_ms = 0;
  uint64_t after_ms = 0;
  if (in && at) return cli_usage(cli, "--in and --at exclude each other");
  if (in && cli_duration(in, &after_ms))
    return cli_usage(cli, "--in: '%s' is not a duration; expected one such as 30s, 20m or 2h", in);
  if (at && read_time(at, now_ms, &due_ms))
    return cli_usage(cli,
                     "--at: '%s' is no time; expected one such as 15:40, '2026-11-27 15:40', "
                     "2026-11-27T15:40:00Z or @1795766400",
                     at);
  if (in) due_ms = now_ms + (int64_t)after_ms;
  *ret_ms = due_ms > now_ms ? due_ms : 0;
  return 0;
}
