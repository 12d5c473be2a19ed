/* SPDX-License-Identifier: MIT
 *
 * recipes/recipe.h: turns documents of other programs into notifications. A recipe is a JSON file
 * with rules, without code. Pure: it turns bytes into notifications, and uses no sessions, files or
 * HTTP. docs/reach.md describes the format; recipes/recipe.schema.json is its JSON Schema.
 */
#ifndef RECIPES_RECIPE_H
#define RECIPES_RECIPE_H

#include <tidings/abi.h>

#include "recipes/pointer.h"

struct recipe;

/* `what` names the recipe's file in error messages. *ret_recipe: recipe_free. Errors: INVAL (not
 * JSON), SCHEMA; both name the line, the field, the value and what was expected. NOMEM. */
int recipe_read(struct tidings_span text, const char *what, struct recipe **ret_recipe,
                struct tidings_error *error);
void recipe_free(struct recipe *recipe); /* NULL is allowed */

/* Does each rule that makes notifications say where they go? */
bool recipe_names_address(const struct recipe *recipe);

/* A notification to push, or a withdrawal, which is never shown and takes back pending
 * notifications with its key. Its texts are in the arena; an empty text was not given. */
struct recipe_push {
  struct tidings_span kind, level, text, key, id;
  struct tidings_span to;    /* the address that the recipe gives */
  struct tidings_span order; /* a push is not stored after one with the same key and a higher
                                order */
  int64_t ttl_ms;            /* 0: for ever */
  bool withdraws;            /* takes back notifications with this kind's source and key */
};

/* Applies the first rule that fits the document: a rule without a text ignores the document, others
 * make a notification or a withdrawal. For each element, the first fitting rule counts among rules
 * with the same `each`. *ret_fits: a rule fits. Returns 0, or TIDINGS_E_NOMEM. */
int recipe_apply(const struct recipe *recipe, const struct recipe_document *document,
                 struct arena *arena, struct recipe_push **ret_pushes, size_t *ret_count,
                 bool *ret_fits);

/* Compares the numbers in both texts, from the left: negative if `left` comes before `right`. Other
 * characters only separate numbers; a missing number comes before any other. */
int recipe_compare_orders(struct tidings_span left, struct tidings_span right);

#endif
