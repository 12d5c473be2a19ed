/* SPDX-License-Identifier: MIT
 *
 * recipes/builtin.h: the recipes that are part of the program: the files of recipes/builtin/.
 */
#ifndef RECIPES_BUILTIN_H
#define RECIPES_BUILTIN_H

struct recipe_builtin {
  const char *name; /* the file's name without ".json" */
  const char *text;
};
extern const struct recipe_builtin recipe_builtins[]; /* ends with a row without a name */

#endif
