/* SPDX-License-Identifier: MIT
 *
 * render/coalesced.h: the text of a line that stands for several items. The policy decides which
 * items these are; the words are here.
 */
#ifndef RENDER_COALESCED_H
#define RENDER_COALESCED_H

#include "common/buffer.h"

/* Up to FILES_LISTED files are all listed by name. If there are more, FILES_SAMPLED are listed, and
 * the others are counted.
 */
enum { FILES_LISTED = 20, FILES_SAMPLED = 10 };

/* Files that differ, each named once. */
struct file_list {
  /* In the order in which they get a place in the list: among files with the same change, those
   * that the assistant has edited come first; otherwise they are in the order in which they were
   * first named. */
  const struct tidings_span *paths;
  const uint8_t *changes; /* enum file_change */
  const bool *edited;     /* by the assistant, before it changed */
  size_t count;
  struct tidings_span tool; /* the tool that ran while all of them changed; empty: there is none */
};

/* Returns how many names a list of `count` files has at most. */
size_t render_files_most(size_t count);
/* The first `listed` files by name, and the number of the others. */
void render_files(const struct file_list *list, size_t listed, struct buffer *out);

/* Writes a message and how many times it was pushed. If it is longer than `kept`, writes its first
 * `kept` bytes, and how many more there are. */
void render_repeated(struct tidings_span message, size_t kept, size_t times, struct buffer *out);

#endif
