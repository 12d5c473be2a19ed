/* SPDX-License-Identifier: MIT
 *
 * render/missing.c: see missing.h.
 */
#include "render/missing.h"

#include <stdio.h>

#include "common/utf8.h"

int render_cut(struct arena *arena, struct tidings_span whole, size_t kept,
               struct tidings_span *ret) {
  kept = utf8_prefix(whole, kept);
  char suffix[48];
  int suffix_len = snprintf(suffix, sizeof suffix, "… (%zu more bytes)", whole.len - kept);
  char *text = suffix_len < 0 ? NULL : arena_alloc(arena, kept + sizeof suffix);
  if (!text) return -1;
  memcpy(text, whole.ptr, kept);
  memcpy(text + kept, suffix, (size_t)suffix_len);
  *ret = span_of(text, kept + (size_t)suffix_len);
  return 0;
}

struct tidings_span render_lost_content(void) {
  return span_text("(the text of this message was lost: its record in the store is damaged)");
}
