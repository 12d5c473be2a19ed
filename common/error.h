/* SPDX-License-Identifier: MIT
 *
 * common/error.h: writes errors into the caller's struct tidings_error, which may be NULL or
 * shorter than today's.
 */
#ifndef COMMON_ERROR_H
#define COMMON_ERROR_H

#include "common/span.h"

/* Writes code and sentence, with control characters and broken UTF-8 made visible and the text cut
 * to what the caller has room for. Returns `code`, so that `return fail(error, …)` is one line. */
int fail(struct tidings_error *error, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
#ifdef __clang_analyzer__ /* it sees one file at a time, and would assume that `fail` may          \
                             return 0 */
#define fail(error, code, ...) ((void)fail(error, code, __VA_ARGS__), (code))
#endif

/* If `code` is an error, writes it and the text of `own` to `theirs`. For functions that promise to
 * write nothing on success: their steps write to `own`, which may keep the text of a step that
 * failed although the whole succeeded. Returns `code`. */
int fail_as(struct tidings_error *theirs, int code, const struct tidings_error *own);

/* Makes an error empty without zeroing its whole text, which is large. */
static inline void error_clear(struct tidings_error *error) {
  error->size = sizeof *error;
  error->code = 0;
  error->text[0] = '\0';
}

/* A copy of hostile text that can stand in a sentence: quoted, harmless, and cut to at most 80
 * bytes. */
struct quoted {
  char text[400];
};
struct quoted quote(struct tidings_span span);

#endif
