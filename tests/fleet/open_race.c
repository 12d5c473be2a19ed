/* SPDX-License-Identifier: MIT
 *
 * tests/fleet/open_race.c: two threads open the same store in a database at once. The plugin must
 * refuse exactly one, because a process may have a store open only once. No server runs, so opening
 * fails for the other thread too, with another error. The plugin finds this program's memfd_create
 * and closedir before the system's. So both threads have made their file before either looks for
 * the other's, and both have looked before either goes on.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <tidings/hostkit.h>

enum { THREADS = 2, LIMIT_S = 60 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int entered, looked;
static _Thread_local bool looks;

/* Waits until both threads have counted up. */
static void meet(int *count) {
  struct timespec limit;
  (void)clock_gettime(CLOCK_REALTIME, &limit);
  limit.tv_sec += LIMIT_S;
  pthread_mutex_lock(&lock);
  ++*count;
  pthread_cond_broadcast(&changed);
  while (*count < THREADS) {
    if (!pthread_cond_timedwait(&changed, &lock, &limit)) continue;
    printf("not ok - one thread has not come as far as the other\n");
    exit(1);
  }
  pthread_mutex_unlock(&lock);
}

int memfd_create(const char *name, unsigned flags);
__attribute__((visibility("default"))) int memfd_create(const char *name, unsigned flags) {
  int fd = (int)syscall(SYS_memfd_create, name, flags);
  meet(&entered);
  looks = true;
  return fd;
}

__attribute__((visibility("default"))) int closedir(DIR *folder) {
  int (*real)(DIR * folder) = NULL;
  *(void **)&real = dlsym(RTLD_NEXT, "closedir");
  if (looks) meet(&looked);
  looks = false;
  return real(folder);
}

static void *open_store(void *said) {
  struct hostkit_options options = {.size = sizeof options,
                                    .flags = HOSTKIT_NO_PROBE,
                                    .plugin_path = getenv("TIDINGS_PLUGIN"),
                                    .store_dir = "postgresql:///none?host=/nowhere",
                                    .role = TIDINGS_ROLE_PRODUCER,
                                    .hook_budget_ms = LIMIT_S * 1000};
  struct tidings_error error = {.size = sizeof error};
  struct hostkit *hostkit = NULL;
  if (hostkit_open(&options, &hostkit, &error) == TIDINGS_OK) hostkit_close(hostkit, 0, NULL);
  (void)snprintf(said, sizeof error.text, "%s", error.text);
  return NULL;
}

int main(void) {
  struct tidings_error said[THREADS] = {{.size = 0}};
  pthread_t threads[THREADS];
  int refused = 0;
  for (int i = 0; i < THREADS; i++)
    if (pthread_create(&threads[i], NULL, open_store, said[i].text)) return 1;
  for (int i = 0; i < THREADS; i++) {
    (void)pthread_join(threads[i], NULL);
    printf("# %s\n", said[i].text);
    refused += strstr(said[i].text, "already open in this process") != NULL;
  }
  printf("%s - one of two threads is refused, the other goes on\n", refused == 1 ? "ok" : "not ok");
  return refused != 1;
}
