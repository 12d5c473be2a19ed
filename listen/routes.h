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
  bool ids_count; /* those in headers name events; else the body does, because only it is signed */
  struct signature_secrets secrets;
  struct address address; /* its name is NULL: each push says where it goes */
  uint32_t level;         /* the highest level that is allowed: TIDINGS_LEVEL_* */
  size_t max_bytes;       /* of a body */
  struct counts *counts;
};

/* Shared by the requests that use it; the last one frees it. */
struct routes {
  struct arena arena;
  struct route *routes;
  size_t count;
  struct tidings_span *hosts; /* beside the loopback names, in lower case */
  size_t host_count;
  struct counts elsewhere; /* requests that have no route */
  atomic_size_t users;
};

/* Relative paths in the file are relative to the file's folder. *ret_routes has one user. Errors:
 * NOT_FOUND, SCHEMA, STORE, INVAL, NOMEM; each names the file, the field, what was expected, and
 * never a secret. */
int32_t routes_read(const char *path, struct routes **ret_routes, struct tidings_error *error);
struct routes *routes_use(struct routes *routes);
void routes_drop(struct routes *routes); /* NULL is allowed */

const struct route *routes_find(const struct routes *routes, struct tidings_span path);
bool routes_has_host(const struct routes *routes, struct tidings_span host);

/* Takes the counts of the routes that had the same paths before a reload. */
void routes_keep_counts(struct routes *routes, const struct routes *before);

#endif
