/* SPDX-License-Identifier: MIT
 *
 * doctor/listen.c: examines the routes of `tidings listen` and their secrets, and whether a server
 * listens.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/doctor/doctor.h"
#include "command/json_value.h"
#include "command/listeners.h"
#include "command/paths.h"
#include "listen/routes.h"

/* Reads the routes, which also checks everything that they name. */
static void examine_routes(struct doctor *doctor, const char *file) {
  struct tidings_error error = {.size = sizeof error};
  struct routes *routes = NULL;
  if (routes_read(file, &routes, &error)) {
    doctor_find(doctor, SEVERITY_PROBLEM, "listen",
                "Correct it; 'tidings listen' does not start with it, and one that runs goes on "
                "with what it has read.",
                "%s", error.text);
    return;
  }
  for (size_t i = 0; i < routes->count; i++) {
    if (routes->routes[i].scheme == SIGNATURE_NONE)
      doctor_find(doctor, SEVERITY_WARNING, "listen", "Give it a secret_file.",
                  "anybody who reaches %s may send to it: it is unsigned",
                  routes->routes[i].path.ptr);
  }
  routes_drop(routes);
}

static void examine_listener(struct doctor *doctor, const json_t *listener, const char *file) {
  const char *own = json_value_text(listener, "file");
  doctor_find(doctor, SEVERITY_OK, "listen", NULL, "process %llu listens on %s",
              (unsigned long long)json_value_count(listener, "pid"),
              json_value_text(listener, "address"));
  if (own[0] == '/' && (!file || strcmp(own, file) != 0)) examine_routes(doctor, own);
}

void doctor_listen(struct doctor *doctor) {
  char *file = paths_in_home("XDG_CONFIG_HOME", ".config", "tidings/listen.json");
  json_t *listeners = listeners_list(doctor->cli);
  const json_t *listener = NULL;
  size_t i = 0;
  bool there = file && !(access(file, F_OK) && errno == ENOENT);
  if (there) examine_routes(doctor, file);
  if (there && !json_array_size(listeners))
    doctor_find(doctor, SEVERITY_NOTE, "listen",
                "Start it: tidings listen; or, where the package tidings-listen is installed: "
                "systemctl --user enable --now tidings-listen.socket",
                "there are routes in %s, and no 'tidings listen' runs on this store", file);
  json_array_foreach(listeners, i, listener) examine_listener(doctor, listener, file);
  json_decref(listeners);
  free(file);
}
