/* SPDX-License-Identifier: MIT
 *
 * values/declaration.h: which kinds of notifications a tool says that it has. No behaviour.
 */
#ifndef VALUES_DECLARATION_H
#define VALUES_DECLARATION_H

#include <stddef.h>

#include "common/span.h"

/* How much a session may declare. */
enum { DECLARED_TOOLS = 64, DECLARED_KINDS = 64, DECLARED_NAME_BYTES = 128 };

struct declaration {
  struct tidings_span tool;
  const struct tidings_span *kinds; /* names, as in conversation.tools.<tool>.notifications */
  size_t kind_count;                /* 0: the tool declares nothing any more */
};

/* The declarations of all tools, each tool once. */
struct declarations {
  const struct declaration *list;
  size_t count;
};

#endif
