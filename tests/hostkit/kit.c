/* SPDX-License-Identifier: MIT
 */
#include "kit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static void give_up(const char *what) {
  perror(what);
  exit(70);
}

struct tidings_span kit_span(const char *text) {
  return (struct tidings_span){.ptr = text, .len = strlen(text)};
}

static void keep_log(void *context, uint32_t severity, const struct tidings_span *message) {
  struct kit *kit = context;
  if (severity > TIDINGS_LOG_WARNING) return;
  (void)snprintf(kit->last_warning, sizeof kit->last_warning, "%.*s", (int)message->len,
                 message->ptr);
  atomic_fetch_add(&kit->warnings, 1);
}

static int64_t now_ms(void *context) {
  (void)context;
  return 1;
}

static uint64_t mono_ns(void *context) {
  (void)context;
  return 1;
}

static int32_t no_random(void *context, void *buffer, size_t len) {
  (void)context;
  memset(buffer, 7, len);
  return 0;
}

int kit_count_entries(const char *folder) {
  DIR *entries = opendir(folder);
  if (!entries) give_up(folder);
  int count = 0;
  while (readdir(entries)) count++;
  closedir(entries);
  return count - 2;
}

int kit_count_fds(void) { return kit_count_entries("/proc/self/fd"); }

void kit_init(struct kit *kit) {
  *kit = (struct kit){.root = "/tmp/hostkit-test-XXXXXX"};
  if (!mkdtemp(kit->root)) give_up(kit->root);
  (void)snprintf(kit->store, sizeof kit->store, "%s/store", kit->root);
  (void)snprintf(kit->copies, sizeof kit->copies, "%s/copies", kit->root);
  const char *build = getenv("TIDINGS_BUILD_DIR");
  (void)snprintf(kit->probe, sizeof kit->probe, "%s/tidings-hostkit-probe", build ? build : ".");
  if (mkdir(kit->store, 0700) || mkdir(kit->copies, 0700)) give_up(kit->store);
  kit->fds_before = kit_count_fds();
  kit->host = (struct tidings_host){.size = sizeof kit->host,
                                    .context = kit,
                                    .log = keep_log,
                                    .now_ms = now_ms,
                                    .mono_ns = mono_ns,
                                    .random = no_random};
  kit->options = (struct hostkit_options){.size = sizeof kit->options,
                                          .store_dir = kit->store,
                                          .copy_dir = kit->copies,
                                          .probe_path = kit->probe,
                                          .probe_timeout_ms = 120000, /* for a busy machine */
                                          .host = &kit->host};
#if defined(__SANITIZE_ADDRESS__)
  kit->options.flags =
      HOSTKIT_KEEP_MAPPED; /* so that a leak's report can name the plugin's functions */
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
  kit->options.flags = HOSTKIT_KEEP_MAPPED;
#endif
#endif
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *position) {
  (void)status;
  (void)type;
  (void)position;
  return remove(path);
}

const char *kit_finish(struct kit *kit) {
  const char *left = NULL;
  if (kit_count_entries(kit->copies) != 0) left = "a private copy was left behind";
  if (kit_count_fds() != kit->fds_before) left = "a descriptor was left open";
  nftw(kit->root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
  return left;
}

const char *kit_plugin(struct kit *kit, const char *name) {
  const char *build = getenv("TIDINGS_BUILD_DIR");
  (void)snprintf(kit->plugin, sizeof kit->plugin, "%s/tests/plugins/%s.so", build ? build : ".",
                 name);
  kit->options.plugin_path = kit->plugin;
  return kit->plugin;
}

void kit_build_own(struct kit *kit, const char *name) {
  char own[128];
  char buffer[65536];
  int from = open(kit_plugin(kit, name), O_RDONLY | O_CLOEXEC);
  (void)snprintf(own, sizeof own, "%s/own.so", kit->root);
  int to = open(own, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);
  if (from < 0 || to < 0) give_up(own);
  for (ssize_t got = read(from, buffer, sizeof buffer); got != 0;
       got = read(from, buffer, sizeof buffer)) {
    if (got < 0 || write(to, buffer, (size_t)got) != got) give_up(own);
  }
  close(to);
  close(from);
  (void)snprintf(kit->plugin, sizeof kit->plugin, "%s", own);
}

struct hostkit *kit_open(struct kit *kit, const char *name) {
  struct tidings_error error = {.size = sizeof error};
  struct hostkit *hostkit = NULL;
  kit_plugin(kit, name);
  if (hostkit_open(&kit->options, &hostkit, &error)) {
    (void)fprintf(stderr, "%s\n", error.text);
    exit(70);
  }
  return hostkit;
}

int32_t kit_event(struct hostkit *hostkit, const char *text, struct tidings_error *error) {
  struct tidings_span event = kit_span(text);
  struct tidings_reply *reply = NULL;
  int32_t code = hostkit_event(hostkit, &event, &reply, error);
  hostkit_reply_free(reply);
  return code;
}

int kit_log_lines(const struct kit *kit, const char *start) {
  char path[160];
  char line[512];
  (void)snprintf(path, sizeof path, "%s/log", kit->store);
  FILE *log = fopen(path, "re");
  if (!log) return 0;
  int count = 0;
  while (fgets(line, sizeof line, log)) count += strncmp(line, start, strlen(start)) == 0;
  (void)fclose(log);
  return count;
}

void kit_touch(const struct kit *kit, const char *name) {
  char path[160];
  (void)snprintf(path, sizeof path, "%s/%s", kit->store, name);
  int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) give_up(path);
  close(fd);
}

void kit_untouch(const struct kit *kit, const char *name) {
  char path[160];
  (void)snprintf(path, sizeof path, "%s/%s", kit->store, name);
  if (unlink(path)) give_up(path);
}

void kit_make_gate(const struct kit *kit) {
  char path[160];
  (void)snprintf(path, sizeof path, "%s/gate", kit->store);
  if (mkfifo(path, 0600)) give_up(path);
}

int kit_hold_gate(const struct kit *kit) {
  char path[160];
  (void)snprintf(path, sizeof path, "%s/gate", kit->store);
  int fd = open(path, O_WRONLY | O_CLOEXEC); /* waits for the reader */
  if (fd < 0) give_up(path);
  return fd;
}

pthread_t kit_start(void *(*run)(void *argument), void *argument) {
  pthread_t thread;
  errno = pthread_create(&thread, NULL, run, argument);
  if (errno) give_up("pthread_create");
  return thread;
}

int kit_is_mapped(const char *part_of_path) {
  char line[8192];
  FILE *maps = fopen("/proc/self/maps", "re");
  if (!maps) give_up("/proc/self/maps");
  int found = 0;
  while (fgets(line, sizeof line, maps)) found = found || strstr(line, part_of_path);
  (void)fclose(maps);
  return found;
}
