/* SPDX-License-Identifier: MIT
 *
 * coverage/ending.c: makes a process write its counts even if it ends itself by _exit or SIGKILL.
 * Every program of a build with TIDINGS_COVERAGE is linked with this shared library, whose _exit
 * and kill are found before those of the C library.
 */
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "dump.h"

#define MOST 256 /* programs and libraries in a process at a time; the counts of more are lost */

/* There is no lock, because in a forked child another thread of the parent might have held it. */
static _Atomic(void (*)(void)) dumps[MOST];

static void exchange(void (*from)(void), void (*to)(void)) {
  for (size_t i = 0; i < MOST; i++) {
    void (*expected)(void) = from;
    if (atomic_compare_exchange_strong(&dumps[i], &expected, to)) return;
  }
}

void coverage_add(void (*dump)(void)) { exchange(NULL, dump); }

void coverage_remove(void (*dump)(void)) { exchange(dump, NULL); }

static void dump_all(void) {
  for (size_t i = 0; i < MOST; i++) {
    void (*dump)(void) = atomic_load(&dumps[i]);
    if (dump) dump();
  }
}

__attribute__((visibility("default"))) void _exit(int status) {
  dump_all();
  for (;;) syscall(SYS_exit_group, status);
}

__attribute__((visibility("default"))) int kill(pid_t pid, int number) {
  if (pid == getpid() && number == SIGKILL) dump_all();
  return (int)syscall(SYS_kill, pid, number);
}
