/* SPDX-License-Identifier: MIT
 *
 * agents/setup/program.c: chooses the path by which hooks name this program, so that it stays valid
 * after an upgrade: package managers have a folder for each version, and a link in PATH.
 */
#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agents/setup/mcp_yaml.h"
#include "agents/setup/setup.h"
#include "command/paths.h"

/* A path with "digit.digit" has a version: "/Cellar/tidings/1.2.3/", "/node/v22.3.1/". */
bool setup_is_versioned(const char *path) {
  for (const char *at = path; (at = strchr(at, '.')); at++) {
    if (at > path && isdigit((unsigned char)at[-1]) && isdigit((unsigned char)at[1])) return true;
  }
  return strncmp(path, "/nix/store/", 11) == 0 || strncmp(path, "/gnu/store/", 11) == 0;
}

static char *find_in_path(void) {
  const char *path = getenv("PATH");
  char *copy = path ? strdup(path) : NULL, *rest = NULL, *found = NULL;
  for (char *folder = copy ? strtok_r(copy, ":", &rest) : NULL; folder && !found;
       folder = strtok_r(NULL, ":", &rest)) {
    char *program = folder[0] == '/' ? paths_join(folder, "tidings") : NULL;
    if (program && access(program, X_OK) == 0) found = program;
    else free(program);
  }
  free(copy);
  return found;
}

char *setup_program(void) {
  char self[PATH_MAX], *in_path = find_in_path(), *program = NULL;
  ssize_t len = readlink("/proc/self/exe", self, sizeof self - 1);
  self[len > 0 ? len : 0] = '\0';
  if (in_path && !setup_is_versioned(in_path) && setup_same_file(in_path, self)) {
    program = in_path;
    in_path = NULL;
  } else if (len <= 0 || (in_path && setup_is_versioned(self))) program = strdup(SETUP_BY_PATH);
  else program = strdup(self);
  free(in_path);
  return program;
}

int setup_check_program(const struct cli *cli, const char *program, const char *what) {
  if (mcp_is_our_program(program)) return 0;
  return cli_fail(cli, "this program is %s, but %s needs one called 'tidings'; nothing was changed",
                  program, what);
}

bool setup_is_this(const char *program) {
  return strcmp(program, SETUP_BY_PATH) == 0 || setup_same_file(program, "/proc/self/exe");
}

bool setup_is_there(const char *program) {
  char *found = strcmp(program, SETUP_BY_PATH) == 0 ? find_in_path() : strdup(program);
  bool there = found && (found[0] != '/' || access(found, F_OK) == 0);
  free(found);
  return there;
}
