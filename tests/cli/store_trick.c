/* SPDX-License-Identifier: MIT
 *
 * store_trick.c: makes states of a store that no command can make: a writer that holds the lock,
 * always or most of the time, and a store of a newer or older version.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "store/rows/rows.h"

enum { PATIENCE_MS = 60000, HOLD_MS = 300 };

/* Holds the lock until stdin ends or this process is killed. */
static int hold(struct store *store) {
  struct tidings_error error = {.size = sizeof error};
  struct store_txn *txn;
  char byte;
  if (store_write(store, NULL, store_deadline_in(PATIENCE_MS), &txn, &error)) {
    fprintf(stderr, "%s\n", error.text);
    return 1;
  }
  puts("held");
  fflush(stdout);
  while (read(STDIN_FILENO, &byte, 1) > 0) continue;
  pause();
  return 1;
}

static void sleep_ms(long ms) {
  const struct timespec pause = {.tv_nsec = ms * 1000000};
  (void)nanosleep(&pause, NULL);
}

static struct timespec changed_at(const char *folder) {
  char path[PATH_MAX];
  struct stat entry = {.st_size = 0};
  (void)snprintf(path, sizeof path, "%s/data.mdb", folder);
  (void)stat(path, &entry);
  return entry.st_mtim;
}

/* Takes the lock again and again, until this process is killed: each commit of another process
 * waits for HOLD_MS. */
static int hold_often(struct store *store, const char *folder) {
  for (bool first = true;; first = false) {
    struct store_txn *txn;
    if (store_write(store, NULL, store_deadline_in(PATIENCE_MS), &txn, NULL)) return 1;
    if (first) puts("held");
    fflush(stdout);
    sleep_ms(HOLD_MS);
    struct timespec before = changed_at(folder), after = before;
    store_end(txn);
    while (after.tv_sec == before.tv_sec && after.tv_nsec == before.tv_nsec) {
      sleep_ms(1);
      after = changed_at(folder);
    }
  }
}

/* Makes the store look like one of a version with another layout. */
static int put_layout(struct store *store, uint64_t layout) {
  struct db_key key = row_key(0, ROW_META, 0);
  struct buffer body = BUFFER_EMPTY;
  struct store_txn *txn;
  if (store_write(store, NULL, store_deadline_in(PATIENCE_MS), &txn, NULL)) return 1;
  record_begin(&body);
  record_u64(&body, layout);
  record_u64(&body, 2);
  int code = row_put(txn, &key, &body, NULL);
  buffer_free(&body);
  return code || store_commit(txn, NULL) ? 1 : 0;
}

int main(int argc, char **argv) {
  struct tidings_error error = {.size = sizeof error};
  struct store *store;
  if (argc != 3) return 2;
  const struct store_options options = {.directory = argv[2], .create_budget_ms = PATIENCE_MS};
  if (store_open(&options, &store, &error)) {
    fprintf(stderr, "%s\n", error.text);
    return 1;
  }
  int code = strcmp(argv[1], "hold") == 0    ? hold(store)
             : strcmp(argv[1], "often") == 0 ? hold_often(store, argv[2])
             : strcmp(argv[1], "older") == 0 ? put_layout(store, STORE_SCHEMA - 1)
             : strcmp(argv[1], "newer") == 0 ? put_layout(store, STORE_SCHEMA + 1)
                                             : 2;
  store_close(store);
  return code;
}
