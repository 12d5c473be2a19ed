/* SPDX-License-Identifier: MIT
 *
 * agents/setup/version.c: which version of a host is installed.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "agents/setup/setup.h"
#include "common/spawn.h"

enum { PATIENCE_MS = 20000, MOST_SAID = 4096 };

/* "codex-cli 0.169.0", "2.1.329 (Claude Code)", "0.61.0" */
static char *version_in(const char *text) {
  for (const char *at = text; *at; at++) {
    size_t len = strspn(at, "0123456789.");
    if (isdigit((unsigned char)*at) && len > 2 && memchr(at, '.', len)) return strndup(at, len);
    if (len) at += len - 1;
  }
  return NULL;
}

int setup_version(const char *program, char **ret_version) {
  const char *const argv[] = {program, "--version", NULL};
  char said[MOST_SAID + 1];
  size_t len = 0;
  int status = 0;
  if (spawn_capture(argv, PATIENCE_MS, said, MOST_SAID, &len, &status)) return -1;
  said[len] = '\0';
  if (!len && WIFEXITED(status) && WEXITSTATUS(status) == 127) return -1;
  *ret_version = version_in(said);
  return 0;
}
