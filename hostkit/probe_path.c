/* SPDX-License-Identifier: MIT
 *
 * probe_path.c: see the header. HOSTKIT_PROBE_* are set by CMakeLists.txt.
 */
#include "probe_path.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "errors.h"
#include "text.h"

#define PROBE_NAME "tidings-hostkit-probe"

/* The folder of the library or program that contains hostkit; NULL: unknown, or out of memory. */
static char *own_folder(void) {
  static const char anchor = 0;
  Dl_info info;
  /* For the main program the loader has only argv[0], which need not be a path. */
  bool has_path = dladdr(&anchor, &info) && info.dli_fname && strchr(info.dli_fname, '/');
  char *file = realpath(has_path ? info.dli_fname : "/proc/self/exe", NULL);
  if (!file) return NULL;
  char *slash = strrchr(file, '/');
  if (slash) *slash = '\0';
  return file;
}

static int32_t give(char *path, char **ret_path, struct tidings_error *error) {
  if (!path)
    return hk_error(error, TIDINGS_E_NOMEM, "out of memory while looking for the probe program");
  *ret_path = path;
  return TIDINGS_OK;
}

static int32_t not_found(const char *path, const char *said_by, struct tidings_error *error) {
  return hk_error(error, TIDINGS_E_NOT_FOUND, "cannot run the probe program %s (%s): %s", path,
                  said_by, strerror(errno));
}

int32_t hk_probe_path(const char *given, char **ret_path, struct tidings_error *error) {
  const char *said_by = "given as probe_path";
  if (!given) {
    given = getenv("TIDINGS_HOSTKIT_PROBE");
    said_by = "named by TIDINGS_HOSTKIT_PROBE";
  }
  if (given && given[0]) {
    if (access(given, X_OK)) return not_found(given, said_by, error);
    return give(hk_copy_text(given, strlen(given)), ret_path, error);
  }

  static const char *const seen_from_here[] = {"", "/" HOSTKIT_PROBE_FROM_LIBRARY,
                                               "/" HOSTKIT_PROBE_FROM_PROGRAM};
  char *folder = own_folder();
  char *path = NULL;
  int32_t code = TIDINGS_OK;
  for (size_t i = 0; folder && i < sizeof seen_from_here / sizeof seen_from_here[0]; i++) {
    path = hk_format("%s%s/%s", folder, seen_from_here[i], PROBE_NAME);
    if (!path || access(path, X_OK) == 0) goto out;
    free(path);
  }
  path = hk_format("%s/%s", HOSTKIT_PROBE_INSTALLED, PROBE_NAME);
out:
  free(folder);
  if (path && access(path, X_OK)) {
    code = hk_error(
        error, TIDINGS_E_NOT_FOUND,
        "cannot run the probe program %s: %s; name it in TIDINGS_HOSTKIT_PROBE or in probe_path",
        path, strerror(errno));
    free(path);
    return code;
  }
  return give(path, ret_path, error);
}
