/* SPDX-License-Identifier: MIT
 */
#include "listen/routes.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/file.h"
#include "listen/routes_parts.h"

struct routes *routes_use(struct routes *routes) {
  atomic_fetch_add(&routes->users, 1);
  return routes;
}

void routes_drop(struct routes *routes) {
  if (!routes || atomic_fetch_sub(&routes->users, 1) != 1) return;
  for (size_t i = 0; i < routes->count; i++) {
    struct route *route = &routes->routes[i];
    for (size_t k = 0; k < route->secrets.count; k++)
      explicit_bzero((char *)(uintptr_t)route->secrets.secrets[k].ptr,
                     route->secrets.secrets[k].len);
    recipe_free(route->recipe);
    address_finish(&route->address);
    free(route->counts);
  }
  arena_free(&routes->arena);
  free(routes);
}

const struct route *routes_find(const struct routes *routes, struct tidings_span path) {
  for (size_t i = 0; i < routes->count; i++) {
    if (span_equal(routes->routes[i].path, path)) return &routes->routes[i];
  }
  return NULL;
}

/* The port and the case of letters do not count: "Example.org:8080" is example.org. */
bool routes_has_host(const struct routes *routes, struct tidings_span host) {
  static const char *const loopback[] = {"localhost", "127.0.0.1", "[::1]"};
  size_t end = host.len;
  while (end && isdigit((unsigned char)host.ptr[end - 1])) end--;
  if (end && end < host.len && host.ptr[end - 1] == ':') host.len = end - 1;
  for (size_t i = 0; i < sizeof loopback / sizeof *loopback; i++) {
    if (host.len == strlen(loopback[i]) && strncasecmp(host.ptr, loopback[i], host.len) == 0)
      return true;
  }
  for (size_t i = 0; i < routes->host_count; i++) {
    if (routes->hosts[i].len == host.len &&
        strncasecmp(routes->hosts[i].ptr, host.ptr, host.len) == 0)
      return true;
  }
  return false;
}

void routes_keep_counts(struct routes *routes, const struct routes *before) {
  counts_copy(&routes->elsewhere, &before->elsewhere);
  for (size_t i = 0; i < routes->count; i++) {
    const struct route *old = routes_find(before, routes->routes[i].path);
    if (old) counts_copy(routes->routes[i].counts, old->counts);
  }
}

/* -- the file ---------------------------------------------------------------------------------- */

static int32_t read_hosts(struct routes_reading *reading, const struct json *hosts) {
  struct routes *routes = reading->routes;
  if (hosts->kind != JSON_IS_ARRAY)
    return routes_refuse(reading, hosts, "hosts", "a list of names such as \"hooks.example.org\"");
  routes->hosts = arena_zalloc(&routes->arena, hosts->count + 1, sizeof *routes->hosts);
  if (!routes->hosts) return routes_no_memory(reading);
  for (const struct json *one = hosts->members; one; one = one->next) {
    if (one->kind != JSON_IS_STRING || !one->text.len || memchr(one->text.ptr, '/', one->text.len))
      return routes_refuse(reading, one, "hosts", "a name such as \"hooks.example.org\"");
    routes->hosts[routes->host_count++] = one->text;
  }
  return TIDINGS_OK;
}

static int32_t read_list(struct routes_reading *reading, const struct json *list) {
  struct routes *routes = reading->routes;
  if (!list || list->kind != JSON_IS_ARRAY || !list->count)
    return routes_refuse(reading, list, "routes", "a list of at least one route");
  routes->routes = arena_zalloc(&routes->arena, list->count, sizeof *routes->routes);
  if (!routes->routes) return routes_no_memory(reading);
  int32_t code = TIDINGS_OK;
  for (const struct json *one = list->members; !code && one; one = one->next) {
    struct route route = {.path = span_of(NULL, 0)};
    reading->route = (int)routes->count;
    code = routes_read_one(reading, one, &route);
    if (!code && routes_find(routes, route.path))
      code = routes_refuse(reading, one, "path", "a path that no other route has");
    routes->routes[routes->count++] = route;
  }
  return code;
}

static int32_t read_root(struct routes_reading *reading, const struct json *root) {
  const struct json *listen = json_member(root, "listen");
  int32_t code = TIDINGS_OK;
  if (!listen || listen->kind != JSON_IS_OBJECT)
    return routes_refuse(reading, root, "listen", "an object with routes");
  for (const struct json *one = listen->members; !code && one; one = one->next) {
    if (span_is(one->key, "hosts")) code = read_hosts(reading, one);
    else if (!span_is(one->key, "routes"))
      code = routes_refuse_unknown(reading, one, "only hosts and routes");
  }
  return code ? code : read_list(reading, json_member(listen, "routes"));
}

/* Writes the folder of the file; "." if its path has none. */
static void find_folder_of(const char *path, char folder[PATH_MAX]) {
  char *real = realpath(path, NULL);
  (void)snprintf(folder, PATH_MAX, "%s", real ? real : path);
  free(real);
  char *slash = strrchr(folder, '/');
  if (slash == folder) slash++;
  if (slash) *slash = '\0';
  else (void)snprintf(folder, PATH_MAX, ".");
}

int32_t routes_read(const char *path, struct routes **ret_routes, struct tidings_error *error) {
  enum { LARGEST = 1 << 20 };
  static const struct json_rules rules = {.max_depth = JSON_MAX_DEPTH, .edited = true};
  struct routes_reading reading = {.path = path, .route = -1, .error = error};
  const struct json *root = NULL;
  char *text = NULL;
  size_t len = 0;
  reading.routes = calloc(1, sizeof *reading.routes);
  if (!reading.routes) return routes_no_memory(&reading);
  atomic_store(&reading.routes->users, 1);
  find_folder_of(path, reading.folder);
  int reason = file_read_whole(path, LARGEST, &text, &len);
  reading.text = span_of(text, len);
  int32_t code =
      reason ? routes_cannot_read(&reading, path, reason)
             : json_read_by(&rules, reading.text, path, &reading.routes->arena, &root, error);
  if (!code) code = read_root(&reading, root);
  free(text);
  if (code) routes_drop(reading.routes);
  else *ret_routes = reading.routes;
  return code;
}
