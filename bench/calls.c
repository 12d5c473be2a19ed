/* SPDX-License-Identifier: MIT
 *
 * calls.c: see calls.h. The allocator's functions, pwrite and fdatasync are defined here and
 * exported, so that the plugin calls these too.
 */
#include "calls.h"
#include "common/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "samples.h"

#define EXPORTED __attribute__((visibility("default"), noinline))

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static _Thread_local uint64_t allocations;

uint64_t calls_allocations(void) { return allocations; }

EXPORTED void *malloc(size_t size) {
  allocations++;
  return __libc_malloc(size);
}
EXPORTED void *calloc(size_t count, size_t size) {
  allocations++;
  return __libc_calloc(count, size);
}
EXPORTED void *realloc(void *memory, size_t size) {
  allocations++;
  return __libc_realloc(memory, size);
}
EXPORTED void *aligned_alloc(size_t alignment, size_t size) {
  allocations++;
  return __libc_memalign(alignment, size);
}
EXPORTED int posix_memalign(void **ret_memory, size_t alignment, size_t size) {
  allocations++;
  void *memory = __libc_memalign(alignment, size);
  if (!memory) return ENOMEM;
  *ret_memory = memory;
  return 0;
}

static _Atomic(uint64_t) wrote_ns, flushes;

uint64_t calls_flushes(void) { return atomic_load(&flushes); }

uint64_t calls_wrote_ns(void) { return atomic_load(&wrote_ns); }

EXPORTED ssize_t pwrite(int fd, const void *data, size_t length, off_t offset) {
  ssize_t written = syscall(SYS_pwrite64, fd, data, length, offset);
  if (length < 4096 && fcntl(fd, F_GETFL) & O_DSYNC) atomic_fetch_add(&flushes, 1);
  atomic_store(&wrote_ns, clock_mono_ns());
  return written;
}
EXPORTED ssize_t pwrite64(int fd, const void *data, size_t length, off64_t offset) {
  return pwrite(fd, data, length, offset);
}

EXPORTED int fdatasync(int fd) {
  int failed = (int)syscall(SYS_fdatasync, fd);
  atomic_fetch_add(&flushes, 1);
  atomic_store(&wrote_ns, clock_mono_ns());
  return failed;
}

void calls_mark(void) { raise(SIGSTOP); }

/* Lets the child run to its next mark, and counts the system calls until then. False: the child has
 * ended. */
static bool run_to_mark(pid_t child, bool counting, int64_t *ret_stops) {
  int status, signal_number = 0;
  for (;;) {
    if (ptrace(counting ? PTRACE_SYSCALL : PTRACE_CONT, child, NULL,
               (void *)(intptr_t)signal_number) != 0)
      return false;
    if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) return false;
    signal_number = 0;
    if (WSTOPSIG(status) == SIGSTOP) return true;
    if (WSTOPSIG(status) == (SIGTRAP | 0x80)) (*ret_stops)++;
    else signal_number = WSTOPSIG(status);
  }
}

int64_t calls_system(void (*body)(void *context), void *context) {
  int64_t stops = 0;
  int status;
  pid_t child = fork();
  if (child < 0) return -1;
  if (child == 0) {
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) _exit(1);
    calls_mark();
    body(context);
    _exit(0);
  }
  bool good = waitpid(child, &status, 0) == child && WIFSTOPPED(status);
  good = good && ptrace(PTRACE_SETOPTIONS, child, NULL,
                        (void *)(intptr_t)(PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL)) == 0;
  good = good && run_to_mark(child, false, &stops) && run_to_mark(child, true, &stops);
  kill(child, SIGKILL);
  waitpid(child, &status, 0);
  /* Each call stops twice. The last call is the raise() of the second mark; measuring an empty body
   * shows how much it adds. */
  return good ? stops : -1;
}
