/* SPDX-License-Identifier: MIT
 *
 * recipes/order.c: compares the orders of two documents; see recipe.h.
 */
#include <string.h>

#include "recipes/recipe.h"

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* Removes the next number from the text. *ret_number has no leading zeros, and is empty if there is
 * none. */
static bool take_number(struct tidings_span *text, struct tidings_span *ret_number) {
  const char *at = text->ptr, *end = text->ptr + text->len;
  while (at < end && !is_digit(*at)) at++;
  bool found = at < end;
  while (at < end && *at == '0') at++;
  const char *begin = at;
  while (at < end && is_digit(*at)) at++;
  *ret_number = span_of(begin, (size_t)(at - begin));
  *text = span_of(at, (size_t)(end - at));
  return found;
}

int recipe_compare_orders(struct tidings_span left, struct tidings_span right) {
  for (;;) {
    struct tidings_span a, b;
    bool more = take_number(&left, &a), other = take_number(&right, &b);
    if (!more || !other) return (int)more - (int)other;
    if (a.len != b.len) return a.len < b.len ? -1 : 1;
    int difference = a.len ? memcmp(a.ptr, b.ptr, a.len) : 0;
    if (difference) return difference;
  }
}
