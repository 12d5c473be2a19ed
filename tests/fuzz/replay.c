/* SPDX-License-Identifier: MIT
 *
 * tests/fuzz/replay.c: runs a fuzz target over the files of a folder: inputs from which fuzzing
 * started, and inputs that once broke it.
 */
#include <dirent.h>

#include "fuzz.h"

enum { MOST_BYTES = 1 << 20 };

static int replay(const char *folder, const char *name) {
  static uint8_t data[MOST_BYTES];
  char path[4096];
  int len = snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = len > 0 && (size_t)len < sizeof path ? fopen(path, "rb") : NULL;
  if (!file) {
    printf("not ok - %s cannot be opened\n", path);
    return 1;
  }
  size_t size = fread(data, 1, sizeof data, file);
  (void)fclose(file);
  /* The copy has exactly this size, so that a sanitizer sees a read past its end. */
  uint8_t *exact = malloc(size ? size : 1);
  if (!exact) return 1;
  for (size_t i = 0; i < size; i++) exact[i] = data[i];
  (void)LLVMFuzzerTestOneInput(exact, size);
  free(exact);
  return 0;
}

int main(int argc, char **argv) {
  DIR *folder = argc == 2 ? opendir(argv[1]) : NULL;
  size_t count = 0;
  int failed = 0;
  if (!folder) {
    printf("not ok - usage: replay FOLDER\n");
    return 2;
  }
  for (const struct dirent *entry; (entry = readdir(folder));) {
    if (entry->d_name[0] == '.') continue;
    failed |= replay(argv[1], entry->d_name);
    count++;
  }
  (void)closedir(folder);
  printf("%s 1 - %zu inputs replayed\n1..1\n", failed || !count ? "not ok" : "ok", count);
  return failed || !count;
}
