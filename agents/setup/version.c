/* SPDX-License-Identifier: MIT
 *
 * agents/setup/version.c: finds the installed version of a host. npm's packages name it in a file,
 * others in the path of the program. The agent is not started, because some agents write into their
 * home even if they only print their version.
 */
#include <ctype.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agents/setup/setup.h"
#include "command/json_value.h"
#include "command/paths.h"
#include "common/spawn.h"

enum { PATIENCE_MS = 20000, MOST_SAID = 4096, MOST_FOLDERS = 4 };

/* Finds the version in "codex-cli 0.169.0", "2.1.329 (Claude Code)", "0.61.0" or "GitHub Copilot
 * CLI 1.0.102." */
static char *version_in(const char *text) {
  for (const char *at = text; *at; at++) {
    size_t len = strspn(at, "0123456789.");
    size_t end =
        len && at[len - 1] == '.' ? len - 1 : len; /* without the full stop of a sentence */
    if (isdigit((unsigned char)*at) && end > 2 && memchr(at, '.', end)) return strndup(at, end);
    if (len) at += len - 1;
  }
  return NULL;
}

static int run_for_version(const char *const argv[], char **ret_version) {
  char said[MOST_SAID + 1];
  size_t len = 0;
  int status = 0;
  if (spawn_capture(argv, PATIENCE_MS, said, MOST_SAID, &len, &status)) return -1;
  said[len] = '\0';
  if (!len && WIFEXITED(status) && WEXITSTATUS(status) == 127) return -1;
  *ret_version = version_in(said);
  return 0;
}

int setup_version(const char *program, char **ret_version) {
  const char *const argv[] = {program, "--version", NULL};
  return run_for_version(argv, ret_version);
}

/* -- from files -------------------------------------------------------------------------------- */

/* Returns the path at which the shell finds the program, with all links resolved. NULL: it finds
 * none. */
static char *find_program(const char *name) {
  const char *path = getenv("PATH");
  for (const char *at = path; at && *at;) {
    size_t len = strcspn(at, ":");
    char *folder = strndup(at, len), *file = folder ? paths_join(folder, name) : NULL,
         *real = file && access(file, X_OK) == 0 ? realpath(file, NULL) : NULL;
    free(folder);
    free(file);
    if (real) return real;
    at += len + (at[len] == ':');
  }
  return NULL;
}

/* Does the program belong to the package? */
static bool is_package_of(const json_t *package, const char *program) {
  const json_t *programs = json_object_get(package, "bin");
  const char *name = json_value_text(package, "name"), *base = strrchr(name, '/');
  if (json_is_object(programs)) return json_object_get(programs, program) != NULL;
  return strncmp(base ? base + 1 : name, program, strlen(program)) == 0;
}

/* Reads the version from the nearest package.json above the file. NULL: none has it. */
static char *version_of_package(const char *file, const char *program) {
  char *folder = strdup(file), *version = NULL;
  for (int i = 0; folder && !version && i < MOST_FOLDERS; i++) {
    char *slash = strrchr(folder, '/');
    if (!slash || slash == folder) break;
    *slash = '\0';
    char *path = paths_join(folder, "package.json");
    json_t *package = path ? json_load_file(path, 0, NULL) : NULL;
    if (is_package_of(package, program)) version = version_in(json_value_text(package, "version"));
    json_decref(package);
    free(path);
  }
  free(folder);
  return version;
}

/* Finds the version in "/opt/codex/0.169.0/bin/codex" or ".../claude/versions/2.1.329". */
static char *version_of_path(const char *file) {
  for (const char *at = file + strlen(file); at > file;) {
    const char *end = at;
    while (at > file && at[-1] != '/') at--;
    size_t len = (size_t)(end - at);
    const char *dot = memchr(at, '.', len);
    if (len && isdigit((unsigned char)*at) && strspn(at, "0123456789.") >= len && dot &&
        memchr(dot + 1, '.', len - (size_t)(dot + 1 - at)))
      return strndup(at, len);
    if (at > file) at--;
  }
  return NULL;
}

int setup_version_look(const struct host *host, char **ret_version) {
  char *file = find_program(host->program);
  if (!file) return -1;
  char *version = version_of_package(file, host->program);
  *ret_version = version ? version : version_of_path(file);
  free(file);
  return 0;
}
