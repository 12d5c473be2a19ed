/* SPDX-License-Identifier: MIT
 *
 * command/version.c: the verb `version`.
 */
#include <stdio.h>

#include "command/verbs.h"

int verb_version_run(struct cli *cli) {
  if (cli_next(cli) != CLI_END) return cli->exit_code;
  int code = cli_take_words(cli, 0, 0, "");
  if (code) return code;
  if (cli->json)
    printf("{\"version\": \"%s\", \"abi\": \"%d.%d\"}\n", cli->program->version, TIDINGS_ABI_MAJOR,
           TIDINGS_ABI_MINOR);
  else printf("%s %s\n", cli->program->name, cli->program->version);
  return 0;
}
