/* SPDX-License-Identifier: MIT
 *
 * listen/routes.h: finds the route of a path: the routes of the configuration, checked, with their
 * recipes, addresses and secrets read.
 */
#ifndef LISTEN_ROUTES_H
#define LISTEN_ROUTES_H

#include <stdatomic.h>

#include "command/address.h"
#include "listen/counts.h"
#include "listen/signature.h"
#include "recipes/recipe.h"

struct route {
  struct tidings_span path; /* "/hooks/ci" */
  struct tidings_span recipe_name;
  struct recipe *recipe;
  enum signature_scheme scheme;
  bool ids_count; /* ids in headers identify events; false: only the body does, because only it is
                     signed */
  struct signature_secrets secrets;
  struct address address; /* without a name, each push says where it goes */
  uint32_t level;         /* the highest allowed level: TIDINGS_LEVEL_* */
  size_t max_bytes;       /* the limit for a body */
  struct counts *counts;
};

/* Shared by the requests that use it; the last one frees it. */
struct routes {
  struct arena arena;
  struct route *routes;
  size_t count;
  struct tidings_span *hosts; /* the names of this host besides the loopback names, in lower case */
  size_t host_count;
  struct counts elsewhere; /* requests that have no route */
  atomic_size_t users;
};

/* Reads the routes. Relative paths begin in the file's folder. *ret_routes has one user. Errors:
 * NOT_FOUND, SCHEMA, STORE, INVAL, NOMEM; each names the file, the field and what was expected, but
 * no secret. */
int32_t routes_read(const char *path, struct routes **ret_routes, struct tidings_error *error);
struct routes *routes_use(struct routes *routes);
void routes_drop(struct routes *routes); /* NULL is allowed */

const struct route *routes_find(const struct routes *routes, struct tidings_span path);
bool routes_has_host(const struct routes *routes, struct tidings_span host);

/* After a reload: takes the counts of the former routes with the same paths. */
void routes_keep_counts(struct routes *routes, const struct routes *before);

#endif
