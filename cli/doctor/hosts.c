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
  char *path; /* the path of its configuration; NULL: not known */
  char *text; /* that file's text; NULL: none */
  bool installed;
  char *version; /* NULL: not known */
  struct setup_look look;
  struct setup_package package; /* what the agent's own command has installed */
};

static void gather_facts(const struct host *host, struct examined *ret) {
  struct examined examined = {.host = host};
  char *home = host_home(host);
  size_t len = 0;
  if (home) examined.path = paths_join(home, host->config_file);
  if (examined.path && file_read_whole(examined.path, LARGEST_FILE, &examined.text, &len))
    examined.text = NULL;
  examined.look = host->kind == HOST_NODE ? setup_module_look(host, examined.text)
                                          : setup_look_at(host, examined.text);
  examined.installed = setup_version_look(host, &examined.version) == 0;
  examined.package = setup_package_look(host);
  free(home);
  *ret = examined;
}

/* Reads a file of the agent's folder. Free it; NULL: there is none, or it cannot be read. */
static char *text_of(const struct host *host, const char *name) {
  char *home = host_home(host), *path = home ? paths_join(home, name) : NULL, *text = NULL;
  size_t len = 0;
  if (!path || file_read_whole(path, LARGEST_FILE, &text, &len)) text = NULL;
  free(path);
  free(home);
  return text;
}

/* Reports the MCP server by which a session is woken that a person resumes. */
static void report_server(struct doctor *doctor, const struct examined *examined,
                          const char *configuration) {
  const struct host *host = examined->host;
  char *program = NULL, remedy[128];
  if (!host->session_at || !examined->look.wakes ||
      setup_server_look(configuration ? configuration : "", &program))
    return;
  (void)snprintf(remedy, sizeof remedy, "Run 'tidings setup %s'.", host->name);
  if (!program)
    doctor_find(doctor, SEVERITY_NOTE, host->title, remedy,
                "%s lists no MCP server of tidings: a session that it has unloaded is woken after "
                "its first prompt only",
                host->trust_file);
  else if (!setup_is_there(program))
    doctor_find(doctor, SEVERITY_WARNING, host->title, remedy,
                "the MCP server of tidings that %s lists has disappeared: %s", host->trust_file,
                program);
  free(program);
}

/* Reports the command by which an idle session is woken. */
static void report_command(struct doctor *doctor, const struct examined *examined) {
  const struct host *host = examined->host;
  if (!host->scheduler || !examined->look.wakes) return;
  char *text = text_of(host, host->scheduler->command_file), remedy[128];
  (void)snprintf(remedy, sizeof remedy, "Run 'tidings setup %s'.", host->name);
  if (!setup_command_file_is(host, text))
    doctor_find(doctor, SEVERITY_NOTE, host->title, remedy,
                "%s is not as setup writes it: a session that idles is not woken",
                host->scheduler->command_file);
  free(text);
}

static void report_trust(struct doctor *doctor, const struct examined *examined) {
  size_t untrusted = 0;
  const struct host *host = examined->host;
  if (!host->trusts_hashes || !examined->text) return;
  char *trusted = text_of(host, host->trust_file);
  int failed = setup_trust_look(host, examined->path, examined->text, trusted, &untrusted);
  report_server(doctor, examined, trusted);
  free(trusted);
  char *remedy = NULL;
  if (asprintf(&remedy, "Run 'tidings setup %s', or review the hooks in it with /hooks.",
               host->name) < 0)
    remedy = NULL;
  if (failed)
    doctor_find(doctor, SEVERITY_WARNING, host->title, "Review the hooks in it with /hooks.",
                "%s cannot be read, so it is not known whether it trusts the hooks of tidings",
                host->trust_file);
  else if (untrusted)
    doctor_find(doctor, SEVERITY_PROBLEM, host->title, remedy,
                "it does not trust %zu of the hooks of tidings, and silently skips them",
                untrusted);
  else
    doctor_find(doctor, SEVERITY_OK, host->title, NULL, "%s trusts the hooks of tidings",
                host->trust_file);
  free(remedy);
}

/* Reports the package. Its hooks need `tidings` in PATH; a module brings the program with it. */
static void report_package(struct doctor *doctor, const struct examined *examined) {
  const struct host *host = examined->host;
  const struct setup_package *package = &examined->package;
  char *removal = setup_package_removal(host, package), *remedy = NULL;
  if (examined->look.state != SETUP_NONE && examined->look.state != SETUP_UNREADABLE) {
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
    doctor_room(doctor, host);
  }
  free(removal);
  free(remedy);
}

/* For an agent whose store is in a database: reports whether it can be reached, and whether the
 * commands that people type use it too. */
static void report_store(struct doctor *doctor, const struct examined *examined) {
  struct tidings_error error = {.size = sizeof error};
  struct cli other = *doctor->cli;
  struct hostkit *kit = NULL;
  const char *title = examined->host->title;
  const char *store = examined->look.store;
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
  free(shown);
  free(ours);
}

/* Warns about hooks that are set up but turned off. */
static void report_switch(struct doctor *doctor, const struct host *host) {
  char *off = setup_switched_off(host);
  if (off)
    doctor_find(doctor, SEVERITY_PROBLEM, host->title,
                "Take that setting out; then start the agent again.",
                "its hooks are switched off, so its sessions receive nothing: %s", off);
  free(off);
}

/* Returns whether there was anything to say about the agent. */
static bool examine(struct doctor *doctor, const struct host *host) {
  struct examined examined;
  gather_facts(host, &examined);
  bool here = examined.installed || examined.look.state != SETUP_NONE || examined.package.file;
  if (here && (examined.look.state != SETUP_NONE || !examined.package.file))
    doctor_setup(doctor, host, examined.path, &examined.look);
  if (examined.look.state != SETUP_NONE || examined.package.file) report_switch(doctor, host);
  if (examined.package.file) report_package(doctor, &examined);
  if (here) report_store(doctor, &examined);
  if (here && !examined.installed)
    doctor_find(doctor, SEVERITY_WARNING, host->title,
                "Install it, or undo the setup with --remove.", "%s is not in PATH", host->program);
  if (here && !host->tested)
    doctor_find(doctor, SEVERITY_NOTE, host->title, NULL,
                "it is not among the agents that are tested");
  else if (examined.version && strcmp(examined.version, host->tested) != 0)
    doctor_find(doctor, SEVERITY_NOTE, host->title,
                "If it receives no notifications, install the tested version.",
                "its version is %s; the tested version is %s", examined.version, host->tested);
  if (examined.installed && !examined.version && host->tested)
    doctor_find(doctor, SEVERITY_NOTE, host->title, NULL,
                "its files do not say its version; the tested version is %s", host->tested);
  if (examined.installed && examined.look.program) report_trust(doctor, &examined);
  if (examined.look.program) report_command(doctor, &examined);
  free(examined.path);
  free(examined.text);
  free(examined.version);
  setup_look_finish(&examined.look);
  setup_package_finish(&examined.package);
  return here;
}

void doctor_hosts(struct doctor *doctor) {
  size_t here = 0;
  for (size_t i = 0; i < host_count; i++)
    here += hosts[i]->kind != HOST_BORROWS && examine(doctor, hosts[i]);
  if (!here)
    doctor_find(doctor, SEVERITY_NOTE, "agents",
                "Install one; 'tidings help setup' lists the supported agents.",
                "no supported agent is in PATH or set up");
}
