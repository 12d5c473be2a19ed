/* SPDX-License-Identifier: MIT
 *
 * listen.c: `tidings listen`: becomes the program tidings-listen.
 */
#include "cli/other_program.h"
#include "cli/verbs.h"
#include "listen/options.h"

static const struct other_program server = {.name = "tidings-listen",
                                            .library = "libmicrohttpd.so.12",
                                            .packages = "libmicrohttpd12",
                                            .sources = "libmicrohttpd-dev"};

static int listen_verb_run(struct cli *cli) {
  struct listen_options options;
  int code = 0;
  return listen_read_options(cli, &options, &code) ? other_program_become(cli, &server) : code;
}

const struct cli_verb verb_listen = LISTEN_VERB("listen", listen_verb_run);
