/* SPDX-License-Identifier: MIT
 *
 * render/neutralize.h: text that stays what it is, other than an item's, which becomes a line of a
 * list: all of it can be read as before, and nothing in it can be taken for a block of ours.
 * Applied again, both change nothing more.
 */
#ifndef RENDER_NEUTRALIZE_H
#define RENDER_NEUTRALIZE_H

#include "common/buffer.h"

/* Text that reads as a block of any format gets a backslash, or &lt; for its <. All else stays byte
 * for byte. */
void neutralize(struct tidings_span text, struct buffer *out);

/* The words of a person during a turn: lines and markup stay. More than above is harmless:
 * every line of dashes, every tag that names a part of a conversation. Deceptive characters are
 * shown, a tab becomes four blanks, empty lines at both ends go. */
void neutralize_message(struct tidings_span text, struct buffer *out);

#endif
