/* SPDX-License-Identifier: MIT
 *
 * listen/options.h: the options of `tidings listen`, which prints the help, and of the program
 * tidings-listen, which uses them.
 */
#ifndef LISTEN_OPTIONS_H
#define LISTEN_OPTIONS_H

#include "command/cli.h"

struct listen_options {
  const char *file, *bind, *unix_path, *recipe; /* as given; NULL: not given */
  bool bind_anywhere;
};

extern const struct cli_option listen_option_rows[];
extern const struct cli_example listen_examples[];

/* The verb; its name is NULL in the program itself. */
#define LISTEN_VERB(verb_name, function)                                                           \
  {                                                                                                \
    .name = (verb_name), .run = (function), .usage = "[OPTION]...  or  --try RECIPE FILE",         \
    .summary = "receive webhooks, and make notifications of them",                                 \
    .help =                                                                                        \
        "Listens for HTTP requests on a loopback address or a Unix socket. Each route of the "     \
        "configuration says by which recipe a request becomes a notification, where that goes, "   \
        "and in which file the secret is that signs the requests. A request is answered with 200 " \
        "only after its notification is stored; a repeated one is stored once.\n\n"                \
        "It has no TLS: put a proxy or a tunnel before it. SIGHUP reads the configuration again; " \
        "SIGTERM finishes the requests that have begun, for at most 10 seconds. GET /healthz "     \
        "answers 200 if the store can be written.\n\n"                                             \
        "docs/reach.md describes routes and recipes. The program tidings-listen does the work; "   \
        "Debian has it in a package of its own.",                                                  \
    .with = WITH_STORE | WITH_CONFIG, .options = listen_option_rows, .completion = COMPLETE_FILE,  \
    .examples = listen_examples                                                                    \
  }

/* Reads and checks the command line. Prints errors. Returns true; or false, with the exit code in
 * *ret_code. */
bool listen_read_options(struct cli *cli, struct listen_options *ret_options, int *ret_code);

#endif
