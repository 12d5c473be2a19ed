/* SPDX-License-Identifier: MIT
 *
 * values/outline.h: the few facts about an item that a plan needs if it does not read the item.
 * Most items are plain: no step of a plan relates them to another item, except that equal ones
 * within the window share a line.
 */
#ifndef VALUES_OUTLINE_H
#define VALUES_OUTLINE_H

#include "values/notification.h"

enum outline_sort {
  OUTLINE_PLAIN,
  OUTLINE_SPECIAL, /* other steps may look at it */
  OUTLINE_DAMAGED, /* no policy sees it */
  OUTLINE_SORT_COUNT
};

/* The members by which filters differ. */
struct outline_kind {
  struct tidings_span source, name, tool;
  uint8_t level;
  uint32_t noted; /* for the reader of outlines, who finds 0 at first */
};

struct outline {
  struct outline_kind *kind;
  uint64_t n;
  int64_t time_ms;
  int64_t ends_ms;  /* when it expires; INT64_MAX: never */
  uint64_t message; /* a hash of the message; if two texts have the same hash, the number of waiting
                       lines is wrong by one */
  uint32_t bytes;   /* of source, name and the shortest part of its message that may be shown */
  uint8_t sort;     /* enum outline_sort */
  bool rings;       /* notification_rings */
};

/* Writes its kind to `kind`; the text of the kind stays the item's. */
struct outline outline_of(const struct item *item, struct outline_kind *kind);
bool outline_kind_equal(const struct outline_kind *a, const struct outline_kind *b);

uint64_t outline_hash(uint64_t hash, struct tidings_span text); /* of texts one after the other */
/* How many bytes the first line of a message has, with the empty lines before it: they say nothing.
 */
size_t outline_first_line(struct tidings_span message);
/* The part of a message that has to be shown: its first line. If the item is not critical, about
 * 200 bytes of that line are enough; the blanks and empty lines before it do not count. */
size_t outline_least_bytes(struct tidings_span message, bool critical);

#endif
