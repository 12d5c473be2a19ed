/* SPDX-License-Identifier: MIT
 *
 * render/neutralize.h: makes a text harmless that does not become a line of a block. All of the
 * text stays readable, but nothing in it can be taken for a block of ours. A second application
 * changes nothing.
 */
#ifndef RENDER_NEUTRALIZE_H
#define RENDER_NEUTRALIZE_H

#include "common/buffer.h"

/* Text that reads as a block of any format gets a backslash, or &lt; for its <. All else stays byte
 * for byte. */
void neutralize(struct tidings_span text, struct buffer *out);

/* For the words of a person during a turn: lines and markup stay. It also makes every line of
 * dashes harmless, and every tag that names a part of a conversation. Deceptive characters are
 * shown, except soft hyphens and joiners, which people write; empty lines at both ends go. */
void neutralize_message(struct tidings_span text, struct buffer *out);

#endif
