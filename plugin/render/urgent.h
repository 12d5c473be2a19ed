/* SPDX-License-Identifier: MIT
 *
 * render/urgent.h: the text with which a turn of the plugin's own starts.
 */
#ifndef RENDER_URGENT_H
#define RENDER_URGENT_H

#include "common/arena.h"
#include "values/notification.h"

/* `note`: the most pressing of those that ask for the turn; all zero: it is not known. Text is in
 * the arena. Returns 0, or -1: no memory. */
int render_urgent_message(const struct notification *note, struct arena *arena,
                          struct tidings_span *ret_text);

#endif
