/* SPDX-License-Identifier: MIT
 *
 * demo/fleet_host.c: plays the host of one machine in `hostsim demo --fleet`.
 */
#include "demo/fleet.h"
#include "demo/host.h"
#include "host/process.h"

#include <stdlib.h>
#include <string.h>

/* Plays a machine that only pushes: a process opens the store as a producer, pushes and ends. */
static void push_from_machine_c(struct demo_host *host, const char *kind, const char *level,
                                const char *message) {
  screen_note(&host->screen, "machine C pushes %s", kind);
  if (demo_push_from_elsewhere(&host->folder, host->plugin, kind, level, message) == 0) return;
  fflush(stdout);
  fputs("hostsim: the demo's script: the push from another machine failed\n", stderr);
  exit(EXIT_FAILURE);
}

static void play_first(struct demo_host *host) {
  host_chat_request(host, "Deploy version 12 when its build has passed.");
  host_assistant(host, "I look at the build.\n→ shell: ci status");
  push_from_machine_c(host, "ci.failed", "error", "CI run 871 has failed: the linter.");
  host_tool_result(host, "shell", "Run 871 is running.", ENDING_SETTLED);
  host_assistant(host, "The linter failed; I fix that and push again.\n→ shell: git push");
  push_from_machine_c(host, "ci.passed", "info", "CI run 872 has passed.");
  push_from_machine_c(host, "deploy.waiting", "warning", "The deployment waits for an approval.");
  host_tool_result(host, "shell", "main -> main", ENDING_DIES_BEFORE_SETTLE);
}

static void play_second(struct demo_host *host) {
  static const char *const regions[] = {"Frankfurt", "Dublin", "Oregon", "Mumbai", "Sydney"};
  char message[80];
  host_chat_request(host, "It is approved.");
  host_assistant(host, "Then I deploy.\n→ shell: deploy --version 12");
  for (size_t i = 0; i < sizeof regions / sizeof *regions; i++) {
    (void)snprintf(message, sizeof message, "Version 12 runs in %s.", regions[i]);
    push_from_machine_c(host, "deploy.region", "info", message);
  }
  host_tool_result(host, "shell", "Deploying to 5 regions.", ENDING_DIES_BEFORE_WRITING);
}

static void play_third(struct demo_host *host) {
  push_from_machine_c(host, "deploy.finished", "info", "The deployment of version 12 is done.");
  host_chat_request(host, "Is it done?");
  host_assistant(host, "Yes: version 12 runs in all five regions.");
}

static int fleet_host_verb(struct cli *cli) {
  static void (*const parts[FLEET_LIVES])(struct demo_host *) = {play_first, play_second,
                                                                 play_third};
  uint64_t life = 0;
  if (cli->argc != 8 || cli_number(cli->argv[5], 1, FLEET_LIVES, &life) != 0)
    return cli_usage(cli, "internal; not for use by hand");
  process_become_child();
  struct demo_host host = {.plugin = cli->argv[4], .session = DEMO_SESSION, .wake_fd = -1};
  host.screen.color = strcmp(cli->argv[6], "color") == 0;
  host.screen.fast = strcmp(cli->argv[7], "fast") == 0;
  if (demo_folder_init(&host.folder, cli->argv[1]) != 0 ||
      demo_folder_share(&host.folder, cli->argv[2], cli->argv[3]) != 0)
    return cli_fail(cli, "out of memory");
  host_open(&host, life > 1);
  parts[life - 1](&host);
  host_close(&host);
  demo_folder_finish(&host.folder);
  return EXIT_SUCCESS;
}

const struct cli_verb verb_internal_fleet_host = {
    .name = "internal-fleet-host",
    .usage = "DIR STORE LEDGER PLUGIN LIFE color|plain fast|paced",
    .run = fleet_host_verb};
