/* SPDX-License-Identifier: MIT
 *
 * alloc/alloc.c: makes each allocation of every operation (kit/drill.h) fail in turn. The answer is
 * NOMEM, or STORE if LMDB has asked for the memory; nothing crashes, nothing leaks, and every
 * notification is accounted for. This file defines and exports the allocator's functions, so that
 * calls of the plugin and of LMDB come here first.
 */
#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "kit/arguments.h"
#include "kit/drill.h"

#define EXPORTED __attribute__((visibility("default"), noinline))

/* glibc's own functions, under the names that it exports for this purpose. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *memory);

static _Thread_local bool inside;        /* this thread is inside a call of the plugin */
static _Thread_local uint64_t countdown; /* 0: no allocation is to fail */
static _Thread_local bool was_hit;
static atomic_llong live; /* allocations not yet freed */

static bool fails(void) {
  if (!inside || countdown == 0 || --countdown > 0) return false;
  was_hit = true;
  errno = ENOMEM;
  return true;
}

static void *counted(void *memory) {
  if (memory) atomic_fetch_add_explicit(&live, 1, memory_order_relaxed);
  return memory;
}

EXPORTED void *malloc(size_t size) { return fails() ? NULL : counted(__libc_malloc(size)); }

EXPORTED void *calloc(size_t count, size_t size) {
  return fails() ? NULL : counted(__libc_calloc(count, size));
}

EXPORTED void *realloc(void *memory, size_t size) {
  if (fails()) return NULL;
  return memory ? __libc_realloc(memory, size) : counted(__libc_malloc(size));
}

EXPORTED void *memalign(size_t alignment, size_t size) {
  return fails() ? NULL : counted(__libc_memalign(alignment, size));
}

EXPORTED void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

EXPORTED int posix_memalign(void **ret_memory, size_t alignment, size_t size) {
  int saved = errno;
  void *memory = memalign(alignment, size);
  errno = saved;
  if (!memory) return ENOMEM;
  *ret_memory = memory;
  return 0;
}

EXPORTED void free(void *memory) {
  if (memory) atomic_fetch_sub_explicit(&live, 1, memory_order_relaxed);
  __libc_free(memory);
}

static void arm(uint64_t n) {
  was_hit = false;
  countdown = n;
}

static bool disarm(void) {
  countdown = 0;
  return was_hit;
}

static void before(void) { inside = true; }
static void after(void) { inside = false; }

static bool allowed(int32_t code, const struct tidings_error *error, bool opening) {
  (void)error;
  return opening || code == TIDINGS_E_NOMEM || code == TIDINGS_E_STORE ||
         code == TIDINGS_E_OUTCOME_UNKNOWN;
}

static const struct drill_fault no_memory = {.name = "the n-th allocation fails",
                                             .arm = arm,
                                             .disarm = disarm,
                                             .before = before,
                                             .after = after,
                                             .allowed = allowed};

/* Checks that after open and close nothing stays allocated, whatever open returned. */
static void check_leaks_of_open(const struct arguments *arguments) {
  struct rig rig = {0};
  char folder[FOLDER_PATH_MAX], store[FOLDER_PATH_MAX];
  folder_make(arguments->scratch, "alloc", folder);
  folder_join(store, folder, "store");
  rig_load(&rig, arguments->plugin);
  rig.before = before;
  rig.after = after;
  bool hit = true;
  for (uint64_t n = 0; hit || n < 3; n++) {
    struct tidings_error error = RIG_ERROR;
    long long at_first = atomic_load(&live);
    arm(n < 2 ? 0 : n - 1); /* two rounds without a fault allocate what is allocated only once */
    int32_t code = rig_open(&rig, &(struct rig_open){.store = store}, &error);
    hit = disarm();
    if (code != 0 && !hit) fail("open: %s", rig_why(code, &error));
    if (code == 0 && (code = rig_close(&rig, &error)) != 0)
      fail("close: %s", rig_why(code, &error));
    long long left = atomic_load(&live) - at_first;
    if (n >= 1 && left != 0)
      fail("%lld allocations leaked by an open whose allocation %" PRIu64 " failed", left,
           n < 2 ? 0 : n - 1);
  }
  rig_unload(&rig);
  folder_remove(folder);
}

/* Checks that after many operations with faults no more is allocated than after loading the
 * image. */
static void check_drill(const struct arguments *arguments) {
  static struct drill drill;
  drill_begin(&drill, arguments, "alloc");
  drill_run(&drill, &no_memory);
  struct tidings_error error = RIG_ERROR;
  long long open = atomic_load(&live);
  for (int round = 0; round < 2; round++) {
    long long before_round = atomic_load(&live);
    drill_run(&drill, &no_memory);
    if (rig_close(&drill.rig, &error) != 0) die("close: %s", error.text);
    if (rig_open(&drill.rig, &(struct rig_open){.store = drill.store}, &error) != 0)
      die("open: %s", error.text);
    long long grown = atomic_load(&live) - before_round;
    /* The test's own lists may grow once. */
    if (round == 1 && grown > 4)
      fail("%lld allocations leaked in a round of all operations (%lld live)", grown, open);
  }
  drill_end(&drill);
}

int main(int argc, char **argv) {
  struct arguments arguments = {.seed = 1};
  arguments_read(&arguments, argc, argv);
  if (arguments_part(&arguments, "open")) check_leaks_of_open(&arguments);
  if (arguments_part(&arguments, "drill")) check_drill(&arguments);
  return failures() == 0 ? 0 : 1;
}
