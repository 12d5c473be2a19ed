/* SPDX-License-Identifier: MIT
 *
 * values/rendering.h: how a delivery's texts were made, so that they can be made again, and a hash
 * that says whether they are the same.
 */
#ifndef VALUES_RENDERING_H
#define VALUES_RENDERING_H

#include <stdbool.h>
#include <stdint.h>

#include "common/span.h"

/* Stored with a delivery; the numbers of presets, formats, orders and places never change. */
struct rendering {
  uint64_t hash;     /* of the texts that the host was given */
  uint64_t bytes;    /* of all of them; 0: nothing was given, or an earlier version did not say */
  uint64_t room;     /* in bytes; 0: no bound */
  uint64_t deferred; /* lines that were left for later */
  uint32_t max_tokens, coalesce_window_ms, age_after_ms;
  uint8_t preset, format, order, place; /* enum preset, enum format, enum order, TIDINGS_PLACE_* */
  bool bare;                            /* without the sentences about what a block is */
  struct tidings_span host_name, nonce; /* empty: there was none */
};

#endif
