/* SPDX-License-Identifier: MIT
 *
 * base/cut.h: text that was too long, and says so: "… (N more bytes)" behind what is kept; the suffix does not count.
 */
#ifndef BASE_CUT_H
#define BASE_CUT_H

#include "base/arena.h"

/* Keeps `kept` bytes, or fewer, so that no character is split. Returns 0, or -1: no memory. */
int cut_text(struct arena *arena, struct tidings_span whole, size_t kept, struct tidings_span *ret);

#endif
