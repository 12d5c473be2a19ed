/* SPDX-License-Identifier: MIT
 *
 * command/recipes.h: finds recipes (recipes/recipe.h) by name, and pushes or prints what they make.
 */
#ifndef COMMAND_RECIPES_H
#define COMMAND_RECIPES_H

#include <tidings/hostkit.h>

#include "command/cli.h"
#include "common/buffer.h"
#include "recipes/recipe.h"

/* If a source repeats an event within this time, the event is not stored twice. */
enum { RECIPES_REMEMBERED_DAYS = 4 };

/* `name`: a recipe of tidings, or a file. Free *ret_recipe with recipe_free. Errors: NOT_FOUND,
 * with the known names; those of recipe_read. */
int32_t recipes_find(const char *name, struct recipe **ret_recipe, struct tidings_error *error);

/* Names the recipe as a source of ids: a file is one source, however its path is written. Free it.
 * NULL: out of memory. */
char *recipes_source(const char *name);

/* A repetition is recognized by `source` and the push's id. Borrows all texts. */
struct hostkit_notification recipes_notification(const struct recipe_push *push,
                                                 struct tidings_span session,
                                                 struct tidings_span source);

/* OVERTAKEN: a push with the same key and a higher order is known (orders.h), so this one is not
 * stored. */
enum recipes_outcome { RECIPES_STORED, RECIPES_KNOWN, RECIPES_OVERTAKEN };

/* Stores the push by hostkit_push. A push that withdraws another is sent as the event of a silent
 * notification. An id that no event may have, such as the lines of a log, counts by its digest. */
int32_t recipes_push(const struct cli *cli, struct hostkit *kit, const struct recipe_push *push,
                     const struct hostkit_notification *notification,
                     enum recipes_outcome *ret_outcome, struct tidings_error *error);

/* Writes "sha256:" and the digest of the text. */
void recipes_write_digest(struct tidings_span text, struct buffer *out);

/* May the same push succeed later? And would it always be refused, because of its text? If neither,
 * this process cannot go on. */
bool recipes_may_pass(int32_t code);
bool recipes_is_wrong(int32_t code);

/* Prints kind, level, key, id, address and text on stdout. */
void recipes_print(const struct recipe_push *push);

/* Makes the plugin remember ids for at least RECIPES_REMEMBERED_DAYS. Errors: those of queries. */
int32_t recipes_remember_ids(struct hostkit *kit, struct tidings_error *error);

#endif
