/* SPDX-License-Identifier: MIT
 */
#include "mcp/resumed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agents/call/log.h"
#include "agents/call/owner.h"
#include "agents/setup/setup.h"
#include "agents/wait/apart.h"
#include "agents/wait/reload.h"
#include "agents/wait/window.h"
#include "command/paths.h"
#include "common/file.h"

enum { HOOK_BUDGET_MS = 500, MOST_VARIABLES = 1 << 20 };

/* Takes the agent's environment variables, which say where the store and the agent's own folder
 * are. The agent gives them to its hooks, but only some of them to its MCP servers. */
static void take_variables(uint32_t pid) {
  char path[64], *text = NULL;
  size_t len = 0;
  (void)snprintf(path, sizeof path, "/proc/%u/environ", pid);
  if (file_read_whole(path, MOST_VARIABLES, &text, &len)) return;
  for (char *name = text, *next = NULL; name < text + len; name = next) {
    char *value = strchr(name, '=');
    next = name + strlen(name) + 1;
    if (!value || value == name) continue;
    *value = '\0';
    (void)setenv(name, value + 1, 0);
  }
  free(text);
}

static char *read_text(const char *home, const char *name, char **ret_path) {
  size_t len = 0;
  char *text = NULL;
  *ret_path = home ? paths_join(home, name) : NULL;
  if (*ret_path && file_read_whole(*ret_path, SETUP_LARGEST_FILE, &text, &len)) return NULL;
  return text;
}

/* Does the agent run our hooks, and did the person want it to be woken? *ret_store: the store that
 * the hooks use; free it; NULL: the user's own. */
static bool has_waking_hooks(const struct host *host, char **ret_store) {
  size_t untrusted = 0;
  char *home = host_home(host), *hooks_path = NULL, *trust_path = NULL,
       *hooks = read_text(home, host->config_file, &hooks_path),
       *trusted = read_text(home, host->trust_file, &trust_path), *off = setup_switched_off(host);
  struct setup_look look = setup_look_at(host, hooks);
  bool there = look.program && look.state != SETUP_GONE && look.wakes && !off &&
               !setup_trust_look(host, hooks_path, hooks, trusted, &untrusted) && !untrusted;
  *ret_store = there && look.store ? strdup(look.store) : NULL;
  setup_look_finish(&look);
  free(off);
  free(trusted);
  free(trust_path);
  free(hooks);
  free(hooks_path);
  free(home);
  return there;
}

static void find_resumed(const struct cli *cli, const struct host *host, uint32_t daemon) {
  struct cli own = *cli;
  char *store = NULL;
  take_variables(daemon);
  hook_log_about(host->name, NULL, NULL);
  if (has_waking_hooks(host, &store)) {
    own.store = store;
    own.preset = host_preset(host);
    own.budget_ms = HOOK_BUDGET_MS;
    own.log = hook_log_plugin;
    hook_reload_find(&own, host, daemon);
  }
  free(store);
}

void mcp_resumed_watch(const struct cli *cli) {
  char why[OWNER_WHY_SIZE];
  for (size_t i = 0; i < host_count; i++) {
    uint32_t daemon = hosts[i]->session_at ? hook_owner(hosts[i], why) : 0;
    if (!daemon || !hook_window_is_of(hosts[i], daemon) || !hook_fork_apart()) continue;
    find_resumed(cli, hosts[i], daemon);
    _exit(EXIT_DONE);
  }
}
