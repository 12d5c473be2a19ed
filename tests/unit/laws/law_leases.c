/* SPDX-License-Identifier: MIT
 *
 * tests/unit/laws/law_leases.c: no carrier of the transcript shows an older state of a thing than
 * an earlier carrier, however the leases in between have ended.
 */
#include "leases.h"

static bool is_named(const struct pushed *pushed, int thing) {
  for (size_t i = 0; i < pushed->thing_count; i++)
    if (pushed->things[i] == thing) return true;
  return false;
}

/* A report of several files is outdated by one that names them all. */
static bool outdates(const struct pushed *newer, const struct pushed *older) {
  if (newer->subject != older->subject || newer->time_ms <= older->time_ms) return false;
  if (older->critical && !newer->critical) return false;
  for (size_t t = 0; t < older->thing_count; t++)
    if (!is_named(newer, older->things[t])) return false;
  return true;
}

static bool was_outdated(const struct story *story, const struct sent *sent,
                         const struct pushed *pushed) {
  for (size_t c = 0; c < story->sent_count; c++) {
    const struct sent *before = &story->sent[c];
    if (before->state != CARRIER_THERE || !(sent->before >> c & 1)) continue;
    for (size_t i = 0; i < before->shown_count; i++)
      if (outdates(&story->pushed[before->shown[i]], pushed)) return true;
  }
  return false;
}

void law_newest_stands(const struct story *story) {
  for (size_t c = 0; c < story->sent_count; c++) {
    const struct sent *sent = &story->sent[c];
    for (size_t i = 0; sent->state == CARRIER_THERE && i < sent->shown_count; i++)
      cr_assert(!was_outdated(story, sent, &story->pushed[sent->shown[i]]),
                "round %ld: the newest state stands across leases, carrier %zu shows %d",
                story->number, c, sent->shown[i]);
  }
}

static bool is_shown(const struct story *story, int pushed) {
  for (size_t c = 0; c < story->sent_count; c++)
    for (size_t i = 0; story->sent[c].state == CARRIER_THERE && i < story->sent[c].shown_count; i++)
      if (story->sent[c].shown[i] == pushed) return true;
  return false;
}

void law_newest_is_shown(const struct story *story) {
  for (int thing = 0; thing < 8; thing++) {
    int newest = -1;
    for (size_t p = 0; p < story->pushed_count; p++)
      if (story->pushed[p].subject == ABOUT_KEY && story->pushed[p].things[0] == thing)
        newest = (int)p;
    cr_assert(newest < 0 || is_shown(story, newest),
              "round %ld: the newest of a key is shown in the end, %d", story->number, newest);
  }
}
