/* SPDX-License-Identifier: MIT
 */
#include "listen/routes_parts.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/kit.h"
#include "command/recipes.h"
#include "command/secret_file.h"
#include "common/error.h"

enum { BODY_BYTES = 256 << 10, MOST_BODY_BYTES = 25 << 20, LONGEST_PATH = 255 };

/* -- errors ------------------------------------------------------------------------------------ */

static size_t line_of(const struct routes_reading *reading, const struct json *value) {
  size_t line = 1;
  for (size_t i = 0; value && i < value->start && i < reading->text.len; i++)
    line += reading->text.ptr[i] == '\n';
  return line;
}

/* Writes "routes[2].path", or "hosts". */
static void name_field(const struct routes_reading *reading, const char *field, char name[64]) {
  if (reading->route < 0) (void)snprintf(name, 64, "%s", field);
  else (void)snprintf(name, 64, "routes[%d].%s", reading->route, field);
}

int32_t routes_refuse(const struct routes_reading *reading, const struct json *value,
                      const char *field, const char *expected) {
  char name[64];
  name_field(reading, field, name);
  if (!value)
    return kit_error(reading->error, TIDINGS_E_SCHEMA, "%s: %s: missing; expected %s",
                     reading->path, name, expected);
  struct quoted shown = quote(span_of(reading->text.ptr + value->start, value->end - value->start));
  return kit_error(reading->error, TIDINGS_E_SCHEMA, "%s, line %zu: %s: %s; expected %s",
                   reading->path, line_of(reading, value), name, shown.text, expected);
}

int32_t routes_refuse_unknown(const struct routes_reading *reading, const struct json *value,
                              const char *expected) {
  char name[64];
  name_field(reading, value->key.ptr, name);
  return kit_error(reading->error, TIDINGS_E_SCHEMA, "%s, line %zu: %s: unknown field; expected %s",
                   reading->path, line_of(reading, value), name, expected);
}

int32_t routes_cannot_read(const struct routes_reading *reading, const char *path, int reason) {
  return kit_error(reading->error, TIDINGS_E_NOT_FOUND, "cannot read '%s': %s", path,
                   strerror(reason));
}

int32_t routes_no_memory(const struct routes_reading *reading) {
  return kit_no_memory(reading->error);
}

/* Refuses a value of the route, with the reason and its line in the file. */
static int32_t refuse_with_reason(const struct routes_reading *reading, const struct json *value,
                                  const char *field, int32_t code, const char *reason) {
  char name[64];
  name_field(reading, field, name);
  return kit_error(reading->error, code, "%s, line %zu: %s: %s", reading->path,
                   line_of(reading, value), name, reason);
}

/* -- secrets ----------------------------------------------------------------------------------- */

static char *join_folder(const struct routes_reading *reading, const char *path) {
  char *joined = NULL;
  if (path[0] == '/') return strdup(path);
  return asprintf(&joined, "%s/%s", reading->folder, path) < 0 ? NULL : joined;
}

/* Each line that is not empty is a secret. */
static const char *take_secrets(struct routes_reading *reading, struct tidings_span text,
                                struct route *route) {
  struct signature_secrets *secrets = &route->secrets;
  for (size_t at = 0; at < text.len;) {
    const char *end = memchr(text.ptr + at, '\n', text.len - at);
    size_t len = end ? (size_t)(end - text.ptr) - at : text.len - at;
    struct tidings_span line = span_of(text.ptr + at, len), copy;
    at += len + 1;
    while (line.len && (line.ptr[line.len - 1] == '\r' || line.ptr[line.len - 1] == ' '))
      line.len--;
    if (!line.len) continue;
    if (secrets->count == SIGNATURE_MOST_SECRETS) return "has more than two secrets";
    const char *mistake = signature_secret_mistake(route->scheme, line);
    if (mistake) return mistake;
    if (arena_copy(&reading->routes->arena, line, &copy)) return "out of memory";
    secrets->secrets[secrets->count++] = copy;
  }
  return secrets->count ? NULL : "has no secret";
}

