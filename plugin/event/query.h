/* SPDX-License-Identifier: MIT
 *
 * event/query.h: a question as JSON to a typed one.
 */
#ifndef EVENT_QUERY_H
#define EVENT_QUERY_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/span.h"

enum query_name { QUERY_PENDING, QUERY_STATUS, QUERY_HISTORY, QUERY_EXPLAIN, QUERY_STATS, QUERY_STREAM, QUERY_CONFIGURE };

enum { QUERY_DEFAULT_LIMIT = 100, QUERY_LARGEST_LIMIT = 10000 };

/* All text is owned by the arena. */
struct query {
  enum query_name name;
  struct tidings_span session;
  uint64_t id;     /* explain: a public item id */
  uint32_t limit;  /* pending: items; history: deliveries */
  bool has_config; /* configure: JSON to put in force; without it the one in force is only read */
  struct tidings_span config;
};

/* Returns 0, INVAL, SCHEMA, TOO_BIG, UNSUPPORTED (unknown name, or one that is not built in this version), NOMEM. */
int query_parse(struct tidings_span bytes, struct arena *arena, struct query *ret_query, struct tidings_error *error);

#endif
