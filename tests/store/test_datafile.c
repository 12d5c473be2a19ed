/* SPDX-License-Identifier: MIT
 *
 * tests/store/test_datafile.c: files that would kill the host if LMDB opened them, stores of
 * another layout, and a store that two processes make at once.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <lmdb.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit.h"
#include "store/db/lmdb/engine.h"
#include "store/db/lmdb/files.h"
#include "store/rows/rows.h"

TestSuite(datafile, .init = kit_begin, .fini = kit_end);
TestSuite(schema, .init = kit_begin, .fini = kit_end);

struct bytes {
  char *bytes;
  size_t len;
};

static struct bytes read_all(const char *path) {
  struct stat entry;
  int fd = open(path, O_RDONLY);
  cr_assert_geq(fd, 0);
  cr_assert_eq(fstat(fd, &entry), 0);
  struct bytes all = {malloc((size_t)entry.st_size + 1), (size_t)entry.st_size};
  cr_assert_not_null(all.bytes);
  cr_assert_eq(read(fd, all.bytes, all.len), (ssize_t)all.len);
  close(fd);
  return all;
}

static void write_all(const char *path, const char *bytes, size_t len) {
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  cr_assert_geq(fd, 0);
  cr_assert_eq(write(fd, bytes, len), (ssize_t)len);
  close(fd);
}

/* A store with some pages; returns its data file. */
static const char *some_store(void) {
  struct store *store = store_at(kit_store);
  char name[32];
  for (int i = 0; i < 40; i++) {
    (void)snprintf(name, sizeof name, "session %d", i);
    say_well(store, name, "news");
  }
  store_close(store);
  return kit_path("store/data.mdb");
}

static int open_code(struct tidings_error *error) {
  struct store_options options = {.directory = kit_store, .create_budget_ms = 1000};
  struct store *store;
  int code = store_open(&options, &store, error);
  if (!code) store_close(store);
  return code;
}

/* Returns the number of used pages, as LMDB counts them; the pages after them are spare. */
static size_t used_bytes(void) {
  struct store *store = store_at(kit_store);
  MDB_envinfo info;
  cr_assert_eq(mdb_env_info(store->db->env, &info), 0);
  size_t used = (info.me_last_pgno + 1) * store->db->page_bytes;
  store_close(store);
  return used;
}

Test(datafile, cut_short_at_any_length_it_is_refused) {
  const char *path = some_store();
  size_t used = used_bytes();
  struct bytes all = read_all(path);
  struct random random = {.state = 3};
  cr_assert_geq(used, 20480);
  for (int i = 0; i < 300; i++) {
    size_t len = i < 20   ? (size_t)i * 8
                 : i < 40 ? (size_t)(i - 20) / 4 * 4096 + (size_t)(i % 4) - 1
                          : random_below(&random, used);
    if (len >= used) len = used - 1;
    struct tidings_error error = new_error();
    write_all(path, all.bytes, len);
    cr_assert_eq(open_code(&error), TIDINGS_E_STORE, "%zu of %zu bytes", len, used);
    cr_assert(strstr(error.text, "data.mdb"), "%s", error.text);
  }
  struct tidings_error error = new_error();
  write_all(path, all.bytes, used);
  cr_assert_eq(open_code(&error), 0, "the reserve behind may be missing: %s", error.text);
  free(all.bytes);
}

/* Damages both heads, because a single damaged head would be repaired. */
Test(datafile, damaged_heads_are_refused) {
  static const struct {
    size_t at, len;
    uint64_t value;
    const char *words;
  } cases[] = {{16, 4, 0xbeefc0df, "not an LMDB file"},
               {20, 4, 2, "not an LMDB file"},
               {20, 4, 999, "not an LMDB file"},
               {40, 4, 0, "damaged head"},
               {40, 4, 4097, "damaged head"},
               {40, 4, UINT32_MAX, "damaged head"},
               {40, 4, 16384, "page size"},
               {40, 4, 512, "page size"},
               {32, 8, 1 << 20, "map size"},
               {32, 8, UINT64_MAX, "map size"},
               {136, 8, UINT64_MAX, "cut short"},
               {136, 8, UINT64_MAX / 4096, "cut short"},
               {136, 8, (uint64_t)1 << 40, "cut short"}};
  const char *path = some_store();
  struct bytes all = read_all(path);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char *copy = malloc(all.len);
    cr_assert_not_null(copy);
    memcpy(copy, all.bytes, all.len);
    memcpy(copy + cases[i].at, &cases[i].value, cases[i].len);
    memcpy(copy + 4096 + cases[i].at, &cases[i].value, cases[i].len);
    write_all(path, copy, all.len);
    free(copy);
    struct tidings_error error = new_error();
    cr_assert_eq(open_code(&error), TIDINGS_E_STORE, "case %zu", i);
    cr_assert(strstr(error.text, cases[i].words), "case %zu: %s", i, error.text);
  }
  free(all.bytes);
}

