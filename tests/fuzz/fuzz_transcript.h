/* SPDX-License-Identifier: MIT
 *
 * tests/fuzz/fuzz_transcript.h: reads an agent's transcript, which contains tools' results, and so
 * may contain anything.
 */
#ifndef TESTS_FUZZ_FUZZ_TRANSCRIPT_H
#define TESTS_FUZZ_FUZZ_TRANSCRIPT_H

#include <stdbool.h>

#include "agents/hosts/hosts.h"
#include "common/span.h"

/* `text` is the transcript, and after each NUL another file of the session. `is_large`: the file's
 * middle has more than is read at first. */
void fuzz_transcript(const struct host *host, bool is_large, struct tidings_span text);

#endif
