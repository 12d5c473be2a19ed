/* SPDX-License-Identifier: MIT
 *
 * common/span.h: borrowed text. The ABI's span is used inside as well, so that text travels from an
 * event to the store and from the store to a reply without being copied on the way.
 */
#ifndef COMMON_SPAN_H
#define COMMON_SPAN_H

#include <stdbool.h>
#include <string.h>

#include <tidings/abi.h>

/* For printf's "%.*s". */
#define SPAN_FORMAT(span) (int)(span).len, (span).len ? (span).ptr : ""

static inline struct tidings_span span_of(const char *ptr, size_t len) {
  struct tidings_span span = {ptr, len};
  return span;
}

static inline struct tidings_span span_text(const char *text) {
  return span_of(text, strlen(text));
}

static inline bool span_equal(struct tidings_span a, struct tidings_span b) {
  return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

static inline bool span_is(struct tidings_span span, const char *text) {
  return span_equal(span, span_text(text));
}

#endif
