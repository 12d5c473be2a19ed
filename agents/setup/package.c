/* SPDX-License-Identifier: MIT
 *
 * agents/setup/package.c: finds packages of tidings that an agent's own command has installed. If
 * `tidings setup` were used too, each hook would run twice.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agents/setup/json_text.h"
#include "agents/setup/setup.h"
#include "command/json_value.h"
#include "command/paths.h"
#include "common/file.h"

json_t *setup_read_json(const char *path) {
  struct json_text json;
  char *text = NULL, *problem = NULL;
  size_t len = 0;
  json_t *value = NULL;
  if (file_read_whole(path, SETUP_LARGEST_FILE, &text, &len)) return NULL;
  if (!json_text_read(text, &json, &problem)) {
    value = json.root ? json_value_of(json.root) : NULL;
    json_text_finish(&json);
  }
  free(problem);
  free(text);
  return value;
}

static bool is_named(const struct host_package *package, const char *name) {
  size_t len = strlen(package->name);
  if (!name || strncmp(name, package->name, len) != 0) return false;
  return !name[len] || name[len] == '@' || package->name[len - 1] == '@'; /* a version may follow */
}

/* Finds the package in the list, which owns the result. NULL: it is not there. */
static const char *find_in_list(const struct host_package *package, json_t *list) {
  const char *name = NULL;
  json_t *value = NULL;
  size_t i = 0;
  json_object_foreach(list, name, value) {
    if (is_named(package, name) && json_is_true(value)) return name;
  }
  json_array_foreach(list, i, value) { /* with options: [NAME, {...}] or {"source": NAME} */
    if (json_is_array(value)) value = json_array_get(value, 0);
    if (json_is_object(value)) value = json_object_get(value, "source");
    if (is_named(package, json_string_value(value))) return json_string_value(value);
  }
  return NULL;
}

/* Looks for the package in a file; takes `path` over. */
static struct setup_package look_at_file(const struct host_package *package, char *path) {
  struct setup_package found = {.file = NULL};
  json_t *value = path && package->list ? setup_read_json(path) : NULL;
  const char *name = value ? find_in_list(package, json_object_get(value, package->list)) : NULL;
  if (path && !package->list && access(path, F_OK) == 0) name = package->name;
  if (name && (found.name = strdup(name))) found.file = path;
  else free(path);
  json_decref(value);
  return found;
}

static bool is_disabled(const struct host_package *package, const char *folder) {
  const char *home = getenv("HOME");
  char *path = package->disabling_file ? paths_join(folder, package->disabling_file) : NULL,
       *pattern = NULL;
  json_t *value = path ? setup_read_json(path) : NULL, *override = NULL;
  bool disabled = false;
  size_t i = 0;
  if (!home || asprintf(&pattern, "!%s/*", home) < 0) pattern = NULL;
  json_array_foreach(json_object_get(json_object_get(value, package->name), "overrides"), i,
                     override) {
    const char *text = json_string_value(override);
    disabled = disabled || (text && pattern && strcmp(text, pattern) == 0);
  }
  json_decref(value);
  free(pattern);
  free(path);
  return disabled;
}

struct setup_package setup_package_look(const struct host *host) {
  const struct host_package *package = host->package;
  struct setup_package found = {.file = NULL};
  char *folder = package ? host_home(host) : NULL;
  for (size_t i = 0; folder && package->files[i] && !found.file; i++)
    found = look_at_file(package, paths_join(folder, package->files[i]));
  if (package && !found.file && package->project_file)
    found = look_at_file(package, strdup(package->project_file));
  if (found.file && folder && is_disabled(package, folder)) setup_package_finish(&found);
  free(folder);
  return found;
}

void setup_package_finish(struct setup_package *package) {
  free(package->file);
  free(package->name);
  *package = (struct setup_package){.file = NULL};
}

char *setup_package_removal(const struct host *host, const struct setup_package *package) {
  char *words = NULL;
  int len = host->package->removal
                ? asprintf(&words, "with '%s %s'", host->package->removal, package->name)
                : asprintf(&words, "from \"%s\" in %s", host->package->list, package->file);
  return len < 0 ? NULL : words;
}
