/* SPDX-License-Identifier: MIT
 */
#include "command/show.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "command/terminal.h"
#include "common/buffer.h"
#include "common/clock.h"

static struct { bool colors, utc; } showing;

/* -- colours ----------------------------------------------------------------------------------- */

static bool terminal_has_colors(void) {
  const char *no_color = getenv("NO_COLOR"), *terminal = getenv("TERM");
  return isatty(STDOUT_FILENO) && (!no_color || !no_color[0]) && terminal && terminal[0] &&
         strcmp(terminal, "dumb") != 0;
}

void show_begin(const char *color, bool utc) {
  showing.utc = utc;
  showing.colors =
      color && strcmp(color, "auto") != 0 ? strcmp(color, "always") == 0 : terminal_has_colors();
}

void show_start(enum show_style style) {
  static const char *const codes[] = {
      [SHOW_DIM] = "2",      [SHOW_GOOD] = "32",  [SHOW_INFO] = "34",
      [SHOW_WARNING] = "33", [SHOW_ERROR] = "31", [SHOW_CRITICAL] = "1;7;31"};
  if (showing.colors) printf("\033[%sm", codes[style]);
}

void show_end(void) {
  if (showing.colors) fputs("\033[0m", stdout);
}

static void print_padded(const char *text, int width) {
  terminal_text(stdout, text);
  printf("%*s", width > (int)strlen(text) ? width - (int)strlen(text) : 0, "");
}

static void print_as(enum show_style style, const char *text, int width) {
  show_start(style);
  print_padded(text, width);
  show_end();
}

void show_level(const char *level, int width) {
  static const struct {
    const char *name;
    enum show_style style;
  } levels[] = {{"critical", SHOW_CRITICAL}, {"error", SHOW_ERROR}, {"warning", SHOW_WARNING}};
  for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
    if (strcmp(level, levels[i].name) != 0) continue;
    print_as(levels[i].style, level, width);
    return;
  }
  print_padded(level, width);
}

void show_outcome(const char *outcome, int width) {
  bool good = strcmp(outcome, "delivered") == 0 || strcmp(outcome, "committed") == 0;
  bool bad = strcmp(outcome, "dropped") == 0 || strcmp(outcome, "expired") == 0 ||
             strcmp(outcome, "rolled_back") == 0;
  if (good) print_as(SHOW_GOOD, outcome, width);
  else if (bad) print_as(SHOW_WARNING, outcome, width);
  else print_padded(outcome, width);
}

void show_id(const char *id, int width) {
  char *end = NULL;
  unsigned long long number = strtoull(id, &end, 10);
  if (id[0] && !*end && number >> 32) printf("%*llu", width, number & UINT32_MAX);
  else terminal_text(stdout, id);
}

/* -- times ------------------------------------------------------------------------------------- */

/* Returns the length of the time with which `text` begins; 0: it begins with none. */
static size_t time_len(const char *text) {
  static const char form[] = "0000-00-00T00:00:00.000Z";
  for (size_t i = 0; i < sizeof form - 1; i++) {
    bool digit = text[i] >= '0' && text[i] <= '9';
    if (form[i] == '0' ? !digit : text[i] != form[i]) return 0;
  }
  return sizeof form - 1;
}

int64_t show_time_ms(const char *time) {
  struct tm parts = {0};
  if (!time_len(time)) return 0;
  const char *rest = strptime(time, "%Y-%m-%dT%H:%M:%S.", &parts);
  return rest ? (int64_t)timegm(&parts) * 1000 + strtol(rest, NULL, 10) : 0;
}

static bool split(int64_t ms, struct tm *ret_parts) {
  time_t seconds = (time_t)(ms / 1000);
  return showing.utc ? gmtime_r(&seconds, ret_parts) : localtime_r(&seconds, ret_parts);
}

static void print_time(const struct tm *parts) {
  printf("%02d:%02d:%02d", parts->tm_hour, parts->tm_min, parts->tm_sec);
}

