/* SPDX-License-Identifier: MIT
 *
 * agents/transcript/transcript.h: reads the file in which an agent keeps a session. Knows nothing
 * of what is in it.
 */
#ifndef AGENTS_TRANSCRIPT_TRANSCRIPT_H
#define AGENTS_TRANSCRIPT_TRANSCRIPT_H

#include <stdbool.h>
#include <stddef.h>

/* The last `most` bytes, or all (*ret_whole). NULL: there is no such file, it cannot be read, or
 * there is no memory. Free it. */
char *hook_transcript_end(const char *path, size_t most, size_t *ret_len, bool *ret_whole);

#endif
