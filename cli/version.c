/* SPDX-License-Identifier: MIT
 *
 * version.c: `tidings version`.
 */
#include <stdio.h>

#include "cli/verbs.h"

static int run(struct cli *cli) {
  if (cli_next(cli) != CLI_END) return cli->exit_code;
  int code = cli_take_words(cli, 0, 0, "");
  if (code) return code;
  if (cli->json)
    printf("{\"version\": \"%s\", \"abi\": \"%d.%d\"}\n", TIDINGS_VERSION, TIDINGS_ABI_MAJOR,
           TIDINGS_ABI_MINOR);
  else printf("tidings %s\n", TIDINGS_VERSION);
  return 0;
}

const struct cli_verb verb_version = {
    .name = "version",
    .usage = "[--json]",
    .summary = "print the version",
    .help = "Prints the version of this command. `tidings doctor` tells the plugin's too.",
    .with = WITH_JSON,
    .run = run,
    .examples =
        (const struct cli_example[]){{"tidings version", "Print the version."}, {NULL, NULL}},
};
