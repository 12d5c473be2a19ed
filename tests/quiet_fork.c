/* SPDX-License-Identifier: MIT
 *
 * quiet_fork.c: linked into Criterion programs under the address sanitizer. Criterion forks for
 * each case beside a thread of its own (nanomsg's). If that thread is inside malloc at that moment,
 * the child gets gcc 12's allocator with a lock that nobody will ever give back, and hangs: about
 * one program in a hundred, on a busy machine. So a fork waits until every other thread sleeps in
 * the kernel. With one case at a time (CRITERION_JOBS=1, set where tests are registered) nothing
 * then wakes them before the fork is done.
 */
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE_MS = 5000, QUIET_LOOKS = 3 };

static long now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* The state stands behind the name, which is in brackets and may hold anything. A thread that has
 * ended sleeps soundly. */
static bool sleeps(const char *thread) {
  char path[64], text[512];
  (void)snprintf(path, sizeof path, "/proc/self/task/%s/stat", thread);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return true;
  ssize_t len = read(fd, text, sizeof text - 1);
  close(fd);
  if (len <= 0) return true;
  text[len] = '\0';
  const char *end = strrchr(text, ')');
  return end && (end[2] == 'S' || end[2] == 'Z' || end[2] == 'X');
}

static bool others_sleep(void) {
  DIR *tasks = opendir("/proc/self/task");
  bool quiet = true;
  if (!tasks) return true;
  const struct dirent *entry;
  while (quiet && (entry = readdir(tasks))) {
    if (entry->d_name[0] != '.' && strtol(entry->d_name, NULL, 10) != gettid())
      quiet = sleeps(entry->d_name);
  }
  closedir(tasks);
  return quiet;
}

/* Sleeping once may be a moment between two messages. */
static void wait_until_quiet(void) {
  long deadline = now_ms() + PATIENCE_MS;
  for (int looks = 0; looks < QUIET_LOOKS && now_ms() < deadline;) {
    looks = others_sleep() ? looks + 1 : 0;
    sched_yield();
  }
}

__attribute__((constructor)) static void register_quiet_fork(void) {
  if (pthread_atfork(wait_until_quiet, NULL, NULL)) abort();
}
