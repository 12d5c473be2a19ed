/* SPDX-License-Identifier: MIT
 *
 * doctor/hosts.c: which agents are installed, which of them call tidings, and whether they trust
 * its hooks.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agents/setup/setup.h"
#include "cli/doctor/doctor.h"
#include "command/kit.h"
#include "command/paths.h"
#include "common/file.h"
#include "common/store_url.h"

enum { LARGEST_FILE = 16 << 20 };

struct examined {
  const struct host *host;
  char *path; /* of its configuration; NULL: not known where */
  char *text; /* NULL: there is none */
  bool installed;
  char *version; /* NULL: it says none */
  enum setup_state state;
  char *problem;                /* SETUP_UNREADABLE: why, with the line */
  char *named;                  /* SETUP_GONE: what it runs or loads */
  struct setup_package package; /* by the agent's own command */
};

/* For a host that loads a module: the file that setup puts there names it. */
static enum setup_state module_state(const struct examined *examined) {
  char *folder = examined->text ? setup_module_folder() : NULL, *module = NULL;
  if (!folder || asprintf(&module, "\"%s/%s.ts\"", folder, examined->host->name) < 0) module = NULL;
  enum setup_state state = !examined->text                            ? SETUP_NONE
                           : module && strstr(examined->text, module) ? SETUP_DONE
                                                                      : SETUP_OTHER;
  free(module);
  free(folder);
  return state;
}

/* Of another installation: is it still there? */
static void find_named_program(struct examined *examined) {
  if (examined->state != SETUP_OTHER) return;
  examined->named = examined->host->kind == HOST_NODE
                        ? setup_named_module(examined->text)
                        : setup_named_program(examined->host, examined->text);
  if (examined->named && examined->named[0] == '/' && access(examined->named, F_OK))
    examined->state = SETUP_GONE;
}

static void gather_facts(const struct host *host, struct examined *ret) {
  struct examined examined = {.host = host};
  char *home = host_home(host), *command = setup_command();
  size_t len = 0;
  if (home) examined.path = paths_join(home, host->config_file);
  if (examined.path && file_read_whole(examined.path, LARGEST_FILE, &examined.text, &len))
    examined.text = NULL;
  if (host->kind == HOST_NODE) examined.state = module_state(&examined);
  else if (command)
    examined.state = setup_hooks_state(host, command, examined.text, &examined.problem);
  find_named_program(&examined);
  examined.installed = setup_version_look(host, &examined.version) == 0;
  examined.package = setup_package_look(host);
  free(home);
  free(command);
  *ret = examined;
}

/* Free it; NULL: there is none, or it cannot be read. */
static char *text_of(const struct host *host, const char *name) {
  char *home = host_home(host), *path = home ? paths_join(home, name) : NULL, *text = NULL;
  size_t len = 0;
  if (!path || file_read_whole(path, LARGEST_FILE, &text, &len)) text = NULL;
  free(path);
  free(home);
  return text;
}

static void report_trust(struct doctor *doctor, const struct examined *examined) {
  size_t untrusted = 0;
  const struct host *host = examined->host;
  if (!host->trusts_hashes || !examined->text) return;
  char *trusted = text_of(host, host->trust_file);
  int failed =
      setup_trust_look(doctor->cli, host, examined->path, examined->text, trusted, &untrusted);
  free(trusted);
  if (failed)
    doctor_find(doctor, SEVERITY_WARNING, host->title, "Review the hooks in Codex with /hooks.",
                "%s cannot be read, so it is not known whether it trusts the hooks of tidings",
                host->trust_file);
  else if (untrusted)
    doctor_find(doctor, SEVERITY_PROBLEM, host->title,
                "Run 'tidings setup codex', or review the hooks in Codex with /hooks.",
                "it does not trust %zu of the hooks of tidings, and silently skips them",
                untrusted);
  else
    doctor_find(doctor, SEVERITY_OK, host->title, NULL, "%s trusts the hooks of tidings",
                host->trust_file);
}

static void report_room(struct doctor *doctor, const struct host *host) {
  if (host->context_room)
    doctor_find(doctor, SEVERITY_OK, host->title, NULL,
                "one answer has at most %zu bytes, a reason to go on %zu: %s", host->context_room,
                host->room, host->room_measured);
  else
    doctor_find(doctor, SEVERITY_OK, host->title, NULL, "one answer has at most %zu bytes: %s",
                host->room, host->room_measured);
}

/* Its hooks begin with `command -v tidings`; a module brings the program with it. */
static void report_package(struct doctor *doctor, const struct examined *examined) {
  const struct host *host = examined->host;
  const struct setup_package *package = &examined->package;
  char *removal = setup_package_removal(host, package), *remedy = NULL;
  if (examined->state != SETUP_NONE && examined->state != SETUP_UNREADABLE) {
    if (asprintf(&remedy, "Run 'tidings setup %s --remove', or remove the other %s.", host->name,
                 removal ? removal : "") < 0)
      remedy = NULL;
    doctor_find(doctor, SEVERITY_PROBLEM, host->title, remedy,
                "tidings is in it twice, and each hook runs twice: set up in %s, and by the "
                "agent's own command, %s in %s",
                examined->path, package->name, package->file);
  } else if (host->kind == HOST_HOOKS && !doctor_is_in_path("tidings")) {
    doctor_find(doctor, SEVERITY_PROBLEM, host->title,
                "Install tidings, or add its folder to PATH.",
                "its %s, in %s, starts the tidings that is in PATH, and there is none",
                package->name, package->file);
  } else {
    doctor_find(doctor, SEVERITY_OK, host->title, NULL, "set up by its own command: %s in %s",
                package->name, package->file);
    report_room(doctor, host);
  }
  free(removal);
  free(remedy);
}

