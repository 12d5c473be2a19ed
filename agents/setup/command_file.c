/* SPDX-License-Identifier: MIT
 *
 * agents/setup/command_file.c: the command of an agent that is woken by a scheduled task, as a file
 * among the commands that a person gives the agent.
 */
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agents/setup/setup.h"

int setup_command_file(const struct cli *cli, const struct host *host, bool wanted,
                       struct change *change) {
  char words[64];
  (void)snprintf(words, sizeof words, "(tidings setup %s)", host->name);
  change->has_ours = change->after != NULL;
  if (change->after && !strstr(change->after, words)) {
    if (!wanted) return 0;
    return cli_fail(cli, "%s: tidings did not write this file; move it away", change->path);
  }
  char *text = wanted ? strdup(host->scheduler->command_text) : NULL;
  if (wanted && !text) return cli_fail(cli, "out of memory");
  free(change->after);
  change->after = text;
  return 0;
}

int setup_command_file_write(const struct cli *cli, const struct change *change) {
  int code = change_write(cli, change);
  char *copy = !code && change->before && !change->after ? strdup(change->path) : NULL;
  if (copy) (void)rmdir(dirname(copy));
  free(copy);
  return code;
}

bool setup_command_file_is(const struct host *host, const char *text) {
  return text && strcmp(text, host->scheduler->command_text) == 0;
}
