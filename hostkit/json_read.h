/* SPDX-License-Identifier: MIT
 *
 * json_read.h: JSON text -> jansson values.
 *
 * jansson's own reader is not used, because it leaves out a byte of a string, and says nothing,
 * when an allocation fails at the wrong moment; and because it recurses 2048 deep, which a thread
 * with a small stack does not survive.
 */
#ifndef HOSTKIT_JSON_READ_H
#define HOSTKIT_JSON_READ_H

#include <jansson.h>

#include <tidings/abi.h>

#define HK_JSON_MAX_DEPTH 64 /* the contract's events have 16 */

/* One value of any type, and nothing behind it. Keys must not repeat; strings may contain NUL, keys
 * not. `name` is what errors call the text. Errors: INVAL (not JSON), TOO_BIG (too deep), NOMEM. */
int32_t hk_json_read(struct tidings_span text, const char *name, json_t **ret_value,
                     struct tidings_error *error);

/* Whether all of it is UTF-8 as JSON wants it: no overlong forms, no surrogates. */
int hk_is_utf8(struct tidings_span text);

/* The length of the UTF-8 sequence that text begins with, or 0 if it does not begin with one. */
size_t hk_utf8_sequence(const char *text, size_t len);

#endif
