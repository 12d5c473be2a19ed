/* SPDX-License-Identifier: MIT
 *
 * render/coalesced.h: the text of a line that stands for several items. The policy decides which
 * items these are and which of them say the same; the words are here.
 */
#ifndef RENDER_COALESCED_H
#define RENDER_COALESCED_H

#include "common/buffer.h"
#include "values/notification.h"

struct coalesced {
  const struct item *const *items; /* in the order of their numbers */
  const size_t *leaders;           /* of each item: the index of the first one that says the same */
  const size_t *times;             /* at a leader: how many items say it */
  size_t count;
  /* The different files that the items name, in the order in which they were first named. If there
   * are any, an item with paths is one of these files and its own text is not written. */
  const struct tidings_span *paths;
  size_t path_count;
};

/* Equal texts are counted, files are listed, all others follow one another. Stays within `limit`
 * bytes and a few more, whatever the line stands for, and says what it leaves out. A buffer without
 * memory is `failed`. */
void render_coalesced(const struct coalesced *line, size_t limit, struct buffer *out);

#endif
