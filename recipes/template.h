/* SPDX-License-Identifier: MIT
 *
 * recipes/template.h: a text with places in it: "{/pull_request/title}" becomes the value at the
 * pointer, "{/sender/login|/user|somebody}" the first value that is there and not blank, or else
 * "somebody"; "{{" becomes a brace. An alternative that begins with "/", "./", "header:" or
 * "bytes:" is a pointer. Pure.
 */
#ifndef RECIPES_TEMPLATE_H
#define RECIPES_TEMPLATE_H

#include "recipes/pointer.h"

/* Returns what is wrong with the template, as half a sentence; NULL: it is valid. */
const char *template_mistake(struct tidings_span text);

/* Is it empty, or has it only blanks and line breaks? Such a text makes no notification. */
bool template_is_blank(struct tidings_span text);

/* Appends the text for a document. *ret_whole: a value was found for every place without a
 * default. */
void template_write(struct tidings_span text, const struct recipe_document *document,
                    struct buffer *out, bool *ret_whole);

#endif
