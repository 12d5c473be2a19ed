/* SPDX-License-Identifier: MIT
 *
 * store_trick.c: states of a store that no command can make: a writer that holds the lock, a store
 * of a newer or older version.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "store/rows/rows.h"

enum { PATIENCE_MS = 60000 };

/* Until stdin ends or this process is killed. */
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

/* As a version with another layout would leave it. */
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
             : strcmp(argv[1], "older") == 0 ? put_layout(store, STORE_SCHEMA - 1)
             : strcmp(argv[1], "newer") == 0 ? put_layout(store, STORE_SCHEMA + 1)
                                             : 2;
  store_close(store);
  return code;
}
