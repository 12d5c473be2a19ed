/* SPDX-License-Identifier: MIT
 *
 * overview.c: `tidings` without a verb: prints what runs here, and suggests the next commands.
 */
#include <stdio.h>

#include "cli/sessions.h"
#include "cli/verbs.h"

static void print_commands(void) {
  static const struct cli_example commands[] = {
      {"tidings setup", "connect an agent"},
      {"tidings run -- make", "run a command; the agent is notified when it ends"},
      {"tidings push 'CI failed'", "push a notification"},
      {"tidings submit 'Now test it.'", "queue a message that starts a turn"},
      {"tidings pending", "what the agent has not received yet"},
      {"tidings top", "follow the sessions on a full screen"},
      {"tidings timeline -o t.html", "draw what happened, for a browser"},
      {"tidings doctor", "find out why something does not work"},
      {"tidings help", "all verbs"},
  };
  for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
    printf("  %-30s %s\n", commands[i].command, commands[i].what);
}

static int run_overview(struct cli *cli) {
  printf("tidings %s delivers notifications to an agent's model.\n\n", cli->program->version);
  sessions_overview(cli);
  putchar('\n');
  print_commands();
  return 0;
}

const struct cli_verb verb_overview = {.name = NULL,
                                       .usage = "VERB [OPTION]...",
                                       .with = WITH_STORE | ONLY_READS,
                                       .run = run_overview};
