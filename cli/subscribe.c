/* SPDX-License-Identifier: MIT
 *
 * subscribe.c: `tidings subscribe`: becomes the program tidings-subscribe.
 */
#include "cli/other_program.h"
#include "cli/verbs.h"
#include "subscribe/options.h"

static const struct other_program client = {.name = "tidings-subscribe",
                                            .library = "libcurl.so.4",
                                            .packages = "libcurl4",
                                            .sources = "libcurl4-openssl-dev"};

static int subscribe_verb_run(struct cli *cli) {
  struct subscribe_options options;
  int code = 0;
  return subscribe_read_options(cli, &options, &code) ? other_program_become(cli, &client) : code;
}

const struct cli_verb verb_subscribe = SUBSCRIBE_VERB("subscribe", subscribe_verb_run);
