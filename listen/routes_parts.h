/* SPDX-License-Identifier: MIT
 *
 * listen/routes_parts.h: reads one route. Private to routes.c.
 */
#ifndef LISTEN_ROUTES_PARTS_H
#define LISTEN_ROUTES_PARTS_H

#include <limits.h>

#include "listen/routes.h"

struct routes_reading {
  const char *path;         /* the file's path */
  struct tidings_span text; /* the file's text */
  char folder[PATH_MAX];    /* the file's folder */
  struct routes *routes;
  int route; /* the number of the route that is read; -1: none */
  struct tidings_error *error;
};

/* Fills *ret_route, whose memory is freed with the routes, also after an error. */
int32_t routes_read_one(struct routes_reading *reading, const struct json *value,
                        struct route *ret_route);

/* Writes the error "FILE, line 3: routes[0].path: 5 is not …". `value` may be NULL. */
int32_t routes_refuse(const struct routes_reading *reading, const struct json *value,
                      const char *field, const char *expected);
/* Writes an error that names the field, but not its value, which may be a misplaced secret. */
int32_t routes_refuse_unknown(const struct routes_reading *reading, const struct json *value,
                              const char *expected);
int32_t routes_cannot_read(const struct routes_reading *reading, const char *path, int reason);
int32_t routes_no_memory(const struct routes_reading *reading);

#endif
