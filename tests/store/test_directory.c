/* SPDX-License-Identifier: MIT
 *
 * tests/store/test_directory.c: where a store may be, and who may open it: folders, links, modes,
 * file systems, the guard against opening twice.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/libc.h"
#include "kit.h"
#include "store/db/lmdb/engine.h"
#include "store/db/lmdb/files.h"
#include "store/handle.h"

TestSuite(directory, .init = kit_begin, .fini = kit_end);
TestSuite(guard, .init = kit_begin, .fini = kit_end);

static int open_and_close(const char *path, struct tidings_error *error) {
  struct store_options options = {.directory = path, .create_budget_ms = 1000};
  struct store *store;
  int code = store_open(&options, &store, error);
  if (!code) store_close(store);
  return code;
}

#define expect_refused(path, words)                                                                \
  do {                                                                                             \
    struct tidings_error error_ = new_error();                                                     \
    int code_ = open_and_close(path, &error_);                                                     \
    cr_assert_eq(code_, TIDINGS_E_STORE, "%s: %d %s", path, code_, error_.text);                   \
    cr_assert(strstr(error_.text, words), "%s", error_.text);                                      \
  } while (0)
#define expect_opened(path)                                                                        \
  do {                                                                                             \
    struct tidings_error error_ = new_error();                                                     \
    cr_assert_eq(open_and_close(path, &error_), 0, "%s: %s", path, error_.text);                   \
  } while (0)

static unsigned mode_of(const char *path) {
  struct stat entry;
  cr_assert_eq(stat(path, &entry), 0, "%s", path);
  return entry.st_mode & 07777;
}

Test(directory, parents_are_made_for_this_user_alone) {
  (void)umask(0);
  expect_opened(kit_path("a/b//c/"));
  cr_assert_eq(mode_of(kit_path("a")), 0700);
  cr_assert_eq(mode_of(kit_path("a/b")), 0700);
  cr_assert_eq(mode_of(kit_path("a/b/c")), 0700);
  static const char *const files[] = {"a/b/c/data.mdb", "a/b/c/lock.mdb", "a/b/c/shared"};
  for (size_t i = 0; i < 3; i++)
    cr_assert_eq(mode_of(kit_path(files[i])) & 077, 0, "%s is open to others", files[i]);
}

Test(directory, a_relative_path_and_nothing_left_behind) {
  cr_assert_eq(chdir(kit_folder), 0);
  expect_opened("here");
  expect_opened("./here/");
  cr_assert_eq(access("here/data.mdb", F_OK), 0);
  cr_assert_neq(access("here/creating", F_OK), 0);
}

Test(directory, a_url_is_no_folder) {
  static const char *const urls[] = {"postgresql://u:hunter2@h/d", "postgres://u:hunter2@h/d"};
  cr_assert_eq(chdir(kit_folder), 0);
  for (size_t i = 0; i < 2; i++) {
    struct tidings_error error = new_error();
    cr_assert_eq(open_and_close(urls[i], &error), TIDINGS_E_UNSUPPORTED);
    cr_expect(strstr(error.text, "load tidings-postgres.so"), "%s", error.text);
    cr_expect(!strstr(error.text, "hunter2"), "%s", error.text);
  }
  cr_expect_neq(access("postgresql:", F_OK), 0);
  cr_expect_neq(access("postgres:", F_OK), 0);
}

Test(directory, a_link_is_refused_however_it_is_written) {
  expect_opened(kit_store);
  cr_assert_eq(symlink("store", kit_path("link")), 0);
  expect_refused(kit_path("link"), "symbolic link");
  expect_refused(kit_path("link/"), "symbolic link");
  expect_refused(kit_path("link///"), "symbolic link");
  cr_assert_eq(symlink("nowhere", kit_path("dangling")), 0);
  expect_refused(kit_path("dangling"), "symbolic link");
}

Test(directory, a_file_is_refused) {
  int fd = open(kit_path("file"), O_CREAT | O_WRONLY, 0600);
  cr_assert_geq(fd, 0);
  close(fd);
  expect_refused(kit_path("file"), "not a folder");
  expect_refused(kit_path("file/below"), "cannot be made");
}

Test(directory, modes_open_to_others_are_refused) {
  static const unsigned modes[] = {0701, 0704, 0710, 0720, 0740, 0750, 0755, 0770, 0777};
  cr_assert_eq(mkdir(kit_store, 0700), 0);
  for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
    cr_assert_eq(chmod(kit_store, modes[i]), 0);
    expect_refused(kit_store, "chmod 700");
  }
  cr_assert_eq(chmod(kit_store, 0700), 0);
  expect_opened(kit_store);
}

Test(directory, one_with_other_files_is_refused) {
  static const char *const own[] = {"store/logs", "store/waiting", "store/lost+found"};
  cr_assert_eq(mkdir(kit_store, 0700), 0);
  for (size_t i = 0; i < sizeof own / sizeof *own; i++)
    cr_assert_eq(mkdir(kit_path(own[i]), 0700), 0);
  int fd = open(kit_path("store/notes.txt"), O_CREAT | O_WRONLY, 0600);
  cr_assert_geq(fd, 0);
  close(fd);
  expect_refused(kit_store, "has no store but other files, such as \"notes.txt\"");
  cr_expect_neq(access(kit_path("store/shared"), F_OK), 0);
  cr_assert_eq(unlink(kit_path("store/notes.txt")), 0);
  expect_opened(kit_store);
  fd = open(kit_path("store/notes.txt"), O_CREAT | O_WRONLY, 0600); /* it is a store by now */
  cr_assert_geq(fd, 0);
  close(fd);
  expect_opened(kit_store);
}

