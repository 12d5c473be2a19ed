/* SPDX-License-Identifier: MIT
 *
 * common/mask.h: hides secrets in command lines and in the output of commands. Text that looks like
 * a secret is replaced by "[masked]"; all other text stays as it is. Pure.
 */
#ifndef COMMON_MASK_H
#define COMMON_MASK_H

#include <stdbool.h>

#include "common/buffer.h"

#define MASK_WORD "[masked]"

/* Appends the text, without the values of:
 * - tokens and keys of known formats (mask_tokens.c),
 * - names that say that they are secret: `PASSWORD=x`, `--token x`, `"apiKey": "x"` (mask_names.c),
 * - options of programs that take a password: `mysql -px`, `curl -u user:x` (mask_programs.c),
 * - URLs with a password, the header Authorization, private keys in PEM. */
void mask_text(struct tidings_span text, struct buffer *out);

/* The same for some lines of a longer text. *in_key remembers whether a private key has begun and
 * not ended; it is false at the beginning. */
void mask_lines(bool *in_key, struct tidings_span lines, struct buffer *out);

/* The same for one line that is not shown, without a line break. Returns whether it is part of a
 * private key. */
bool mask_follow(bool *in_key, struct tidings_span line);

#endif
