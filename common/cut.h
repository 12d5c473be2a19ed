/* SPDX-License-Identifier: MIT
 *
 * common/cut.h: text that was too long, and says so: "… (N more bytes)" behind what is kept; the
 * suffix does not count.
 */
#ifndef COMMON_CUT_H
#define COMMON_CUT_H

#include "common/arena.h"

/* Keeps `kept` bytes, or fewer, so that no character is split. Returns 0, or -1: no memory. */
int cut_text(struct arena *arena, struct tidings_span whole, size_t kept, struct tidings_span *ret);

#endif
