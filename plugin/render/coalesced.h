/* SPDX-License-Identifier: MIT
 *
 * render/coalesced.h: the text of a line that stands for several items. The policy decides which
 * items these are; the words are here.
 */
#ifndef RENDER_COALESCED_H
#define RENDER_COALESCED_H

#include "common/buffer.h"

enum { FILES_LISTED = 20 }; /* by name; of the others only the number is said */

/* Different files, those with the same change side by side, by enum file_change. */
struct file_list {
  const struct tidings_span *paths;
  const uint8_t *changes;
  size_t count;
  struct tidings_span tool; /* that ran while all of them changed; empty: not so */
  /* From each place on: in how many folders the files are, and the folder of the first. */
  size_t folders[FILES_LISTED + 1];
  struct tidings_span folder[FILES_LISTED + 1];
};

/* The first `listed` files by name, and the number of the others. */
void render_files(const struct file_list *list, size_t listed, struct buffer *out);

/* A message, or the first `kept` bytes of it and how many more there are, and how many times it was
 * pushed. */
void render_repeated(struct tidings_span message, size_t kept, size_t times, struct buffer *out);

#endif
