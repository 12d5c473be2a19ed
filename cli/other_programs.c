/* SPDX-License-Identifier: MIT
 *
 * other_programs.c: verbs that need a large library are programs of their own, so that `tidings`
 * and its hooks start fast. Such a verb becomes its program.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/top/top.h"
#include "cli/verbs.h"
#include "command/paths.h"
#include "listen/options.h"
#include "subscribe/options.h"

struct other_program {
  const char *name;     /* the name of the program and of Debian's package */
  const char *library;  /* the library that it needs */
  const char *packages; /* Debian's packages with the library */
  const char *sources;  /* Debian's packages for building it */
};

static const struct other_program server = {"tidings-listen", "libmicrohttpd.so.12",
                                            "libmicrohttpd12", "libmicrohttpd-dev"};
static const struct other_program client = {"tidings-subscribe", "libcurl.so.4", "libcurl4",
                                            "libcurl4-openssl-dev"};
static const struct other_program screen = {
    "tidings-top", "libncursesw.so.6",
    "libncursesw6, Alpine and Fedora in ncurses-libs, Arch in ncurses", "libncurses-dev"};

/* Says what to install, because the dynamic linker would only name the library. */
static int say_missing_library(const struct cli *cli, const struct other_program *other) {
  void *loaded = dlopen(other->library, RTLD_LAZY);
  if (loaded) dlclose(loaded);
  return loaded ? 0
                : cli_fail(cli, "%s is missing; Debian and Ubuntu have it in the package %s",
                           other->library, other->packages);
}

/* Does not return if the program can be started. Otherwise prints what is missing, and returns the
 * exit code. */
static int become(const struct cli *cli, const struct other_program *other) {
  char *path = paths_beside_program(other->name, other->name);
  if (!path) return cli_fail(cli, "out of memory");
  int code = access(path, X_OK) ? cli_fail(cli,
                                           "%s is not there; the package %s of Debian has it, and "
                                           "so has a build with %s",
                                           path, other->name, other->sources)
                                : say_missing_library(cli, other);
  if (!code) {
    execv(path, cli->argv);
    code = cli_fail(cli, "cannot start %s: %s", path, strerror(errno));
  }
  free(path);
  return code;
}

static int become_listen(struct cli *cli) {
  struct listen_options options;
  int code = 0;
  return listen_read_options(cli, &options, &code) ? become(cli, &server) : code;
}

static int become_subscribe(struct cli *cli) {
  struct subscribe_options options;
  int code = 0;
  return subscribe_read_options(cli, &options, &code) ? become(cli, &client) : code;
}

static int become_top(struct cli *cli) {
  int code = 0;
  return top_read_options(cli, &code) ? become(cli, &screen) : code;
}

const struct cli_verb verb_listen = LISTEN_VERB("listen", become_listen);
const struct cli_verb verb_subscribe = SUBSCRIBE_VERB("subscribe", become_subscribe);
const struct cli_verb verb_top = TOP_VERB("top", become_top);
