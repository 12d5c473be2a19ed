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

/* The span of a NUL-terminated string; NULL is empty. */
struct tidings_span hk_span(const char *text);

/* Whether a span can be read: a pointer where there is a length. */
bool hk_span_is_sound(const struct tidings_span *span);

#endif
