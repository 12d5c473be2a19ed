/* SPDX-License-Identifier: MIT
 *
 * tidings/abi.h: the words that every other header of the contract uses: the version, spans, error
 * codes, levels.
 *
 * How this ABI grows is written in STABILITY.md beside these headers. In short: a struct that
 * crosses the boundary starts with `uint32_t size`, set by whoever fills it to sizeof that struct
 * as it knows it; the reader copies the smaller of the two sizes into a zeroed struct of its own,
 * so that fields the writer did not know read as zero. Fields are only ever appended. Flag bits
 * that a header does not name must be zero. The headers compile as C11, C17 and C++17.
 */
#ifndef TIDINGS_ABI_H
#define TIDINGS_ABI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the contract that these headers describe. Two sides with the same major work
 * together, whichever minor is the lower one; different majors never do. */
#define TIDINGS_ABI_MAJOR 1
#define TIDINGS_ABI_MINOR 0

/* Text or bytes that somebody else owns. UTF-8 where it is text; no terminating NUL is needed or
 * counted. An empty span has len 0, and then ptr may be NULL. This struct is the only one without a
 * size: it will never grow. Since 1.0. */
struct tidings_span {
  const char *ptr;
  size_t len; /* bytes */
};

/* What every fallible function returns: 0 or one of these. The numbers are fixed for good; a later
 * minor may add codes below the last, so treat an unknown negative number as TIDINGS_E_STORE. On
 * every error the host sends its message unchanged and what was pending stays pending, with one
 * exception: a chat request that named messages must not be sent when the answer is
 * TIDINGS_E_FIRED, TIDINGS_E_NOT_FOUND or TIDINGS_E_STATE, because its messages are not on offer.
 * Since 1.0. */
#define TIDINGS_OK 0
/* Not JSON, a null pointer, a struct shorter than its first version, a flag bit or number that has
 * no meaning. A bug in the caller: the same call will fail again. */
#define TIDINGS_E_INVAL (-1)
/* JSON of the wrong shape or range. The text names the field, the value and what was expected. */
#define TIDINGS_E_SCHEMA (-2)
/* An input over its limit; the text names the limit. */
#define TIDINGS_E_TOO_BIG (-3)
/* An event type, query or operation that this plugin does not have, or that this instance's role
 * may not use. */
#define TIDINGS_E_UNSUPPORTED (-4)
/* The message, delivery or item named was never there. */
#define TIDINGS_E_NOT_FOUND (-5)
/* Too late: the message named has started its turn. */
#define TIDINGS_E_FIRED (-6)
/* What was asked does not fit the present state (of the run, or of the delivery). Nothing
 * changed. */
#define TIDINGS_E_STATE (-7)
/* Somebody else holds what is needed: the writer lock past the time budget, a session owned by
 * another live host, replies not yet released. Nothing was lost; try again at the next occasion. */
#define TIDINGS_E_BUSY (-8)
/* A quota is used up (pending notifications of a session, or the store). */
#define TIDINGS_E_FULL (-9)
/* The store failed: a full disk, an I/O error, damage. Unless the text says that the outcome is
 * unknown, nothing was stored. */
#define TIDINGS_E_STORE (-10)
/* The store was written by a newer version with another layout. It was left untouched. */
#define TIDINGS_E_SCHEMA_NEWER (-11)
/* Memory could not be had. Nothing changed. */
#define TIDINGS_E_NOMEM (-12)
/* The instance is quiesced or closed, belongs to the parent of a forked process, or does not own
 * the session (any more). */
#define TIDINGS_E_CLOSED (-13)

/* Where a function says what went wrong, in the caller's memory. Set `size` to sizeof(struct
 * tidings_error) before the call; pass NULL if the code is enough. On success nothing is written.
 * `text` is one sentence in English, UTF-8, always NUL-terminated, meant for a person; it may quote
 * input, with control characters made visible. Since 1.0. */
struct tidings_error {
  uint32_t size;
  int32_t code; /* the same TIDINGS_E_* that was returned */
  char text[504];
};

/* How much a notification matters. Levels order what is shown and what a cap keeps; only critical
 * does more: it asks for a turn or stops a stream (see reply.h, actions). Since 1.0. */
#define TIDINGS_LEVEL_INFO 0u
#define TIDINGS_LEVEL_WARNING 1u
#define TIDINGS_LEVEL_ERROR 2u
#define TIDINGS_LEVEL_CRITICAL 3u

#ifdef __cplusplus
}
#endif

#endif
