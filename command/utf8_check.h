/* SPDX-License-Identifier: MIT
 *
 * command/utf8_check.h: UTF-8, character by character.
 */
#ifndef COMMAND_UTF8_CHECK_H
#define COMMAND_UTF8_CHECK_H

#include <stddef.h>
#include <stdint.h>

/* The character at `bytes`, of which `left` may be read; returns its length, or 0 if there is no
 * valid one. */
size_t utf8_decode(const char *bytes, size_t left, uint32_t *ret_character);
size_t utf8_length(const char *bytes, size_t left);
/* A copy in which each byte that is not UTF-8 is U+FFFD. Free it; NULL: out of memory. */
char *utf8_mended(const char *text);

#endif
