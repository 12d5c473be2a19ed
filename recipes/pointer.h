/* SPDX-License-Identifier: MIT
 *
 * recipes/pointer.h: finds one value of a document. A pointer is a JSON pointer (RFC 6901) from the
 * document's root ("/alerts/0/status") or from the current element of a rule ("./status"), or names
 * a header ("header:x-github-event"). "bytes:/MESSAGE" reads an array of bytes as text. Pure.
 */
#ifndef RECIPES_POINTER_H
#define RECIPES_POINTER_H

#include <stdbool.h>
#include <stddef.h>

#include "common/json.h"

/* Names are in lower case. */
struct recipe_header {
  struct tidings_span name, value;
};

/* A recipe is applied to such a document. */
struct recipe_document {
  const struct json *root;
  const struct json *element; /* the element, if the rule has `each`; else NULL */
  const struct recipe_header *headers;
  size_t header_count;
};

/* Is it a valid pointer? */
bool pointer_is_valid(struct tidings_span pointer);

/* Appends the value: a string as it is, a number as it was written, true, false, or an array or
 * object as compact JSON; for "bytes:", what a terminal would show for an array of bytes. False:
 * there is no value, or it is null. */
bool pointer_write(const struct recipe_document *document, struct tidings_span pointer,
                   struct buffer *out);

/* Calls `visit` with each value that the pointer means, where a part "*" means every element of an
 * array. */
void pointer_each(const struct json *value, struct tidings_span pointer,
                  void (*visit)(void *context, const struct json *value), void *context);

#endif
