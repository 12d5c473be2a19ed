/* SPDX-License-Identifier: MIT
 *
 * command/recipes.h: recipes (recipes/recipe.h) as verbs use them: found by name, and what they
 * make as a notification to push, or as text.
 */
#ifndef COMMAND_RECIPES_H
#define COMMAND_RECIPES_H

#include <tidings/hostkit.h>

#include "command/cli.h"
#include "recipes/recipe.h"

/* For how long a source may repeat an event without its being stored twice. */
enum { RECIPES_REMEMBERED_DAYS = 4 };

/* `name`: a recipe that tidings has, or a file. *ret_recipe: recipe_free. Errors: NOT_FOUND with
 * the names that there are; recipe_read's. */
int32_t recipes_find(const char *name, struct recipe **ret_recipe, struct tidings_error *error);

/* A repetition is recognized by `source` and the push's id. Borrows all texts. */
struct hostkit_notification recipes_notification(const struct recipe_push *push,
                                                 struct tidings_span session,
                                                 struct tidings_span source);

/* OVERTAKEN: one with the same key and a later order is known (orders.h), so it is not stored. */
enum recipes_outcome { RECIPES_STORED, RECIPES_KNOWN, RECIPES_OVERTAKEN };

/* Stores it by hostkit_push; one that withdraws another is sent as the event of a silent
 * notification. */
int32_t recipes_push(const struct cli *cli, struct hostkit *kit, const struct recipe_push *push,
                     const struct hostkit_notification *notification,
                     enum recipes_outcome *ret_outcome, struct tidings_error *error);

/* On stdout: kind, level, key, id, address and text. */
void recipes_print(const struct recipe_push *push);

/* Makes the plugin remember ids for at least RECIPES_REMEMBERED_DAYS. Errors: those of queries. */
int32_t recipes_remember_ids(struct hostkit *kit, struct tidings_error *error);

#endif
