/* SPDX-License-Identifier: MIT
 *
 * recipes/template.h: a text with places in it: "{/pull_request/title}" is what the pointer finds,
 * "{/sender/login|/user|somebody}" the first of these that is found, else "somebody"; "{{" is a
 * brace. An alternative that begins with "/", "./" or "header:" is a pointer. Pure.
 */
#ifndef RECIPES_TEMPLATE_H
#define RECIPES_TEMPLATE_H

#include "recipes/pointer.h"

/* NULL, or what is wrong with it: half a sentence. */
const char *template_mistake(struct tidings_span text);

/* Appends the text for a document. *ret_whole: every place without a default has been found. */
void template_write(struct tidings_span text, const struct recipe_document *document,
                    struct buffer *out, bool *ret_whole);

#endif
