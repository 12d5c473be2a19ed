/* SPDX-License-Identifier: MIT
 *
 * recipes/rules.h: a recipe as it was read and checked. Private to recipes/.
 */
#ifndef RECIPES_RULES_H
#define RECIPES_RULES_H

#include "recipes/recipe.h"

/* Templates and pointers are valid. A member that is empty or NULL was not given. */
struct recipe_rule {
  const struct json *when;          /* an object from pointers to values */
  const struct json *withdraw_when; /* the same */
  struct tidings_span each;         /* a pointer in which "*" means every element of an array */
  struct tidings_span kind, text, key, id, to, order; /* templates */
  struct tidings_span level;      /* the level, also if the map has none for the value */
  struct tidings_span level_from; /* a pointer to the value that the map translates */
  const struct json *level_map;
  int64_t ttl_ms;
};

struct recipe {
  struct arena arena;
  struct recipe_rule *rules;
  size_t rule_count;
};

#endif
