/* SPDX-License-Identifier: MIT
 *
 * open_crashes.c: crashes in open, after it has left files in its store folder.
 */
#include <signal.h>
#include <sys/stat.h>

#include "bad.h"

static int32_t open_crashing(OPEN_ARGUMENTS) {
  char path[4096];
  UNUSED_ARGUMENTS;
  int len = (int)options->store_dir.len;
  (void)snprintf(path, sizeof path, "%.*s/data", len, options->store_dir.ptr);
  mkdir(path, 0700);
  (void)snprintf(path, sizeof path, "%.*s/data/file", len, options->store_dir.ptr);
  FILE *file = fopen(path, "we");
  if (file) (void)fclose(file);
  (void)signal(SIGSEGV, SIG_DFL); /* otherwise a sanitizer would report this crash */
  (void)raise(SIGSEGV);
  return TIDINGS_OK;
}

EXPORT_ENTRY(open_crashing);