void show_time(struct show_clock *clock, const char *time) {
  struct tm parts;
  char day[sizeof clock->day], zone[16] = "UTC";
  int64_t ms = show_time_ms(time);
  if (!ms || !split(ms, &parts) || !strftime(day, sizeof day, "%Y-%m-%d", &parts)) {
    terminal_text(stdout, time);
    return;
  }
  if (!showing.utc && !strftime(zone, sizeof zone, "%Z", &parts)) zone[0] = '\0';
  if (strcmp(day, clock->day) != 0) {
    show_start(SHOW_DIM);
    printf("%s %s", day, zone);
    show_end();
    putchar('\n');
    memcpy(clock->day, day, sizeof day);
  }
  print_time(&parts);
}

void show_moment(int64_t ms) {
  struct tm parts, today;
  char day[16];
  if (!split(ms, &parts) || !split(clock_wall_ms(), &today)) return;
  bool same = parts.tm_year == today.tm_year && parts.tm_yday == today.tm_yday;
  if (!same && strftime(day, sizeof day, "%Y-%m-%d ", &parts)) fputs(day, stdout);
  print_time(&parts);
}

/* Writes the time with which `text` begins. Returns its length; 0: it begins with none. */
static size_t put_time(struct buffer *out, const char *text) {
  char shown[32];
  struct tm parts;
  size_t len = time_len(text);
  if (!len || !split(show_time_ms(text), &parts)) return 0;
  if (!strftime(shown, sizeof shown, "%Y-%m-%d %H:%M:%S", &parts)) return 0;
  buffer_format(out, "%s%s", shown, showing.utc ? " UTC" : "");
  return len;
}

/* Writes the word and the short form of the id with which `text` begins. Returns their length; 0:
 * it begins with none. */
static size_t put_id(struct buffer *out, const char *text) {
  static const char *const words[] = {"notification ", "delivery "};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    size_t len = strlen(words[i]);
    if (strncmp(text, words[i], len) != 0 || text[len] < '1' || text[len] > '9') continue;
    char *end = NULL;
    unsigned long long id = strtoull(text + len, &end, 10);
    if (!(id >> 32)) return 0;
    buffer_format(out, "%s%llu", words[i], id & UINT32_MAX);
    return (size_t)(end - text);
  }
  return 0;
}

char *show_text(const char *text) {
  struct buffer out = BUFFER_EMPTY;
  while (*text) {
    size_t len = put_time(&out, text);
    if (!len) len = put_id(&out, text);
    if (!len) buffer_append(&out, text, len = 1);
    text += len;
  }
  buffer_byte(&out, '\0');
  return buffer_take(&out);
}

/* Reads a date (default: today) and a time of day (default: midnight). */
static int read_moment(const char *text, struct tm *parts) {
  struct tm day = {0};
  const char *rest = strptime(text, "%Y-%m-%d", &day);
  if (rest && !clock_day_exists(&day)) return -1;
  if (rest) {
    parts->tm_year = day.tm_year;
    parts->tm_mon = day.tm_mon;
    parts->tm_mday = day.tm_mday;
  }
  parts->tm_hour = parts->tm_min = parts->tm_sec = 0;
  parts->tm_isdst = -1;
  if (rest && !*rest) return 0;
  if (rest && *rest != ' ' && *rest != 'T') return -1;
  rest = strptime(rest ? rest + 1 : text, "%H:%M", parts);
  if (rest && *rest == ':') rest = strptime(rest, ":%S", parts);
  return rest && !*rest ? 0 : -1;
}

int show_since(const char *text, int64_t *ret_ms) {
  int64_t now_ms = clock_wall_ms();
  uint64_t ago_ms;
  struct tm parts;
  size_t len = time_len(text);
  int64_t given_ms = len && !text[len] ? show_time_ms(text) : 0; /* as --json prints it */
  if (given_ms) {
    *ret_ms = given_ms;
    return 0;
  }
  if (!cli_duration(text, &ago_ms)) {
    *ret_ms = now_ms - (int64_t)ago_ms;
    return 0;
  }
  if (!split(now_ms, &parts) || read_moment(text, &parts)) return -1;
  time_t seconds = showing.utc ? timegm(&parts) : mktime(&parts);
  if (seconds == (time_t)-1) return -1;
  *ret_ms = (int64_t)seconds * 1000;
  return 0;
}
