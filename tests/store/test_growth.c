/* SPDX-License-Identifier: MIT
 *
 * tests/store/test_growth.c: a file that has grown to its limit, and a full disk. This test
 * replaces LMDB's report on its file, and the C library's fallocate, because sixteen gibibytes are
 * too much for a test.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <lmdb.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kit.h"
#include "store/db/lmdb/engine.h"
#include "store/rows/rows.h"

#define EXPORTED __attribute__((visibility("default")))

static size_t faked_last_page, faked_tree_pages; /* 0: the truth */
static int fallocate_error;

/* The linker sends the plugin's calls to these, whether or not LMDB is linked in. */
int __real_mdb_env_info(MDB_env *env, MDB_envinfo *info);
int __wrap_mdb_env_info(MDB_env *env, MDB_envinfo *info);
int __real_mdb_env_stat(MDB_env *env, MDB_stat *stat);
int __wrap_mdb_env_stat(MDB_env *env, MDB_stat *stat);

int __wrap_mdb_env_info(MDB_env *env, MDB_envinfo *info) {
  int rc = __real_mdb_env_info(env, info);
  if (faked_last_page) info->me_last_pgno = faked_last_page;
  return rc;
}

int __wrap_mdb_env_stat(MDB_env *env, MDB_stat *stat) {
  int rc = __real_mdb_env_stat(env, stat);
  if (faked_tree_pages) stat->ms_leaf_pages = faked_tree_pages;
  return rc;
}

EXPORTED int fallocate(int fd, int mode, off_t at, off_t len) {
  if (fallocate_error) {
    errno = fallocate_error;
    return -1;
  }
  if (len > (off_t)1 << 30) return 0; /* acts as if it had the room */
  return (int)syscall(SYS_fallocate, fd, mode, at, len);
}

static void begin(void) {
  kit_begin();
  faked_last_page = faked_tree_pages = 0;
  fallocate_error = 0;
}

TestSuite(growth, .init = begin, .fini = kit_end);

enum { PAGE = 4096 };
static const size_t gib = (size_t)1 << 30;

Test(growth, a_store_full_of_rows_is_full_and_can_be_drained) {
  struct tidings_plugin *plugin = plugin_at(kit_store, (struct plugin_words){0});
  struct tidings_error error = new_error();
  push(plugin, "s", "one");
  faked_last_page = faked_tree_pages = 13 * gib / PAGE;
  cr_assert_eq(say(store_of(plugin), (struct said){0}, NULL, &error), TIDINGS_E_FULL, "%d %s",
               error.code, error.text);
  cr_assert(strstr(error.text, "limit"), "%s", error.text);
  struct got got = tool_result(plugin, "s");
  expect_got(got, "one");
  cr_assert_eq(settle_as(plugin, got.delivery, TIDINGS_COMMITTED, &error), 0, "%s", error.text);
  plugin_end(plugin);
}

/* LMDB's file never shrinks: once it has been large, the space of what was forgotten must count as
 * free. */
Test(growth, a_file_that_was_full_once_takes_pushes_again) {
  struct store *store = store_at(kit_store);
  faked_last_page = 15 * gib / PAGE;
  say_well(store, "s", "one");
  faked_last_page = 16 * gib / PAGE - 1;
  say_well(store, "s", "two");
  cr_assert_eq(items_in(store, "s"), 2);
  store_close(store);
}

Test(growth, on_a_full_disk_the_push_fails_and_what_is_pending_is_delivered) {
  struct tidings_plugin *plugin = plugin_at(kit_store, (struct plugin_words){0});
  struct tidings_error error = new_error();
  push(plugin, "s", "one");
  store_of(plugin)->db->reserved_bytes = 0;
  fallocate_error = ENOSPC;
  cr_assert_eq(say(store_of(plugin), (struct said){0}, NULL, &error), TIDINGS_E_STORE);
  cr_assert(strstr(error.text, "No space left"), "%s", error.text);
  struct got got = tool_result(plugin, "s");
  expect_got(got, "one");
  cr_assert_eq(settle_as(plugin, got.delivery, TIDINGS_COMMITTED, &error), 0, "%s", error.text);
  fallocate_error = 0;
  push(plugin, "s", "two");
  expect_got(tool_result(plugin, "s"), "two");
  plugin_end(plugin);
}

enum { BIG_MESSAGE = 16000, BIG_PUSHES = 300, MOST_PUSHES = 2000, NEWEST_KEPT = 100 };

static int push_big(struct tidings_plugin *plugin, struct tidings_error *error) {
  static char message[BIG_MESSAGE + 1];
  memset(message, 'x', BIG_MESSAGE);
  return event(
      plugin, error,
      "{\"type\":\"notification\",\"session\":\"s\",\"data\":{\"kind\":\"a.b\",\"message\":"
      "\"%s\"}}",
      message);
}

static size_t deliver_all(struct tidings_plugin *plugin) {
  struct tidings_error error = new_error();
  size_t count = 0;
  for (struct got got; (got = tool_result(plugin, "s")).delivery; count += got.count)
    cr_assert_eq(settle_as(plugin, got.delivery, TIDINGS_COMMITTED, &error), 0, "%s", error.text);
  return count;
}

static size_t last_page(struct tidings_plugin *plugin) {
  MDB_envinfo info;
  cr_assert_eq(mdb_env_info(store_of(plugin)->db->env, &info), 0);
  return info.me_last_pgno;
}

/* Old history is deleted and the newest stays, and the file does not use the bytes that are kept
 * for leases and settles. When no more history can be deleted, pushes are refused, and everything
 * pending can be delivered.
 */
Test(growth, on_a_full_disk_history_makes_way_for_pushes, .timeout = 300) {
  struct tidings_plugin *plugin = plugin_at(kit_store, (struct plugin_words){.budget_ms = 60000});
  struct tidings_error error = new_error();
  for (int i = 0; i < BIG_PUSHES; i++) cr_assert_eq(push_big(plugin, &error), 0, "%s", error.text);
  cr_assert_eq(deliver_all(plugin), BIG_PUSHES);
  cr_assert_eq(items_in(store_of(plugin), "s"), BIG_PUSHES);
  size_t before = last_page(plugin), pushed = 0;
  store_of(plugin)->db->reserved_bytes = 0;
  fallocate_error = ENOSPC;
  while (pushed < MOST_PUSHES && !push_big(plugin, &error)) pushed++;
  cr_assert_gt(pushed, 10, "history made way: %s", error.text);
  cr_assert_lt(pushed, MOST_PUSHES, "it comes to an end");
  cr_assert_eq(error.code, TIDINGS_E_STORE);
  cr_assert(strstr(error.text, "No space left"), "%s", error.text);
  cr_assert_geq(items_in(store_of(plugin), "s"), NEWEST_KEPT);
  cr_assert_lt(last_page(plugin) - before, ((size_t)1 << 20) / PAGE, "%zu pages more",
               last_page(plugin) - before);
  cr_assert_eq(deliver_all(plugin), pushed);
  plugin_end(plugin);
}

Test(growth, a_file_system_without_fallocate_will_do) {
  fallocate_error = EOPNOTSUPP;
  struct store *store = store_at(kit_store);
  say_well(store, "s", "one");
  cr_assert_geq(lseek(store->db->data_fd, 0, SEEK_END), 1 << 20);
  store_close(store);
}