Test(datafile, what_is_no_store_at_all_is_refused) {
  cr_assert_eq(mkdir(kit_store, 0700), 0);
  struct tidings_error error = new_error();
  char zeros[16384] = {0};
  write_all(kit_path("store/data.mdb"), "", 0);
  cr_assert_eq(open_code(&error), TIDINGS_E_STORE);
  write_all(kit_path("store/data.mdb"), zeros, sizeof zeros);
  cr_assert_eq(open_code(&error), TIDINGS_E_STORE);
  write_all(kit_path("store/data.mdb"), "hello", 5);
  cr_assert_eq(open_code(&error), TIDINGS_E_STORE);
}

/* -- another layout ---------------------------------------------------------------------------- */

static void put_meta(struct store *store, uint8_t format, uint64_t schema) {
  struct tidings_error error = new_error();
  struct db_key key = row_key(0, ROW_META, 0);
  struct buffer body = BUFFER_EMPTY;
  struct store_txn *txn;
  cr_assert_eq(store_write(store, NULL, store_deadline_in(KIT_BUDGET_MS), &txn, &error), 0, "%s",
               error.text);
  buffer_byte(&body, (char)format);
  record_u64(&body, schema);
  record_u64(&body, 1);
  cr_assert_eq(row_put(txn, &key, &body, &error), 0);
  buffer_free(&body);
  cr_assert_eq(store_commit(txn, &error), 0);
}

static void expect_untouched(const struct bytes *before) {
  struct bytes after = read_all(kit_path("store/data.mdb"));
  cr_assert_eq(before->len, after.len);
  cr_assert_eq(memcmp(before->bytes, after.bytes, after.len), 0, "the file was written to");
  free(after.bytes);
}

Test(schema, a_newer_store_is_refused_and_left_as_it_is) {
  for (unsigned format = RECORD_FORMAT; format <= RECORD_FORMAT + 1; format++) {
    struct store *store = store_at(kit_store);
    struct tidings_error error = new_error();
    put_meta(store, (uint8_t)format, STORE_SCHEMA + 1);
    store_close(store);
    struct bytes before = read_all(kit_path("store/data.mdb"));
    cr_assert_eq(open_code(&error), TIDINGS_E_SCHEMA_NEWER, "format %u: %s", format, error.text);
    cr_assert(strstr(error.text, "newer"), "%s", error.text);
    expect_untouched(&before);
    free(before.bytes);
    cr_assert_eq(unlink(kit_path("store/data.mdb")), 0);
  }
}

Test(schema, an_older_store_is_refused_and_left_as_it_is) {
  struct store *store = store_at(kit_store);
  struct tidings_error error = new_error();
  put_meta(store, RECORD_FORMAT, STORE_SCHEMA - 1);
  store_close(store);
  struct bytes before = read_all(kit_path("store/data.mdb"));
  cr_assert_eq(open_code(&error), TIDINGS_E_STORE, "%s", error.text);
  cr_assert(strstr(error.text, "tidings store migrate"), "%s", error.text);
  expect_untouched(&before);
  free(before.bytes);
}

static int migrate(struct child *self, void *context) {
  struct store_options options = {.directory = context, .create_budget_ms = KIT_BUDGET_MS};
  struct store *store;
  (void)self;
  if (store_open(&options, &store, NULL)) return 1;
  put_meta(store, RECORD_FORMAT, STORE_SCHEMA + 1);
  store_close(store);
  return 0;
}

