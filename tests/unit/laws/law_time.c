/* SPDX-License-Identifier: MIT
 *
 * tests/unit/laws/law_time.c: old items show their age, and no reply is larger than its room.
 */
#include <inttypes.h>
#include <stdio.h>

#include "laws.h"
#include "says.h"

/* -- ages -------------------------------------------------------------------------------------- */

static struct tidings_span write_age(int64_t passed_ms, bool several, char *to, size_t size) {
  int64_t seconds = passed_ms / 1000, minutes = seconds / 60, hours = minutes / 60;
  const char *of = several ? "newest " : "";
  int len = minutes < 1     ? snprintf(to, size, "%s%" PRId64 " s ago", of, seconds)
            : minutes < 120 ? snprintf(to, size, "%s%" PRId64 " min ago", of, minutes)
            : hours < 48    ? snprintf(to, size, "%s%" PRId64 " h ago", of, hours)
                            : snprintf(to, size, "%s%" PRId64 " days ago", of, hours / 24);
  return span_of(to, (size_t)len);
}

static int64_t happened(const struct item *item) {
  return item->note.occurred_ms ? item->note.occurred_ms : item->time_ms;
}

void law_age(struct round *round) {
  int64_t after = round->settings.age_after_ms;
  for (size_t line = 0; line < round->reading.line_count; line++) {
    char text[64];
    struct tidings_span age = span_of(NULL, 0);
    int64_t time_ms = 0;
    size_t members = 0;
    bool says;
    for (size_t i = 0; i < round->items.count; i++) {
      if (round->lines[i] != line) continue;
      time_ms = happened(&round->items.items[i]);
      members++;
    }
    if (after && round->now_ms - time_ms > after && round->now_ms - time_ms >= 1000)
      age = write_age(round->now_ms - time_ms, members > 1, text, sizeof text);
    cr_assert_eq(says_take_age(&round->reading.lines[line], age, &round->arena, &says), 0);
    LAW(round, says, "what is old says how old it is", line);
  }
}

/* -- room -------------------------------------------------------------------------------------- */

void law_room(const struct round *round) {
  LAW(round, !round->room || round->reading.bytes <= round->room,
      "no more bytes than there is room", round->room);
}