Test(directory, somebody_elses_is_refused) {
  if (geteuid()) cr_skip_test("only root can give a folder away");
  cr_assert_eq(mkdir(kit_store, 0700), 0);
  cr_assert_eq(chown(kit_store, 12345, (gid_t)-1), 0);
  expect_refused(kit_store, "belongs to user 12345");
}

Test(directory, linked_files_in_it_are_refused) {
  static const char *const names[] = {"data.mdb", "lock.mdb", "shared"};
  for (size_t i = 0; i < 3; i++) {
    char path[400], target[400];
    expect_opened(kit_store);
    (void)snprintf(path, sizeof path, "%s/%s", kit_store, names[i]);
    (void)snprintf(target, sizeof target, "%s/moved", kit_folder);
    cr_assert_eq(rename(path, target), 0);
    cr_assert_eq(symlink(target, path), 0);
    expect_refused(kit_store, names[i]);
    cr_assert_eq(unlink(path), 0);
    cr_assert_eq(mkdir(path, 0700), 0);
    expect_refused(kit_store, names[i]);
    cr_assert_eq(rmdir(path), 0);
    cr_assert_eq(mkfifo(path, 0600), 0);
    expect_refused(kit_store, names[i]);
    cr_assert_eq(unlink(path), 0);
    cr_assert_eq(rename(target, path), 0);
  }
}

/* cp -al, as backups use it: both folders would write one file, each with its own locks. */
Test(directory, hard_linked_files_are_refused) {
  static const char *const names[] = {"data.mdb", "lock.mdb", "shared"};
  expect_opened(kit_store);
  for (size_t i = 0; i < 3; i++) {
    char path[400];
    (void)snprintf(path, sizeof path, "%s/%s", kit_store, names[i]);
    cr_assert_eq(link(path, kit_path("elsewhere")), 0);
    expect_refused(kit_store, names[i]);
    expect_refused(kit_store, "hard link");
    cr_assert_eq(unlink(kit_path("elsewhere")), 0);
    expect_opened(kit_store);
  }
}

#ifdef STATX_NLINK
/* The linker hands the store's call to this. */
static atomic_bool no_statx;
int __wrap_statx(int fd, const char *path, int flags, unsigned mask, struct statx *ret);
int __wrap_statx(int fd, const char *path, int flags, unsigned mask, struct statx *ret) {
  if (!atomic_load(&no_statx)) return (int)syscall(SYS_statx, fd, path, flags, mask, ret);
  errno = EPERM;
  return -1;
}
#endif

