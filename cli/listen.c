/* SPDX-License-Identifier: MIT
 *
 * listen.c: `tidings listen`: starts the program tidings-listen in its own place.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/verbs.h"
#include "command/paths.h"
#include "listen/options.h"

static const char program_name[] = "tidings-listen", library[] = "libmicrohttpd.so.12";

/* The dynamic linker would only name the library. */
static int say_missing_library(const struct cli *cli) {
  void *loaded = dlopen(library, RTLD_LAZY);
  if (loaded) dlclose(loaded);
  return loaded ? 0
                : cli_fail(cli,
                           "%s is missing; Debian and Ubuntu have it in the package "
                           "libmicrohttpd12",
                           library);
}

static int start_program(const struct cli *cli) {
  char *path = paths_beside_program(program_name, program_name);
  if (!path) return cli_fail(cli, "out of memory");
  int code = access(path, X_OK) ? cli_fail(cli,
                                           "%s is not there; the package tidings-listen of Debian "
                                           "has it, and so has a build with libmicrohttpd-dev",
                                           path)
                                : say_missing_library(cli);
  if (!code) {
    execv(path, cli->argv);
    code = cli_fail(cli, "cannot start %s: %s", path, strerror(errno));
  }
  free(path);
  return code;
}

static int listen_verb_run(struct cli *cli) {
  struct listen_options options;
  int code = 0;
  return listen_read_options(cli, &options, &code) ? start_program(cli) : code;
}

const struct cli_verb verb_listen = LISTEN_VERB("listen", listen_verb_run);
