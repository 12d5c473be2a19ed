/* SPDX-License-Identifier: MIT
 *
 * errors.h: how hostkit says what went wrong, in the caller's struct tidings_error. Knows nothing
 * of what failed.
 */
#ifndef HOSTKIT_ERRORS_H
#define HOSTKIT_ERRORS_H

#include <tidings/abi.h>

/* Writes code and sentence, as much as error->size has room for, cut at a character's end and with
 * control characters made visible. `error` may be NULL. */
void hk_error_write(struct tidings_error *error, int32_t code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same as an expression whose value is the code; a macro, so that compilers see that the code
 * is not 0. */
#define hk_error(error, code, ...) (hk_error_write((error), (code), __VA_ARGS__), (code))

/* The same for a sentence that exists already. */
int32_t hk_error_copy(struct tidings_error *error, const struct tidings_error *from);

/* Puts `end` at the end of the sentence, shortening what stands there if it does not fit. */
void hk_error_append(struct tidings_error *error, const char *end);

#endif
