/* SPDX-License-Identifier: MIT
 */
#include "cli/other_program.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/paths.h"

/* The dynamic linker would only name the library. */
static int say_missing_library(const struct cli *cli, const struct other_program *other) {
  void *loaded = dlopen(other->library, RTLD_LAZY);
  if (loaded) dlclose(loaded);
  return loaded ? 0
                : cli_fail(cli, "%s is missing; Debian and Ubuntu have it in the package %s",
                           other->library, other->packages);
}

int other_program_become(const struct cli *cli, const struct other_program *other) {
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
