/* SPDX-License-Identifier: MIT
 *
 * doctor/installation.c: does the plugin load, and does it accept the configuration?
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/doctor/doctor.h"
#include "command/config_file.h"
#include "command/project.h"
#include "common/folder.h"

/* Opens the plugin on a temporary store. `project`: a project's file, whose values replace the
 * user's; NULL: none. */
static int32_t try_open(const struct doctor *doctor, bool with_config, const char *project,
                        struct hostkit_info *ret_info, struct tidings_error *error) {
  struct cli apart = *doctor->cli;
  struct hostkit *kit = NULL;
  char *scratch = folder_make_temporary(NULL, "tidings");
  if (!scratch)
    return kit_error(error, TIDINGS_E_STORE, "cannot make a temporary folder: %s", strerror(errno));
  apart.store = scratch;
  apart.no_config = !with_config;
  int32_t code = kit_open(&apart, TIDINGS_ROLE_PRODUCER, 0, &kit, error);
  if (!code && project) code = project_apply(&apart, kit, project, error);
  if (!code && ret_info) (void)hostkit_info(kit, ret_info);
  kit_close(kit);
  (void)folder_remove_all(scratch);
  free(scratch);
  return code;
}

void doctor_plugin(struct doctor *doctor) {
  struct tidings_error error = {.size = sizeof error};
  struct hostkit_info info = {.size = sizeof info};
  const char *variable = getenv("TIDINGS_PLUGIN");
  bool named = variable && variable[0];
  char *path = kit_plugin_path();
  int32_t code = path ? try_open(doctor, false, NULL, &info, &error) : TIDINGS_E_NOMEM;
  doctor->plugin_works = !code;
  if (code) {
    doctor_find(
        doctor, SEVERITY_PROBLEM, "plugin",
        named
            ? "TIDINGS_PLUGIN names it; unset that variable, or set it to the path "
              "of a tidings.so."
            : "Install tidings again; tidings.so belongs beside this command or in its lib folder.",
        "%s cannot be used: %s (%s)", path ? path : "it", error.text, hostkit_error_name(code));
  } else if (strcmp(info.version, TIDINGS_VERSION) != 0) {
    doctor_find(doctor, SEVERITY_WARNING, "plugin", "Install both from one build.",
                "%s is version %s, this command is %s", path, info.version, TIDINGS_VERSION);
  } else {
    doctor_find(doctor, SEVERITY_OK, "plugin", NULL, "%s, version %s (%s)", path, info.version,
                info.build_id);
  }
  free(path);
}

static void examine_user(struct doctor *doctor) {
  struct tidings_error error = {.size = sizeof error};
  bool named = false;
  char *path = NULL;
  if (config_file_of_user(doctor->cli, &path, &named, &error)) {
    doctor_find(doctor, SEVERITY_PROBLEM, "configuration", "Keep one of them.", "%s", error.text);
    return;
  }
  if (!path || (!named && access(path, F_OK) && errno == ENOENT)) {
    doctor_find(doctor, SEVERITY_OK, "configuration", NULL,
                "the defaults are in force; %s does not exist", path ? path : "a file");
    free(path);
    return;
  }
  int32_t code = try_open(doctor, true, NULL, NULL, &error);
  if (code == TIDINGS_E_SCHEMA || code == TIDINGS_E_INVAL || code == TIDINGS_E_TOO_BIG ||
      code == TIDINGS_E_STORE)
    doctor_find(doctor, SEVERITY_PROBLEM, "configuration",
                "Fix it; 'tidings config schema' prints the keys and their values.", "%s",
                error.text);
  else if (!code) doctor_find(doctor, SEVERITY_OK, "configuration", NULL, "%s", path);
  free(path);
}

/* Examines only the project's file; the user's has been examined before. */
static void examine_project(struct doctor *doctor) {
  struct tidings_error error = {.size = sizeof error};
  char here[PATH_MAX], *path = NULL;
  int32_t code = project_find(getcwd(here, sizeof here) ? here : "", &path, &error);
  if (!code && path) code = try_open(doctor, false, path, NULL, &error);
  if (code)
    doctor_find(doctor, SEVERITY_PROBLEM, "project",
                "Fix it: until then sessions in this folder have the user's configuration.", "%s",
                error.text);
  else if (path) doctor_find(doctor, SEVERITY_OK, "project", NULL, "%s", path);
  free(path);
}

void doctor_config(struct doctor *doctor) {
  if (!doctor->plugin_works) return; /* only a plugin can check the configuration */
  examine_user(doctor);
  examine_project(doctor);
}