Test(schema, a_store_migrated_while_it_is_open_is_not_written_any_more) {
  struct store *store = store_at(kit_store);
  struct tidings_error error = new_error();
  struct store_txn *txn;
  say_well(store, "s", "one");
  struct child child = child_start(migrate, kit_store);
  cr_assert_eq(child_wait(&child), 0);
  struct bytes before = read_all(kit_path("store/data.mdb"));
  cr_assert_eq(say(store, (struct said){.message = "two"}, NULL, &error), TIDINGS_E_SCHEMA_NEWER);
  cr_assert_eq(store_read(store, NULL, store_deadline_in(KIT_BUDGET_MS), &txn, &error),
               TIDINGS_E_SCHEMA_NEWER);
  cr_assert_eq(store_write(store, NULL, store_deadline_in(KIT_BUDGET_MS), &txn, &error),
               TIDINGS_E_SCHEMA_NEWER);
  expect_untouched(&before);
  free(before.bytes);
  store_close(store);
}

Test(schema, a_store_of_somebody_else_is_refused) {
  struct store *store = store_at(kit_store);
  struct tidings_error error = new_error();
  struct db_key key = row_key(0, ROW_META, 0);
  struct store_txn *txn;
  cr_assert_eq(store_write(store, NULL, store_deadline_in(KIT_BUDGET_MS), &txn, &error), 0);
  cr_assert_eq(db_put(txn->db, &key, span_text("garbage")), 0);
  cr_assert_eq(store_commit(txn, &error), 0);
  store_close(store);
  cr_assert_eq(open_code(&error), TIDINGS_E_STORE);
  cr_assert(strstr(error.text, "schema"), "%s", error.text);
}

static int open_beside(struct child *self, void *context) {
  const struct store_options options = {.directory = kit_store, .create_budget_ms = KIT_BUDGET_MS};
  struct tidings_error error = new_error();
  struct store *store;
  (void)self;
  (void)context;
  int code = store_open(&options, &store, &error);
  return code == TIDINGS_E_STORE && strstr(error.text, "lock.mdb was deleted") ? 0 : 1;
}

/* Otherwise the next process would make another lock file, and two would write at the same time. */
Test(datafile, a_lock_file_deleted_while_in_use_ends_all_writes) {
  struct store *store = store_at(kit_store);
  struct tidings_error error = new_error();
  say_well(store, "s", "one");
  cr_assert_eq(unlink(kit_path("store/lock.mdb")), 0);
  cr_assert_eq(say(store, (struct said){0}, NULL, &error), TIDINGS_E_STORE);
  cr_assert(strstr(error.text, "lock.mdb was deleted"), "%s", error.text);
  struct child child = child_start(open_beside, NULL);
  cr_assert_eq(child_wait(&child), 0);
  cr_assert_eq(close(open(kit_path("store/lock.mdb"), O_CREAT | O_RDWR, 0600)), 0);
  cr_assert_eq(say(store, (struct said){0}, NULL, &error), TIDINGS_E_STORE, "another one");
  store_close(store);
  store = store_at(kit_store);
  say_well(store, "s", "two");
  cr_assert_eq(items_in(store, "s"), 2);
  store_close(store);
}

/* Two processes make one store: the other's data.mdb appears after this one did not find it. Here
 * it appears and disappears under its two names all the time, while the folder is examined. */
Test(datafile, a_store_that_another_process_makes_is_no_other_file) {
  enum { LOOKS = 3000 };
  cr_assert_eq(mkdir(kit_store, 0700), 0);
  write_all(kit_path("store/creating"), "", 0);
  char creating[400], data[400];
  snprintf(creating, sizeof creating, "%s", kit_path("store/creating"));
  snprintf(data, sizeof data, "%s", kit_path("store/data.mdb"));
  pid_t other = fork();
  cr_assert_geq(other, 0);
  while (!other) {
    if (rename(creating, data) || rename(data, creating)) _exit(1);
  }
  int refused = 0;
  struct tidings_error error = new_error();
  for (int i = 0; i < LOOKS && !refused; i++) {
    int fd;
    refused = directory_open(kit_store, &fd, &error);
    if (!refused) close(fd);
  }
  kill(other, SIGKILL);
  waitpid(other, NULL, 0);
  cr_assert_eq(refused, 0, "%s", error.text);
}

Test(datafile, a_file_that_may_not_be_opened_has_a_remedy) {
  static const int reasons[] = {EACCES, EPERM, EROFS};
  for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
    struct tidings_error error = new_error();
    int code = directory_file_refused("/a/store", "data.mdb", reasons[i], &error);
    cr_expect_eq(code, TIDINGS_E_STORE);
    cr_expect(strstr(error.text, "store /a/store: data.mdb cannot be opened: "), "%s", error.text);
    cr_expect(strstr(error.text, "; make the folder and its files yours and writable"), "%s",
              error.text);
  }
}
