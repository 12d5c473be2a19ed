/* SPDX-License-Identifier: MIT
 *
 * top/top.h: what the verb `tidings top`, which prints the help, and the program tidings-top share.
 */
#ifndef TIDINGS_CLI_TOP_TOP_H
#define TIDINGS_CLI_TOP_TOP_H

#include "command/cli.h"

/* The verb; its name is NULL in the program itself. */
#define TOP_VERB(verb_name, function)                                                              \
  {                                                                                                \
    .name = (verb_name), .run = (function), .usage = "[OPTION]...",                                \
    .summary = "watch the sessions on a full screen, and act on what waits",                       \
    .help =                                                                                        \
        "Shows the sessions of the store with their owners, states, pending notifications and "    \
        "queues, and what waits for one of them. Follows what happens. The keys explain a "        \
        "message or notification, and edit, cancel, move and steer messages; ? lists them.\n\n"    \
        "The session of -s, or else the one that is meant in this folder, is chosen first. It "    \
        "needs a terminal, and the library ncurses: the program tidings-top does the work; "       \
        "Debian has it in a package of its own.",                                                  \
    .with = WITH_SESSION | WITH_STORE | WITH_CONFIG | ONLY_READS,                                  \
    .examples = (const struct cli_example[]) {                                                     \
      {"tidings top", "What do my agents have to read?"}, { NULL, NULL }                           \
    }                                                                                              \
  }

/* Reads the command line, which may only have options. Returns true; or false, with the exit code
 * in *ret_code. */
static inline bool top_read_options(struct cli *cli, int *ret_code) {
  for (int key; (key = cli_next(cli)) != CLI_END;) {
    if (key != CLI_STOP) continue;
    *ret_code = cli->exit_code;
    return false;
  }
  *ret_code = cli_take_words(cli, 0, 0, "");
  return !*ret_code;
}

#endif
