/* SPDX-License-Identifier: MIT
 *
 * stops/at_lock.c: liblmdb's calls come to these definitions. A mutex belongs to LMDB if it is in a
 * mapping of a file lock.mdb.
 */
#include "stops/at_lock.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Atomic(int) moment_to_stop;

void lock_stop_at(enum lock_moment moment) { atomic_store(&moment_to_stop, moment); }

static bool is_in_line(const char *line, uintptr_t address) {
  char *end;
  unsigned long long from = strtoull(line, &end, 16);
  unsigned long long to = *end == '-' ? strtoull(end + 1, NULL, 16) : 0;
  return strstr(line, "/lock.mdb") && address >= from && address < to;
}

static bool is_of_lmdb(const pthread_mutex_t *mutex) {
  char line[1024];
  bool found = false;
  FILE *maps = fopen("/proc/self/maps", "re");
  while (maps && !found && fgets(line, sizeof line, maps))
    found = is_in_line(line, (uintptr_t)mutex);
  if (maps) (void)fclose(maps);
  return found;
}

static void stop_at(const pthread_mutex_t *mutex, enum lock_moment here) {
  if (atomic_load_explicit(&moment_to_stop, memory_order_relaxed) != (int)here) return;
  if (!is_of_lmdb(mutex)) return;
  int moment = (int)here;
  if (atomic_compare_exchange_strong(&moment_to_stop, &moment, AT_NO_LOCK))
    (void)raise(SIGSTOP); /* stops this thread at once */
}

typedef int mutex_call(pthread_mutex_t *mutex);

static mutex_call *real(const char *name, _Atomic(mutex_call *) *known) {
  mutex_call *call = atomic_load(known);
  if (!call) {
    void *symbol = dlsym(RTLD_NEXT, name);
    memcpy(&call, &symbol, sizeof call);
    atomic_store(known, call);
  }
  return call;
}

__attribute__((visibility("default"), noinline)) int pthread_mutex_lock(pthread_mutex_t *mutex) {
  static _Atomic(mutex_call *) known;
  int err = real("pthread_mutex_lock", &known)(mutex);
  stop_at(mutex, AT_LOCK);
  return err;
}

__attribute__((visibility("default"), noinline)) int pthread_mutex_destroy(pthread_mutex_t *mutex) {
  static _Atomic(mutex_call *) known;
  stop_at(mutex, AT_DESTROY);
  return real("pthread_mutex_destroy", &known)(mutex);
}
