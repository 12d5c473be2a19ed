/* SPDX-License-Identifier: MIT
 *
 * values/line.h: a line that the policy decides to show and render/ writes. No behaviour.
 */
#ifndef VALUES_LINE_H
#define VALUES_LINE_H

#include "values/notification.h"

struct file_list; /* render/coalesced.h */

/* A thing that is shown: an item, or several that became one. */
struct line {
  const struct item *item;     /* of several: the first */
  struct tidings_span message; /* not escaped */
  /* where it stands in time, compared with other lines of the plan: the place of the oldest item it
   * stands for or has superseded */
  uint64_t place;
  uint64_t newest;               /* the place of the newest item it stands for */
  int64_t time_ms;               /* when that happened */
  uint64_t group;                /* the first place in its window of coalescing, whose lines stay
                                    together */
  const struct file_list *files; /* the message lists these, or does so once it is shortened; NULL:
                                    it is no report of several files */
  size_t listed;                 /* how many of the files have room in the list */
  uint32_t count;                /* how many items it stands for */
  uint8_t level;
  bool shortened; /* to fit into max_tokens, or into the room */
  bool pinned;    /* it stands for a pinned item */
};

#endif
