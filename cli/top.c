/* SPDX-License-Identifier: MIT
 *
 * top.c: `tidings top`: becomes the program tidings-top.
 */
#include "cli/top/top.h"

#include "cli/other_program.h"
#include "cli/verbs.h"

static const struct other_program screen = {.name = "tidings-top",
                                            .library = "libncursesw.so.6",
                                            .packages = "libncursesw6, Alpine and Fedora "
                                                        "in ncurses-libs, Arch in ncurses",
                                            .sources = "libncurses-dev"};

static int top_verb_run(struct cli *cli) {
  int code = 0;
  return top_read_options(cli, &code) ? other_program_become(cli, &screen) : code;
}

const struct cli_verb verb_top = TOP_VERB("top", top_verb_run);
