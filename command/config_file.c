/* SPDX-License-Identifier: MIT
 */
#include "command/config_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "command/kit.h"
#include "command/paths.h"
#include "command/toml.h"
#include "common/file.h"

static const char *const user_names[] = {"config.json", "config.toml"};
static const char *const project_names[] = {".tidings.json", ".tidings.toml"};

/* -- which file -------------------------------------------------------------------------------- */

/* A file that cannot be looked at counts as existing: reading it will say why it cannot be read. */
static bool is_there(const char *path) {
  struct stat info;
  return stat(path, &info) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

/* *ret_path stays NULL when neither file exists. */
static int32_t choose_file(const char *folder, const char *const names[2], char **ret_path,
                           struct tidings_error *error) {
  char *json = paths_join(folder, names[0]), *toml = paths_join(folder, names[1]);
  bool has_json = json && is_there(json), has_toml = toml && is_there(toml);
  int32_t code = TIDINGS_OK;
  if (!json || !toml) {
    code = kit_no_memory(error);
  } else if (has_json && has_toml) {
    code = kit_error(error, TIDINGS_E_SCHEMA, "there are both %s and %s; expected one of them",
                     json, toml);
  } else if (has_json || has_toml) {
    char **chosen = has_json ? &json : &toml;
    *ret_path = *chosen;
    *chosen = NULL;
  }
  free(json);
  free(toml);
  return code;
}

int32_t config_file_of_user(const struct cli *cli, char **ret_path, bool *ret_named,
                            struct tidings_error *error) {
  const char *named = cli->config ? cli->config : getenv("TIDINGS_CONFIG");
  *ret_named = named && named[0];
  if (*ret_named) {
    *ret_path = strdup(named);
    return *ret_path ? TIDINGS_OK : kit_no_memory(error);
  }
  char *folder = paths_in_home("XDG_CONFIG_HOME", ".config", "tidings"), *path = NULL;
  if (!folder) return TIDINGS_OK;
  int32_t code = choose_file(folder, user_names, &path, error);
  if (!code && !path && !(path = paths_join(folder, user_names[0]))) code = kit_no_memory(error);
  if (!code) *ret_path = path;
  free(folder);
  return code;
}

static bool has_repository(const char *folder) {
  char *path = paths_join(folder, ".git"); /* a file in a worktree, else a folder */
  bool yes = path && is_there(path);
  free(path);
  return yes;
}

/* Cuts off the last name; false: there is no folder above. */
static bool go_up(char *folder) {
  char *slash = strrchr(folder, '/');
  if (!slash || !folder[1]) return false;
  slash[slash == folder] = '\0';
  return true;
}

/* Finds how many bytes of `folder`, a real path, are the root of the repository. Without a
 * repository, all of them. */
static int32_t find_root(const char *folder, size_t *ret_len, struct tidings_error *error) {
  char *at = strdup(folder);
  if (!at) return kit_no_memory(error);
  bool found = has_repository(at);
  while (!found && go_up(at)) found = has_repository(at);
  *ret_len = strlen(found ? at : folder);
  free(at);
  return TIDINGS_OK;
}

int32_t config_file_of_project(const char *folder, char **ret_path, struct tidings_error *error) {
  char *at = folder[0] == '/' ? realpath(folder, NULL) : NULL, *path = NULL;
  size_t root = 0;
  if (!at) return TIDINGS_OK;
  int32_t code = choose_file(at, project_names, &path, error);
  if (!code && !path) code = find_root(at, &root, error);
  while (!code && !path && strlen(at) > root && go_up(at))
    code = choose_file(at, project_names, &path, error);
  if (!code) *ret_path = path;
  free(at);
  return code;
}

static const char *last_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

bool config_file_is_of_project(const char *path) {
  return strcmp(last_name(path), project_names[0]) == 0 ||
         strcmp(last_name(path), project_names[1]) == 0;
}

/* -- what is in it ----------------------------------------------------------------------------- */

static bool is_toml(const char *path) {
  size_t len = strlen(path);
  return len >= 5 && strcmp(path + len - 5, ".toml") == 0;
}

/* Replaces a TOML text by JSON. */
static int32_t from_toml(const char *path, char **text, size_t len, struct tidings_error *error) {
  struct tidings_error said = {.size = sizeof said};
  char *json = NULL;
  int32_t code = toml_to_json(*text, len, &json, &said);
  if (code) return kit_error(error, code, "%s: %s", path, said.text);
  free(*text);
  *text = json;
  return TIDINGS_OK;
}

static int32_t check_text(const char *path, const char *text, size_t len,
                          struct tidings_error *error) {
  const char *expected = is_toml(path) ? "TOML" : "a JSON object";
  if (!len && !is_toml(path)) /* the plugin takes an empty text for no configuration */
    return kit_error(error, TIDINGS_E_SCHEMA, "the configuration %s is empty; expected %s", path,
                     expected);
  if (strlen(text) != len)
    return kit_error(error, TIDINGS_E_SCHEMA,
                     "the configuration %s has a NUL byte in it; expected %s", path, expected);
  return TIDINGS_OK;
}

int32_t config_file_read(const char *path, size_t most, char **ret_json, bool *ret_missing,
                         struct tidings_error *error) {
  char *text = NULL;
  size_t len = 0;
  int reason = file_read_whole(path, most, &text, &len);
  if (ret_missing) *ret_missing = reason == ENOENT;
  if (reason == EFBIG)
    return kit_error(error, TIDINGS_E_TOO_BIG, "the configuration %s has more than %zu bytes", path,
                     most);
  if (reason)
    return kit_error(error, TIDINGS_E_STORE, "cannot read the configuration %s: %s", path,
                     reason == EINVAL ? "it is not a regular file" : strerror(reason));
  int32_t code = check_text(path, text, len, error);
  if (!code && is_toml(path)) code = from_toml(path, &text, len, error);
  if (code) free(text);
  else *ret_json = text;
  return code;
}