static void remove_files_of(const char *store) {
  static const char *const names[] = {"data.mdb", "lock.mdb", "shared"};
  for (size_t i = 0; i < 3; i++) {
    char path[400];
    (void)snprintf(path, sizeof path, "%s/%s", store, names[i]);
    cr_assert_eq(unlink(path), 0);
  }
}

Test(directory, a_store_deleted_while_in_use_takes_nothing_more) {
  struct tidings_error error = new_error();
  struct tidings_plugin *plugin = plugin_at(kit_store, (struct plugin_words){0});
  char id[256];
  size_t len;
  const struct tidings_wake *wake = tidings_entry.get_extension(TIDINGS_EXT_WAKE);
  push(plugin, "s", "one");
  cr_assert_eq(wake->next_session(plugin, id, sizeof id, &len, &error), 0, "%s", error.text);
  remove_files_of(kit_store);
  cr_assert_eq(event(plugin, &error,
                     "{\"type\":\"notification\",\"session\":\"s\",\"data\":{\"kind\":\"a.b\","
                     "\"message\":\"two\"}}"),
               TIDINGS_E_STORE);
  cr_assert(strstr(error.text, "data.mdb was deleted while it was in use"), "%s", error.text);
  cr_assert_eq(tool_result(plugin, "s").code, TIDINGS_E_STORE);
  cr_assert_eq(wake->next_session(plugin, id, sizeof id, &len, &error), TIDINGS_E_STORE);
  cr_assert(strstr(error.text, "close and open again"), "%s", error.text);
  plugin_end(plugin);
  plugin = plugin_at(kit_store, (struct plugin_words){0});
  push(plugin, "s", "three");
  expect_got(tool_result(plugin, "s"), "three");
  cr_assert_eq(plugin->close(plugin, &error), 0, "%s", error.text);
}

#ifdef STATX_NLINK
/* Old sandboxes let no program call statx. */
Test(directory, a_store_deleted_while_in_use_is_noticed_without_statx) {
  struct store *store = store_at(kit_store);
  struct tidings_error error = new_error();
  atomic_store(&no_statx, true);
  say_well(store, "s", "one");
  remove_files_of(kit_store);
  cr_assert_eq(say(store, (struct said){0}, NULL, &error), TIDINGS_E_STORE);
  cr_assert(strstr(error.text, "data.mdb was deleted while it was in use"), "%s", error.text);
  store_close(store);
}
#endif

/* A host that only waits and asks for rings writes nothing, so no refused write reports the
 * loss. */
Test(directory, a_store_deleted_while_in_use_is_noticed_at_a_wake) {
  struct tidings_error error = new_error();
  struct tidings_plugin *plugin = plugin_at(kit_store, (struct plugin_words){0});
  char id[256];
  size_t len;
  int32_t fd = -1;
  const struct tidings_wake *wake = tidings_entry.get_extension(TIDINGS_EXT_WAKE);
  push(plugin, "s", "one");
  cr_assert_eq(wake->descriptor(plugin, &fd, &error), 0, "%s", error.text);
  cr_assert_eq(wake->next_session(plugin, id, sizeof id, &len, &error), 0, "%s", error.text);
  remove_files_of(kit_store);
  for (int i = 0; i < 2; i++) {
    error = new_error();
    cr_assert_eq(wake->next_session(plugin, id, sizeof id, &len, &error), TIDINGS_E_STORE);
    cr_assert(strstr(error.text, "data.mdb was deleted while it was in use"), "%s", error.text);
  }
  plugin_end(plugin);
}

Test(directory, a_store_whose_place_was_taken_takes_nothing_more) {
  struct tidings_error error = new_error();
  struct store *store = store_at(kit_store);
  char aside[400];
  (void)snprintf(aside, sizeof aside, "%s-aside", kit_store);
  say_well(store, "s", "one");
  cr_assert_eq(rename(kit_store, aside), 0);
  say_well(store, "s", "two");
  cr_assert_eq(mkdir(kit_store, 0700), 0);
  cr_assert_eq(say(store, (struct said){0}, NULL, &error), TIDINGS_E_STORE);
  cr_assert(strstr(error.text, "another folder has taken its place"), "%s", error.text);
  store_close(store);
}

