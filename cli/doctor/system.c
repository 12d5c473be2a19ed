/* SPDX-License-Identifier: MIT
 *
 * doctor/system.c: checks the parts of the system that the verbs need.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/doctor/doctor.h"
#include "command/paths.h"
#include "common/file.h"

enum { FEW_WATCHES = 65536 };

bool doctor_is_in_path(const char *program) {
  const char *path = getenv("PATH");
  char *copy = strdup(path ? path : "/usr/local/bin:/usr/bin:/bin"), *at = NULL;
  bool found = false;
  for (char *folder = copy ? strtok_r(copy, ":", &at) : NULL; folder && !found;
       folder = strtok_r(NULL, ":", &at)) {
    char *whole = paths_join(folder, program);
    found = whole && access(whole, X_OK) == 0;
    free(whole);
  }
  free(copy);
  return found;
}

void doctor_system(struct doctor *doctor) {
  char *text = NULL;
  size_t len = 0;
  unsigned long watches = 0;
  if (!file_read_whole("/proc/sys/fs/inotify/max_user_watches", 64, &text, &len))
    watches = strtoul(text, NULL, 10);
  free(text);
  if (watches && watches < FEW_WATCHES)
    doctor_find(doctor, SEVERITY_NOTE, "watch",
                "For large trees, as root: sysctl fs.inotify.max_user_watches=524288",
                "at most %lu folders can be watched (fs.inotify.max_user_watches)", watches);
  if (!doctor_is_in_path("git"))
    doctor_find(doctor, SEVERITY_NOTE, "watch", "Install git.",
                "git is not in PATH, so 'tidings watch' does not leave out files "
                "that git ignores");
}
