/* SPDX-License-Identifier: MIT
 *
 * open_crashes.c: crashes in open, after it has left files in its store folder.
 */
#include <signal.h>
#include <string.h>
#include <sys/stat.h>

#include "bad.h"

static int32_t open_crashing(OPEN_ARGUMENTS) {
  char path[4096];
  UNUSED_ARGUMENTS;
  if (options->store_dir.len && options->store_dir.len < sizeof path - 8) {
    snprintf(path, sizeof path, "%.*s/data", (int)options->store_dir.len, options->store_dir.ptr);
    mkdir(path, 0700);
    strcat(path, "/file");
    FILE *file = fopen(path, "w");
    if (file) fclose(file);
  }
  signal(SIGSEGV, SIG_DFL); /* a sanitizer would catch and report what is wanted here */
  raise(SIGSEGV);
  return TIDINGS_OK;
}

EXPORT_ENTRY(open_crashing);