Test(directory, network_file_systems_are_known) {
  static const uint64_t remote[] = {0x6969,     0x517b,     0xff534d42, 0xfe534d42, 0x5346414f,
                                    0x01021997, 0x73757245, 0x00c36400, 0x0bd00bd0};
  static const uint64_t local[] = {0xef53 /* ext */,         0x9123683e /* btrfs */,
                                   0x58465342 /* xfs */,     0x01021994 /* tmpfs */,
                                   0x794c7630 /* overlay */, 0x2fc12fc1 /* zfs */,
                                   0x65735546 /* fuse */,    0xf2f52010 /* f2fs */};
  for (size_t i = 0; i < sizeof remote / sizeof *remote; i++)
    cr_assert(directory_is_remote(remote[i]), "%zu", i);
  for (size_t i = 0; i < sizeof local / sizeof *local; i++)
    cr_assert(!directory_is_remote(local[i]), "%zu", i);
  cr_assert(directory_is_remote(0xffffffffff534d42), "as a negative f_type reads");
}

/* Files of a process that died while creating are removed. */
Test(directory, a_half_made_store_is_made_again) {
  cr_assert_eq(mkdir(kit_store, 0700), 0);
  cr_assert_eq(mkdir(kit_path("store/creating"), 0700), 0);
  int fd = open(kit_path("store/creating/data.mdb"), O_CREAT | O_WRONLY, 0600);
  cr_assert_eq(write(fd, "half", 4), 4);
  close(fd);
  expect_opened(kit_store);
  cr_assert_neq(access(kit_path("store/creating"), F_OK), 0);
}

/* Files that are mapped must have all their blocks, or a full disk kills the host at the first
 * touch. A copy may have lost them. */
Test(directory, files_with_holes_are_filled) {
  static const struct {
    const char *name;
    off_t bytes;
  } files[] = {{"store/shared", SHARED_BYTES}, {"store/lock.mdb", 1024 * 64 + 8192}};
  expect_opened(kit_store);
  for (size_t i = 0; i < 2; i++) {
    struct stat entry;
    cr_assert_eq(truncate(kit_path(files[i].name), 0), 0);
    cr_assert_eq(truncate(kit_path(files[i].name), files[i].bytes), 0);
    expect_opened(kit_store);
    cr_assert_eq(stat(kit_path(files[i].name), &entry), 0);
    cr_assert_geq(entry.st_blocks * 512, files[i].bytes, "%s has holes", files[i].name);
  }
}

/* -- the guard --------------------------------------------------------------------------------- */

Test(guard, twice_in_one_process_is_refused_by_whatever_name) {
  struct store *store = store_at(kit_store);
  say_well(store, "s", "one");
  expect_refused(kit_store, "already open in this process");
  cr_assert_eq(symlink(kit_folder, kit_path("parent")), 0);
  expect_refused(kit_path("parent/store"), "already open in this process");
  cr_assert_eq(chdir(kit_folder), 0);
  expect_refused("store", "already open in this process");
  expect_refused("parent/./store/", "already open in this process");
  say_well(store, "s", "two"); /* the refusal has released no lock of the store */
  store_close(store);
  expect_opened(kit_store);
}

static int try_to_open(struct child *self, void *context) {
  (void)self;
  return open_and_close(context, NULL) ? 1 : 0;
}

Test(guard, a_forked_child_is_a_process_of_its_own) {
  struct store *store = store_at(kit_store);
  struct child child = child_start(try_to_open, kit_store);
  cr_assert_eq(child_wait(&child), 0);
  expect_refused(kit_store,
                 "already open in this process"); /* the child's close has not opened the way */
  say_well(store, "s", "one");
  store_close(store);
}

