/* SPDX-License-Identifier: MIT
 */
#include "command/project.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/config_file.h"
#include "command/json_value.h"
#include "command/layers.h"

int32_t project_find(const char *folder, char **ret_path, struct tidings_error *error) {
  const char *without = getenv("TIDINGS_NO_PROJECT");
  return without && without[0] ? TIDINGS_OK : config_file_of_project(folder, ret_path, error);
}

/* -- reading ----------------------------------------------------------------------------------- */

static int32_t read_object(const char *path, size_t most, bool *ret_missing, json_t **ret_config,
                           struct tidings_error *error) {
  static const struct json_rules rules = {.max_depth = JSON_MAX_DEPTH, .comments = true};
  char *text = NULL;
  json_t *config = NULL;
  int32_t code = config_file_read(path, most, &text, ret_missing, error);
  if (!code) code = json_value_read(&rules, span_text(text), path, &config, error);
  free(text);
  if (!code && !json_is_object(config))
    code = kit_error(error, TIDINGS_E_SCHEMA, "%s: it is not an object; expected one", path);
  if (code) json_decref(config);
  else *ret_config = config;
  return code;
}

int32_t project_read(const char *path, json_t **ret_config, struct tidings_error *error) {
  json_t *config = NULL;
  bool failed = false;
  int32_t code = read_object(path, CONFIG_FILE_MOST_OF_PROJECT, NULL, &config, error);
  const char *why = NULL;
  char *refused = code ? NULL : layers_refused_key(config, &why, &failed);
  if (refused) code = kit_error(error, TIDINGS_E_SCHEMA, "%s: %s: %s", path, refused, why);
  else if (failed) code = kit_no_memory(error);
  free(refused);
  if (code) json_decref(config);
  else *ret_config = config;
  return code;
}

int32_t project_read_user(const struct cli *cli, char **ret_path, json_t **ret_config,
                          struct tidings_error *error) {
  bool named = false, missing = false;
  char *path = NULL;
  json_t *config = NULL;
  if (cli->no_config) return TIDINGS_OK;
  int32_t code = config_file_of_user(cli, &path, &named, error);
  if (!code && path) code = read_object(path, CONFIG_FILE_MOST, &missing, &config, error);
  if (code && missing && !named) code = TIDINGS_OK;
  if (code) {
    free(path);
    return code;
  }
  *ret_path = path;
  *ret_config = config;
  return TIDINGS_OK;
}

/* -- laying ------------------------------------------------------------------------------------ */

static int32_t configure(struct hostkit *kit, json_t *config, json_t **ret_in_force,
                         struct tidings_error *error) {
  json_t *answer = NULL,
         *request = config ? json_pack("{s:s, s:O}", "name", "configure", "config", config)
                           : json_pack("{s:s}", "name", "configure");
  int32_t code = kit_query(kit, request, &answer, error);
  if (code) return code;
  if (ret_in_force) *ret_in_force = json_incref(json_object_get(answer, "config"));
  json_decref(answer);
  return TIDINGS_OK;
}

/* Adds the path of the project's file: the user's file alone was accepted, so the mistake is in the
 * project's. */
static int32_t name_file(const char *path, int32_t code, struct tidings_error *error) {
  struct tidings_error said = *error;
  const char *text = strncmp(said.text, "config.", 7) == 0 ? said.text + 7 : said.text;
  return kit_error(error, code, "%s: %s", path, text);
}

/* Sets the preset that the verb prefers, if neither file names one. Returns 0, or -1: out of
 * memory. */
static int prefer_preset(const struct cli *cli, json_t *config) {
  json_t *delivery = json_object_get(config, "delivery");
  if (!cli->preset || json_object_get(delivery, "preset")) return 0;
  if (delivery && !json_is_object(delivery)) return 0; /* the plugin says what is wrong with it */
  if (delivery) return json_object_set_new(delivery, "preset", json_string(cli->preset));
  return json_object_set_new(config, "delivery", json_pack("{s:s}", "preset", cli->preset));
}

int32_t project_apply(const struct cli *cli, struct hostkit *kit, const char *path,
                      struct tidings_error *error) {
  json_t *project = NULL, *user = NULL, *in_force = NULL, *merged = NULL;
  char *user_path = NULL;
  int32_t code = project_read(path, &project, error);
  if (!code) code = project_read_user(cli, &user_path, &user, error);
  if (!code) code = configure(kit, NULL, &in_force, error);
  if (!code && !(merged = layers_merge(user, project, in_force))) code = kit_no_memory(error);
  if (!code && prefer_preset(cli, merged)) code = kit_no_memory(error);
  if (!code && (code = configure(kit, merged, NULL, error))) code = name_file(path, code, error);
  json_decref(project);
  json_decref(user);
  json_decref(in_force);
  json_decref(merged);
  free(user_path);
  return code;
}

/* Returns the folder of the session; "": its host named none, or nobody has opened it. NULL: the
 * store cannot be asked; the caller's next call will say why. Free it. */
static char *folder_of_session(struct hostkit *kit, const char *session) {
  struct tidings_error error = {.size = sizeof error};
  json_t *status = NULL;
  if (kit_query(kit, json_pack("{s:s, s:s}", "name", "status", "session", session), &status,
                &error))
    return NULL;
  char *folder = strdup(json_value_text(json_object_get(status, "attachment"), "cwd"));
  json_decref(status);
  return folder;
}

void project_lay_in(const struct cli *cli, struct hostkit *kit, const char *folder) {
  struct tidings_error error = {.size = sizeof error};
  char *path = NULL;
  int32_t code = cli->no_config ? TIDINGS_OK : project_find(folder, &path, &error);
  if (!code && path) code = project_apply(cli, kit, path, &error);
  if (code)
    kit_warn(cli, "the project's configuration is not in force, the user's is: %s", error.text);
  free(path);
}

void project_lay(const struct cli *cli, struct hostkit *kit, const char *session,
                 const char *folder) {
  char *named = cli->no_config ? NULL : folder_of_session(kit, session);
  if (named) project_lay_in(cli, kit, named[0] ? named : folder);
  free(named);
}

void project_lay_here(const struct cli *cli, struct hostkit *kit, const char *session) {
  char here[PATH_MAX];
  project_lay(cli, kit, session, getcwd(here, sizeof here) ? here : "");
}
