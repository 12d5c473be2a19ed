/* SPDX-License-Identifier: MIT
 *
 * doctor/installation.c: the plugin and the configuration: does the one load, and does it take the
 * other?
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/doctor/doctor.h"
#include "command/kit.h"
#include "common/folder.h"

/* On a temporary store. */
static int32_t try_open(const struct doctor *doctor, bool with_config,
                        struct hostkit_info *ret_info, struct tidings_error *error) {
  struct cli apart = *doctor->cli;
  struct hostkit *kit = NULL;
  char *scratch = folder_make_temporary(NULL, "tidings");
  if (!scratch)
    return kit_error(error, TIDINGS_E_STORE, "cannot make a temporary folder: %s", strerror(errno));
  apart.store = scratch;
  apart.no_config = !with_config;
  int32_t code = kit_open(&apart, TIDINGS_ROLE_PRODUCER, 0, &kit, error);
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
  int32_t code = path ? try_open(doctor, false, &info, &error) : TIDINGS_E_NOMEM;
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

void doctor_config(struct doctor *doctor) {
  struct tidings_error error = {.size = sizeof error};
  bool named = false;
  char *path = kit_config_path(doctor->cli, &named);
  if (!doctor->plugin_works) { /* nothing can be said without it */
    free(path);
    return;
  }
  if (!path || (!named && access(path, F_OK) && errno == ENOENT)) {
    doctor_find(doctor, SEVERITY_OK, "configuration", NULL,
                "the defaults are in force; %s does not exist", path ? path : "a file");
    free(path);
    return;
  }
  int32_t code = try_open(doctor, true, NULL, &error);
  if (code == TIDINGS_E_SCHEMA || code == TIDINGS_E_INVAL || code == TIDINGS_E_TOO_BIG ||
      code == TIDINGS_E_STORE)
    doctor_find(doctor, SEVERITY_PROBLEM, "configuration",
                "Fix it; 'tidings config schema' prints the keys and their values.", "%s",
                error.text);
  else if (!code) doctor_find(doctor, SEVERITY_OK, "configuration", NULL, "%s", path);
  free(path);
}
