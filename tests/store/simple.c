/* SPDX-License-Identifier: MIT
 */
#include "simple.h"

#include <ftw.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

extern const struct tidings_entry tidings_entry;

char *simple_folder(void) {
  const char *place = getenv("TMPDIR");
  char *path = NULL;
  SIMPLE_CHECK(asprintf(&path, "%s/tidings-store-XXXXXX", place && *place ? place : "/tmp") > 0);
  SIMPLE_CHECK(mkdtemp(path) != NULL);
  return path;
}

static int remove_entry(const char *path, const struct stat *entry, int kind, struct FTW *walk) {
  (void)entry;
  (void)kind;
  (void)walk;
  return remove(path);
}

void simple_remove(char *folder) {
  (void)nftw(folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
  free(folder);
}

static void no_log(void *context, uint32_t severity, const struct tidings_span *message) {
  (void)context;
  (void)severity;
  (void)message;
}

static int64_t now_ms(void *context) {
  (void)context;
  return 1700000000000;
}

static uint64_t mono_ns(void *context) {
  struct timespec now;
  (void)context;
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static int32_t fill_random(void *context, void *buffer, size_t len) {
  (void)context;
  memset(buffer, 7, len);
  return 0;
}

struct tidings_plugin *simple_open(const char *folder, uint32_t role) {
  static const struct tidings_host host = {.size = sizeof host,
                                           .log = no_log,
                                           .now_ms = now_ms,
                                           .mono_ns = mono_ns,
                                           .random = fill_random};
  struct tidings_error error = {.size = sizeof error};
  struct tidings_plugin *plugin = NULL;
  char path[512];
  int len = snprintf(path, sizeof path, "%s/store", folder);
  const struct tidings_open_options options = {.size = sizeof options,
                                               .store_dir = {path, (size_t)len},
                                               .role = role,
                                               .hook_budget_ms = 60000};
  if (tidings_entry.open(&host, &options, &plugin, &error))
    (void)fprintf(stderr, "open: %s\n", error.text);
  SIMPLE_CHECK(plugin != NULL);
  return plugin;
}
