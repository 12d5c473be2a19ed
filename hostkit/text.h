/* SPDX-License-Identifier: MIT
 *
 * text.h: strings on the heap. Everything is freed with free.
 */
#ifndef HOSTKIT_TEXT_H
#define HOSTKIT_TEXT_H

#include <stdbool.h>
#include <tidings/abi.h>

/* printf into memory of its own; NULL: out of memory. */
char *hk_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A NUL-terminated copy of `len` bytes, which may have NULs among them; NULL: out of memory. */
char *hk_copy_text(const char *text, size_t len);

/* Returns the span of a NUL-terminated string; for NULL an empty one. */
struct tidings_span hk_span(const char *text);

/* Can the span be read? If it has a length, it must have a pointer. */
bool hk_span_is_sound(const struct tidings_span *span);

#endif