static int32_t read_secret_file(struct routes_reading *reading, const struct json *value,
                                struct route *route) {
  char *text = NULL, *path = NULL;
  size_t len = 0;
  if (value->kind != JSON_IS_STRING || !value->text.len)
    return routes_refuse(reading, value, "secret_file", "the path of a file");
  path = join_folder(reading, value->text.ptr);
  if (!path) return routes_no_memory(reading);
  const char *mistake = secret_file_read(path, &text, &len);
  if (!mistake) mistake = take_secrets(reading, span_of(text, len), route);
  if (text) explicit_bzero(text, len);
  free(text);
  char said[PATH_MAX + 128];
  (void)snprintf(said, sizeof said, "'%s': %s", path, mistake ? mistake : "");
  free(path);
  return mistake ? refuse_with_reason(reading, value, "secret_file", TIDINGS_E_SCHEMA, said)
                 : TIDINGS_OK;
}

/* -- fields ------------------------------------------------------------------------------------ */

struct fields {
  const struct json *path, *recipe, *secret_file, *signature, *to, *level, *max_bytes, *is_unsigned;
};

static int32_t sort_fields(struct routes_reading *reading, const struct json *value,
                           struct fields *fields) {
  if (value->kind != JSON_IS_OBJECT) return routes_refuse(reading, value, "path", "an object");
  for (const struct json *one = value->members; one; one = one->next) {
    if (span_is(one->key, "path")) fields->path = one;
    else if (span_is(one->key, "recipe")) fields->recipe = one;
    else if (span_is(one->key, "secret_file")) fields->secret_file = one;
    else if (span_is(one->key, "signature")) fields->signature = one;
    else if (span_is(one->key, "to")) fields->to = one;
    else if (span_is(one->key, "level")) fields->level = one;
    else if (span_is(one->key, "max_bytes")) fields->max_bytes = one;
    else if (span_is(one->key, "unsigned")) fields->is_unsigned = one;
    else
      return routes_refuse_unknown(reading, one,
                                   "only path, recipe, secret_file, signature, to, level, "
                                   "max_bytes and unsigned");
  }
  return TIDINGS_OK;
}

static int32_t read_path(struct routes_reading *reading, const struct json *value,
                         struct route *route) {
  static const char expected[] = "a path such as \"/hooks/ci\", other than /healthz";
  if (!value || value->kind != JSON_IS_STRING || value->text.len > LONGEST_PATH ||
      value->text.len < 2 || value->text.ptr[0] != '/' || span_is(value->text, "/healthz"))
    return routes_refuse(reading, value, "path", expected);
  for (size_t i = 0; i < value->text.len; i++) {
    if ((unsigned char)value->text.ptr[i] <= ' ' || strchr("?#%", value->text.ptr[i]))
      return routes_refuse(reading, value, "path", expected);
  }
  route->path = value->text;
  return TIDINGS_OK;
}

static int32_t read_recipe(struct routes_reading *reading, const struct json *value,
                           struct route *route) {
  struct tidings_error error = {.size = sizeof error};
  if (!value || value->kind != JSON_IS_STRING || !value->text.len)
    return routes_refuse(reading, value, "recipe", "the name of a recipe, or a file");
  bool file = memchr(value->text.ptr, '/', value->text.len) ||
              memchr(value->text.ptr, '.', value->text.len);
  char *name = file ? join_folder(reading, value->text.ptr) : strdup(value->text.ptr);
  if (!name) return routes_no_memory(reading);
  int32_t code = recipes_find(name, &route->recipe, &error);
  free(name);
  route->recipe_name = value->text;
  return code ? refuse_with_reason(reading, value, "recipe", code, error.text) : TIDINGS_OK;
}

static bool is_true(const struct json *value) { return value && value->kind == JSON_IS_TRUE; }

/* Takes the route's scheme, or else the recipe's; without either, the route has a token. A vendor's
 * events differ in their bodies. A person's own sender may send equal bodies with different ids,
 * which are different events. */
