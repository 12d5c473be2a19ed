/* SPDX-License-Identifier: MIT
 *
 * errors.h: writes what went wrong into the caller's struct tidings_error.
 */
#ifndef HOSTKIT_ERRORS_H
#define HOSTKIT_ERRORS_H

#include "common/error.h"

/* `fail` as an expression whose value is the code; a macro, so that compilers see that the code is
 * not 0. */
#define hk_error(error, code, ...) ((void)fail((error), (code), __VA_ARGS__), (code))

/* Copies an error that another call has written. */
int32_t hk_error_copy(struct tidings_error *error, const struct tidings_error *from);

/* Appends `end` to the sentence, and shortens the sentence if both do not fit. */
void hk_error_append(struct tidings_error *error, const char *end);

#endif
