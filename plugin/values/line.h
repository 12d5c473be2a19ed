/* SPDX-License-Identifier: MIT
 *
 * values/line.h: what the policy decides to show, and what render/ writes. No behaviour.
 */
#ifndef VALUES_LINE_H
#define VALUES_LINE_H

#include "values/notification.h"

/* One thing that is shown: an item, or several that became one. */
struct line {
  const struct item *item;     /* of several: the first */
  struct tidings_span message; /* not escaped */
  /* where it stands in time: the n of the oldest item it stands for or has superseded */
  uint64_t place;
  uint64_t newest; /* the n of the newest item it stands for */
  uint32_t count;  /* how many items it stands for */
  uint8_t level;   /* of several: the highest */
  bool shortened;  /* to fit into max_tokens */
  bool pinned;     /* it stands for an item that is */
};

#endif
