/* SPDX-License-Identifier: MIT
 *
 * again/faults.c: the linker hands the plugin's calls of these functions to those here (see
 * CMakeLists.txt). A read fails for lack of memory, because other failures count as a damaged row,
 * which some calls skip; a write fails in general.
 */
#include "again/faults.h"

#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/error.h"
#include "store/db/db.h"

enum { WAYS = 1 << 18, DEEPEST = 48 };

/* Hashes of the ways by which calls have failed, in a file that all processes of a test share. */
static _Atomic(uint64_t) *ways;
static _Thread_local bool armed;
static _Thread_local enum fault was_hit;
static _Thread_local const char *failed;

extern const char __ehdr_start[]; /* where this library is loaded */

__attribute__((constructor)) static void share_ways(void) {
  const char *path = getenv("TIDINGS_WAYS");
  void *frames[2];
  int fd = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
  if (fd < 0 || ftruncate(fd, (off_t)(WAYS * sizeof *ways)) != 0) {
    fprintf(stderr, "TIDINGS_WAYS: cannot use the file \"%s\"\n", path ? path : "");
    abort();
  }
  ways = mmap(NULL, WAYS * sizeof *ways, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (ways == MAP_FAILED) abort();
  backtrace(frames, 2); /* loads what it needs */
}

static uint64_t way(void) {
  void *frames[DEEPEST];
  int count = backtrace(frames, DEEPEST);
  uint64_t hash = 14695981039346656037u;
  for (int i = 2; i < count; i++) {
    uint64_t at = (uint64_t)frames[i] - (uint64_t)(uintptr_t)__ehdr_start;
    if (at > 1u << 26) break; /* a function of the host's */
    hash = (hash ^ at) * 1099511628211u;
  }
  return hash | 1;
}

/* Notes the way; false: it was noted before. */
static bool is_new(uint64_t hash) {
  for (uint64_t i = hash >> 20;; i++) {
    uint64_t there = 0;
    if (atomic_compare_exchange_strong(&ways[i % WAYS], &there, hash)) return true;
    if (there == hash) return false;
  }
}

static __attribute__((noinline)) bool is_due(enum fault fault, const char *name) {
  if (!armed || !is_new(way())) return false;
  armed = false;
  was_hit = fault;
  failed = name;
  return true;
}

void faults_arm(void) {
  armed = true;
  was_hit = FAULT_NONE;
}

enum fault faults_disarm(void) {
  armed = false;
  return was_hit;
}

const char *faults_failed(void) { return failed; }

/* -- the functions ----------------------------------------------------------------------------- */

#define WRAP(type, name, parameters, arguments, fault, refuse)                                     \
  type __real_##name parameters;                                                                   \
  type __wrap_##name parameters;                                                                   \
  type __wrap_##name parameters {                                                                  \
    if (is_due(fault, #name)) return refuse;                                                       \
    return __real_##name arguments;                                                                \
  }

#define SAYS fail(error, TIDINGS_E_STORE, "the test refuses this call of the engine")

WRAP(int, db_get, (struct db_txn * txn, const struct db_key *key, struct tidings_span *ret_value),
     (txn, key, ret_value), FAULT_MEMORY, ENOMEM)
WRAP(int, db_put, (struct db_txn * txn, const struct db_key *key, struct tidings_span value),
     (txn, key, value), FAULT_ENGINE, EIO)
WRAP(int, db_put_new, (struct db_txn * txn, const struct db_key *key, struct tidings_span value),
     (txn, key, value), FAULT_ENGINE, EIO)
WRAP(int, db_put_room,
     (struct db_txn * txn, const struct db_key *key, size_t len, void **ret_value),
     (txn, key, len, ret_value), FAULT_ENGINE, EIO)
WRAP(int, db_delete, (struct db_txn * txn, const struct db_key *key), (txn, key), FAULT_ENGINE, EIO)
WRAP(int, db_cursor_open, (struct db_txn * txn, struct db_cursor *ret_cursor), (txn, ret_cursor),
     FAULT_MEMORY, ENOMEM)
WRAP(int, db_cursor_seek, (struct db_cursor * cursor, const struct db_key *key), (cursor, key),
     FAULT_MEMORY, ENOMEM)
WRAP(int, db_cursor_before, (struct db_cursor * cursor, const struct db_key *key), (cursor, key),
     FAULT_MEMORY, ENOMEM)
WRAP(int, db_cursor_next, (struct db_cursor * cursor), (cursor), FAULT_MEMORY, ENOMEM)
WRAP(int, db_cursor_delete, (struct db_cursor * cursor), (cursor), FAULT_ENGINE, EIO)
WRAP(int, db_look_on, (const struct db_txn *writing, struct db_txn *ret_txn), (writing, ret_txn),
     FAULT_MEMORY, ENOMEM)
WRAP(int, db_read,
     (struct db * db, const struct db_scope *scope, store_deadline deadline, struct db_txn *ret_txn,
      struct tidings_error *error),
     (db, scope, deadline, ret_txn, error), FAULT_ENGINE, SAYS)
WRAP(int, db_write,
     (struct db * db, const struct db_scope *scope, store_deadline deadline, struct db_txn *ret_txn,
      struct tidings_error *error),
     (db, scope, deadline, ret_txn, error), FAULT_ENGINE, SAYS)
WRAP(int, db_reserve, (struct db_txn * txn, uint64_t bytes, struct tidings_error *error),
     (txn, bytes, error), FAULT_ENGINE, SAYS)
WRAP(int, db_commit, (struct db_txn * txn, struct tidings_error *error), (txn, error), FAULT_ENGINE,
     (db_end(txn), SAYS))

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);

static __attribute__((noinline)) bool no_memory(const char *name) {
  if (!is_due(FAULT_MEMORY, name)) return false;
  errno = ENOMEM;
  return true;
}

void *__wrap_malloc(size_t size) { return no_memory("malloc") ? NULL : __real_malloc(size); }
void *__wrap_calloc(size_t count, size_t size) {
  return no_memory("calloc") ? NULL : __real_calloc(count, size);
}
void *__wrap_realloc(void *old, size_t size) {
  return no_memory("realloc") ? NULL : __real_realloc(old, size);
}
