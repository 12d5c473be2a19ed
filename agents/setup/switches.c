/* SPDX-License-Identifier: MIT
 *
 * agents/setup/switches.c: settings by which a person turns off all hooks of an agent.
 */
#include <stdlib.h>
#include <string.h>

#include "agents/setup/setup.h"
#include "command/paths.h"
#include "common/file.h"

/* Reads TOML or JSON. NULL: there is no such file, or it cannot be read. */
static json_t *read_settings(const char *path) {
  char *text = NULL;
  size_t len = strlen(path);
  if (len < 5 || strcmp(path + len - 5, ".toml") != 0) return setup_read_json(path);
  json_t *value =
      file_read_whole(path, SETUP_LARGEST_FILE, &text, &len) ? NULL : setup_trust_read(text, NULL);
  free(text);
  return value;
}

/* Returns the member with a path such as "a.b". */
static const json_t *member_at(const json_t *value, const char *path) {
  char *copy = strdup(path), *rest = NULL;
  for (char *name = copy ? strtok_r(copy, ".", &rest) : NULL; name;
       name = strtok_r(NULL, ".", &rest))
    value = json_object_get(value, name);
  free(copy);
  return value;
}

/* Takes `path` over. */
static char *look_at_switch(const struct host_switch *one, char *path) {
  char *found = NULL;
  json_t *settings = path ? read_settings(path) : NULL;
  const json_t *value = member_at(settings, one->member);
  if (json_is_boolean(value) && json_is_true(value) == one->off &&
      asprintf(&found, "%s is %s in %s", one->member, one->off ? "true" : "false", path) < 0)
    found = NULL;
  json_decref(settings);
  free(path);
  return found;
}

/* A project's settings are in a folder of the same name as the agent's own. */
char *setup_switched_off(const struct host *host) {
  char *home = host_home(host), *found = NULL;
  const struct host_switch *one = host->switches;
  for (; one && one->file && !found; one++) {
    if (one->file[0] == '/') {
      found = look_at_switch(one, strdup(one->file));
      continue;
    }
    if (home) found = look_at_switch(one, paths_join(home, one->file));
    if (!found) {
      const char *folder = strrchr(host->home_folder, '/');
      folder = folder ? folder + 1 : host->home_folder;
      found = look_at_switch(one, paths_join(folder, one->file));
    }
  }
  free(home);
  return found;
}
