/* SPDX-License-Identifier: MIT
 *
 * values/outline.h: the few facts about an item that a plan needs if it does not read the item.
 * Most items are plain: no step of a plan relates them to another item, except that equal ones
 * share a line if they are pushed within the window of coalescing.
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

/* Filters treat items of the same kind alike. */
struct outline_kind {
  struct tidings_span source, name, tool;
  uint8_t level;
  uint32_t noted; /* 0 from outline_of; the code that collects outlines stores its own number */
};

struct outline {
  struct outline_kind *kind;
  uint64_t n;
  int64_t time_ms;
  int64_t ends_ms;  /* when it expires; INT64_MAX: never */
  uint64_t message; /* a hash; if two texts have the same one, the number of waiting lines is wrong
                       by one */
  uint32_t bytes;   /* in source, name and the shortest part of the message that may be shown */
  uint8_t sort;     /* enum outline_sort */
  bool rings;       /* notification_rings */
};

/* Writes the item's kind to `kind`, whose texts point into the item. */
struct outline outline_of(const struct item *item, struct outline_kind *kind);
bool outline_kind_equal(const struct outline_kind *a, const struct outline_kind *b);

uint64_t outline_hash(uint64_t hash, struct tidings_span text); /* for further texts, `hash` is the
                                                                   result so far */
/* Returns how many bytes a message has up to the end of its first line that is not blank. */
size_t outline_first_line(struct tidings_span message);
/* Returns how many bytes of a message have to be shown: up to the end of that line or, if the item
 * is not critical, the blanks before it and about 200 bytes of it. */
size_t outline_least_bytes(struct tidings_span message, bool critical);

#endif