static int open_until_signalled(struct child *self, void *context) {
  struct store *store;
  struct store_options options = {.directory = context, .create_budget_ms = KIT_BUDGET_MS};
  if (store_open(&options, &store, NULL)) return 1;
  child_signal_test(self);
  child_await_test(self);
  store_close(store);
  return 0;
}

Test(guard, the_first_user_is_the_sole_one) {
  struct store *store = store_at(kit_store);
  cr_assert(store->db->shared.sole_user);
  store_close(store);
  struct child child = child_start(open_until_signalled, kit_store);
  child_await(&child);
  store = store_at(kit_store);
  cr_assert(!store->db->shared.sole_user);
  child_kill(&child);
  say_well(store, "s", "one");
  store_close(store);
}

/* Acts as if the other user were in a container, by writing another namespace into the header. */
static int open_from_elsewhere(struct child *self, void *context) {
  struct store *store;
  struct store_options options = {.directory = context, .create_budget_ms = KIT_BUDGET_MS};
  if (store_open(&options, &store, NULL)) return 1;
  store->db->shared.page->pid_namespace++;
  child_signal_test(self);
  child_await_test(self);
  return 0;
}

Test(guard, another_pid_namespace_is_refused_while_it_is_there) {
  struct child child = child_start(open_from_elsewhere, kit_store);
  child_await(&child);
  expect_refused(kit_store, "in use in another PID namespace");
  child_kill(&child);
  expect_opened(kit_store); /* the next sole user writes the header again */
}

/* Acts as if the other user were built with another C library, or for another machine. */
static uint32_t other_kind;
static int open_with_other_locks(struct child *self, void *context) {
  struct store *store;
  struct store_options options = {.directory = context, .create_budget_ms = KIT_BUDGET_MS};
  if (store_open(&options, &store, NULL)) return 1;
  store->db->shared.page->mutex_kind = other_kind;
  child_signal_test(self);
  child_await_test(self);
  return 0;
}

static void expect_locks_refused(uint32_t kind, const char *words) {
  other_kind = kind;
  struct child child = child_start(open_with_other_locks, kit_store);
  child_await(&child);
  expect_refused(kit_store, words);
  child_kill(&child);
  expect_opened(kit_store);
}

Test(guard, another_c_library_or_machine_is_refused_while_it_is_there) {
  uint32_t ours = libc_mutex_kind();
  expect_locks_refused(ours ^ 1u << 16, "whose locks differ from those of");
  expect_locks_refused(ours + 8, "in use by a build for another machine");
}

static int stuck_in_the_gate(struct child *self, void *context) {
  int fd = open(context, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  struct flock gate = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 1};
  if (fd < 0 || fcntl(fd, F_OFD_SETLK, &gate)) return 1;
  child_signal_test(self);
  child_await_test(self);
  return 0;
}

Test(guard, whoever_is_stuck_while_opening_makes_others_busy) {
  struct tidings_error error = new_error();
  struct store_options options = {.directory = kit_store, .create_budget_ms = 50};
  struct store *store;
  char shared[400];
  (void)snprintf(shared, sizeof shared, "%s/shared", kit_store);
  expect_opened(kit_store);
  struct child child = child_start(stuck_in_the_gate, shared);
  child_await(&child);
  cr_assert_eq(store_open(&options, &store, &error), TIDINGS_E_BUSY);
  child_kill(&child);
  expect_opened(kit_store);
}

/* A tool that the host starts must not inherit the store. */
Test(guard, every_descriptor_is_closed_on_exec) {
  struct store *store = store_at(kit_store);
  say_well(store, "s", "one");
  cr_assert_eq(pending_in(store, "s"), 1);
  int seen = 0;
  for (int fd = 3; fd < 256; fd++) {
    char link[64], target[512];
    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t len = readlink(link, target, sizeof target - 1);
    if (len < 0) continue;
    target[len] = '\0';
    if (strncmp(target, kit_folder, strlen(kit_folder)) != 0) continue;
    seen++;
    cr_assert(fcntl(fd, F_GETFD) & FD_CLOEXEC, "%s would be inherited", target);
  }
  cr_assert_geq(seen, 4);
  store_close(store);
}