static void report_state(struct doctor *doctor, const struct examined *examined) {
  const struct host *host = examined->host;
  char remedy[128];
  snprintf(remedy, sizeof remedy, "Run 'tidings setup %s'.", host->name);
  switch (examined->state) {
  case SETUP_NONE:
    if (examined->package.file) return;
    doctor_find(doctor, SEVERITY_NOTE, host->title, remedy, "it is not set up");
    return;
  case SETUP_OTHER:
    doctor_find(doctor, SEVERITY_WARNING, host->title, remedy,
                "%s is set up for another installation of tidings, or only partly", examined->path);
    return;
  case SETUP_GONE:
    doctor_find(doctor, SEVERITY_PROBLEM, host->title, remedy,
                "the installation that %s names has disappeared: %s; its sessions receive nothing",
                examined->path, examined->named);
    return;
  case SETUP_UNREADABLE:
    snprintf(remedy, sizeof remedy, "Fix the file; then run 'tidings setup %s'.", host->name);
    doctor_find(doctor, SEVERITY_WARNING, host->title, remedy, "%s cannot be read: %s",
                examined->path, examined->problem ? examined->problem : "out of memory");
    return;
  case SETUP_DONE:
    doctor_find(doctor, SEVERITY_OK, host->title, NULL, "set up in %s", examined->path);
    report_room(doctor, host);
    return;
  }
}

/* An agent whose store is in a database: can that be reached, and do the commands that people type
 * look at the same? */
static void report_store(struct doctor *doctor, const struct examined *examined) {
  struct tidings_error error = {.size = sizeof error};
  struct cli other = *doctor->cli;
  struct hostkit *kit = NULL;
  const char *title = examined->host->title;
  char *store = examined->text ? setup_named_store(examined->host, examined->text) : NULL;
  char *shown = store ? store_url_shown(store) : NULL, *ours = kit_store_path(doctor->cli);
  if (!shown || !doctor->plugin_works) goto out;
  other.store = store;
  int32_t code = kit_open(&other, TIDINGS_ROLE_PRODUCER, 0, &kit, &error);
  kit_close(kit);
  if (code)
    doctor_find(doctor, SEVERITY_PROBLEM, title,
                "Until it can be reached, the agent's messages are sent unchanged, and nothing is "
                "lost.",
                "its store %s cannot be used: %s (%s)", shown, error.text,
                hostkit_error_name(code));
  else
    doctor_find(doctor, SEVERITY_OK, title, NULL, "its store is %s, which can be reached", shown);
  if (!ours || strcmp(ours, store) != 0)
    doctor_find(doctor, SEVERITY_NOTE, title,
                "Set TIDINGS_STORE to the agent's store, or name it with -S.",
                "commands that you type use another store: %s", ours ? ours : "none");
out:
  free(store);
  free(shown);
  free(ours);
}

/* Returns whether there is anything to say of it. */
static bool examine(struct doctor *doctor, const struct host *host) {
  struct examined examined;
  gather_facts(host, &examined);
  bool here = examined.installed || examined.state != SETUP_NONE || examined.package.file;
  if (here) report_state(doctor, &examined);
  if (examined.package.file) report_package(doctor, &examined);
  if (here) report_store(doctor, &examined);
  if (here && !examined.installed)
    doctor_find(doctor, SEVERITY_WARNING, host->title,
                "Install it, or undo the setup with --remove.", "%s is not in PATH", host->program);
  if (examined.version && strcmp(examined.version, host->tested) != 0)
    doctor_find(doctor, SEVERITY_NOTE, host->title,
                "If it receives no notifications, install the tested version.",
                "its version is %s; the tested version is %s", examined.version, host->tested);
  if (examined.installed && !examined.version)
    doctor_find(doctor, SEVERITY_NOTE, host->title, NULL,
                "its files do not say its version; the tested version is %s", host->tested);
  if (examined.installed && (examined.state == SETUP_OTHER || examined.state == SETUP_DONE))
    report_trust(doctor, &examined);
  free(examined.path);
  free(examined.text);
  free(examined.version);
  free(examined.problem);
  free(examined.named);
  setup_package_finish(&examined.package);
  return here;
}

void doctor_hosts(struct doctor *doctor) {
  size_t here = 0;
  for (size_t i = 0; i < host_count; i++)
    here += hosts[i].kind != HOST_BORROWS && examine(doctor, &hosts[i]);
  if (!here)
    doctor_find(doctor, SEVERITY_NOTE, "agents",
                "Install one; 'tidings help setup' lists the supported agents.",
                "no supported agent is in PATH or set up");
}
