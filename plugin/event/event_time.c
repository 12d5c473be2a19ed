/* SPDX-License-Identifier: MIT
 */
#include "event/event_time.h"

/* Are the two characters at `at` digits of a number in low..high? */
static bool two_digits(const char *at, int low, int high, int *ret) {
  if (at[0] < '0' || at[0] > '9' || at[1] < '0' || at[1] > '9') return false;
  *ret = (at[0] - '0') * 10 + (at[1] - '0');
  return *ret >= low && *ret <= high;
}

/* Counts days of the proleptic Gregorian calendar; a day that the month does not have is one of the
 * next. */
static int64_t days_since_1970(int year, int month, int day) {
  int64_t y = month > 2 ? year : year - 1;
  int64_t era = (y >= 0 ? y : y - 399) / 400, of_era = y - era * 400;
  int64_t of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
  return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

/* "Z", or "+01:00" and nothing else: how many minutes it is ahead of UTC. */
static bool read_zone(const char *at, const char *end, int64_t *ret_minutes) {
  int hours, minutes;
  *ret_minutes = 0;
  if (at < end && (*at == 'Z' || *at == 'z')) return at + 1 == end;
  if (end - at != 6 || (*at != '+' && *at != '-') || at[3] != ':') return false;
  if (!two_digits(at + 1, 0, 23, &hours) || !two_digits(at + 4, 0, 59, &minutes)) return false;
  *ret_minutes = (*at == '-' ? -1 : 1) * ((int64_t)hours * 60 + minutes);
  return true;
}

/* Digits after the millisecond are left out. */
static bool read_fraction(const char **at, const char *end, int64_t *ret_ms) {
  int64_t unit = 100;
  *ret_ms = 0;
  if (*at == end || **at != '.') return true;
  const char *first = ++*at;
  for (; *at < end && **at >= '0' && **at <= '9'; ++*at, unit /= 10) *ret_ms += (**at - '0') * unit;
  return *at > first;
}

bool event_time_read(struct tidings_span text, int64_t *ret_ms) {
  int century, year, month, day, hour, minute, second;
  int64_t fraction, zone;
  if (text.len < 20 || text.len > 64) return false;
  const char *at = text.ptr, *end = text.ptr + text.len;
  bool shape =
      two_digits(at, 0, 99, &century) && two_digits(at + 2, 0, 99, &year) && at[4] == '-' &&
      two_digits(at + 5, 1, 12, &month) && at[7] == '-' && two_digits(at + 8, 1, 31, &day) &&
      (at[10] == 'T' || at[10] == 't') && two_digits(at + 11, 0, 23, &hour) && at[13] == ':' &&
      two_digits(at + 14, 0, 59, &minute) && at[16] == ':' && two_digits(at + 17, 0, 60, &second);
  if (!shape) return false;
  at += 19;
  if (!read_fraction(&at, end, &fraction) || !read_zone(at, end, &zone)) return false;
  int64_t minutes = (days_since_1970(century * 100 + year, month, day) * 24 + hour) * 60 + minute;
  *ret_ms = ((minutes - zone) * 60 + second) * 1000 + fraction;
  return true;
}