static int32_t read_scheme(struct routes_reading *reading, const struct fields *fields,
                           const struct json *whole, struct route *route) {
  const struct json *named = fields->signature;
  int of_recipe = signature_scheme_of(route->recipe_name.ptr), scheme = of_recipe;
  if (fields->is_unsigned && fields->is_unsigned->kind != JSON_IS_TRUE &&
      fields->is_unsigned->kind != JSON_IS_FALSE)
    return routes_refuse(reading, fields->is_unsigned, "unsigned", "true or false");
  if (is_true(fields->is_unsigned) && (fields->secret_file || named))
    return routes_refuse(reading, fields->is_unsigned, "unsigned",
                         "neither secret_file nor signature beside it");
  route->ids_count = true;
  if (is_true(fields->is_unsigned)) return TIDINGS_OK; /* SIGNATURE_NONE */
  if (named) scheme = named->kind == JSON_IS_STRING ? signature_scheme_of(named->text.ptr) : -1;
  if (named && scheme < 0)
    return routes_refuse(reading, named, "signature",
                         "standard, github, gitlab, stripe, sentry or bearer");
  route->scheme = scheme < 0 ? SIGNATURE_BEARER : (enum signature_scheme)scheme;
  route->ids_count = scheme != of_recipe || signature_covers_ids(route->scheme);
  if (!fields->secret_file)
    return refuse_with_reason(reading, whole, "secret_file", TIDINGS_E_SCHEMA,
                              "missing; expected a file with the secret that signs the requests, "
                              "or \"unsigned\": true");
  return read_secret_file(reading, fields->secret_file, route);
}

static int32_t read_to(struct routes_reading *reading, const struct json *value,
                       const struct json *whole, struct route *route) {
  struct tidings_error error = {.size = sizeof error};
  if (!value && recipe_names_address(route->recipe)) return TIDINGS_OK;
  if (!value)
    return refuse_with_reason(reading, whole, "to", TIDINGS_E_SCHEMA,
                              "missing; expected an address such as \"box:ci\", for the recipe "
                              "does not say where its notifications go");
  if (value->kind != JSON_IS_STRING)
    return routes_refuse(reading, value, "to", "an address such as \"box:ci\"");
  int32_t code = address_parse(value->text.ptr, reading->folder, &route->address, &error);
  return code ? refuse_with_reason(reading, value, "to", code, error.text) : TIDINGS_OK;
}

static int32_t read_bounds(struct routes_reading *reading, const struct fields *fields,
                           struct route *route) {
  static const char *const levels[] = {"info", "warning", "error", "critical"};
  int64_t bytes = BODY_BYTES;
  route->level = TIDINGS_LEVEL_ERROR;
  route->max_bytes = BODY_BYTES;
  if (fields->max_bytes &&
      (!json_to_integer(fields->max_bytes, &bytes) || bytes < 1 || bytes > MOST_BODY_BYTES))
    return routes_refuse(reading, fields->max_bytes, "max_bytes",
                         "a number from 1 to 26214400 (25 MiB)");
  route->max_bytes = (size_t)bytes;
  if (!fields->level) return TIDINGS_OK;
  for (uint32_t i = 0; i < sizeof levels / sizeof *levels; i++) {
    if (fields->level->kind != JSON_IS_STRING || !span_is(fields->level->text, levels[i])) continue;
    route->level = i;
    return TIDINGS_OK;
  }
  return routes_refuse(reading, fields->level, "level",
                       "the highest level: info, warning, error or critical");
}

int32_t routes_read_one(struct routes_reading *reading, const struct json *value,
                        struct route *ret_route) {
  struct fields fields = {.path = NULL};
  int32_t code = sort_fields(reading, value, &fields);
  if (!code) code = read_path(reading, fields.path, ret_route);
  if (!code) code = read_recipe(reading, fields.recipe, ret_route);
  if (!code) code = read_scheme(reading, &fields, value, ret_route);
  if (!code) code = read_to(reading, fields.to, value, ret_route);
  if (!code) code = read_bounds(reading, &fields, ret_route);
  if (!code) ret_route->counts = calloc(1, sizeof *ret_route->counts);
  return code || ret_route->counts ? code : routes_no_memory(reading);
}
