/* SPDX-License-Identifier: MIT
 *
 * open/creation.c: opens stores that other processes have left behind half made, or with lock files
 * of every kind. All of them must open.
 */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit/interpose.h"
#include "open/parts.h"

enum { CALLS_MAX = 1000 };

static uint64_t calls_left;
static bool die_after;

static bool before(struct io_op *op) {
  (void)op;
  if (--calls_left == 0 && !die_after) kill(getpid(), SIGKILL);
  return true;
}

static void after(const struct io_op *op) {
  (void)op;
  if (calls_left == 0 && die_after) kill(getpid(), SIGKILL);
}

static const struct io_watch watch = {.before = before, .after = after};

/* Starts a child that opens the store, pushes token 1, and is killed at its n-th call. Returns
 * whether it was killed. */
static bool killed_at(struct rig *rig, const char *store, uint64_t n, bool is_after,
                      bool *ret_acknowledged) {
  int status, pipes[2];
  char byte = 0;
  if (pipe(pipes) != 0) die("pipe: %s", strerror(errno));
  fflush(NULL);
  pid_t child = fork();
  if (child < 0) die("fork failed");
  if (child == 0) {
    struct tidings_error error = RIG_ERROR;
    calls_left = n;
    die_after = is_after;
    io_watch(&watch);
    int32_t code = rig_open(rig, &(struct rig_open){.store = store}, &error);
    if (code == 0) code = rig_push(rig, "s1", 1, true, NULL, &error);
    io_watch(NULL);
    if (code == 0 && write(pipes[1], "x", 1) != 1) code = TIDINGS_E_STORE;
    _exit(code == 0 ? 0 : 1);
  }
  close(pipes[1]);
  *ret_acknowledged = read(pipes[0], &byte, 1) == 1;
  close(pipes[0]);
  if (waitpid(child, &status, 0) != child) die("waitpid failed");
  if (status != 0 && !WIFSIGNALED(status))
    fail("a new store cannot be opened (call %llu)", (unsigned long long)n);
  return status != 0;
}

static void check_after_kill(struct rig *rig, const char *store, bool acknowledged, uint64_t n) {
  struct tidings_error error = RIG_ERROR;
  struct carried carried = {0};
  int32_t code = rig_open(rig, &(struct rig_open){.store = store}, &error);
  if (code != 0) {
    fail("killed at call %llu, and now it does not open: %s", (unsigned long long)n,
         rig_why(code, &error));
    return;
  }
  code = rig_push(rig, "s1", 2, true, NULL, &error);
  if (code == 0) code = rig_deliver(rig, "s1", RIG_TOOL_RESULT, &carried, &error);
  if (code != 0)
    fail("killed at call %llu, and now: %s", (unsigned long long)n, rig_why(code, &error));
  else if (carried.tokens.count > 2 || carried.tokens.count < (acknowledged ? 2u : 1u))
    fail("killed at call %llu: %zu came", (unsigned long long)n, carried.tokens.count);
  carried_clear(&carried);
  if (rig_close(rig, &error) != 0) fail("close: %s", error.text);
}

void part_creation(const struct arguments *arguments, const char *folder) {
  static struct rig rig;
  uint64_t kills = 0;
  rig_load(&rig, arguments->plugin);
  bool killed = true;
  for (uint64_t n = 1; killed; n++) {
    if (n > CALLS_MAX) die("creation takes more than %d calls", CALLS_MAX);
    for (int is_after = 0; is_after < 2; is_after++) {
      char store[FOLDER_PATH_MAX];
      bool acknowledged;
      folder_join(store, folder, "new/deep/store");
      killed = killed_at(&rig, store, n, is_after, &acknowledged);
      kills += killed;
      check_after_kill(&rig, store, acknowledged, n);
      folder_join(store, folder, "new");
      folder_remove(store);
    }
  }
  if (kills < 20)
    fail("creation makes only %llu calls: the test sees too little", (unsigned long long)kills);
  printf("killed %llu times while the store was made\n", (unsigned long long)kills);
  rig_unload(&rig);
}

static const char *const ways[] = {"empty", "short", "of zeros", "gone"};

static void change(const char *path, unsigned way) {
  static const uint8_t noise[300] = {1, 2, 3, 250, 251, 252}, zeros[8192];
  switch (way) {
  case 0: file_write(path, "", 0); break;
  case 1: file_write(path, noise, sizeof noise); break;
  case 2: file_write(path, zeros, sizeof zeros); break;
  default: unlink(path); break;
  }
}

/* Finds the n-th file of a store besides data.mdb: lock.mdb, or a file that the plugin shares
 * among processes. False: there are not so many. */
static bool nth_other_file(const char *store, unsigned n, char *name, size_t size) {
  DIR *folder = opendir(store);
  if (!folder) die("%s: %s", store, strerror(errno));
  bool found = false;
  for (struct dirent *entry; !found && (entry = readdir(folder));) {
    found = entry->d_type == DT_REG && strcmp(entry->d_name, "data.mdb") != 0 && n-- == 0;
    if (found) snprintf(name, size, "%s", entry->d_name);
  }
  closedir(folder);
  return found;
}

void part_lock_files(const struct arguments *arguments, const char *folder) {
  static struct rig rig;
  char store[FOLDER_PATH_MAX], path[FOLDER_PATH_MAX], name[256], what[300];
  rig_load(&rig, arguments->plugin);
  folder_join(store, folder, "locks");
  bool more = true;
  unsigned files = 0;
  for (; more; files++) {
    for (unsigned way = 0; more && way < sizeof ways / sizeof ways[0]; way++) {
      fill_store(&rig, store);
      more = nth_other_file(store, files, name, sizeof name);
      snprintf(what, sizeof what, "%s is %s", name, ways[way]);
      folder_join(path, store, name);
      if (more) {
        change(path, way);
        expect_whole(&rig, store, what);
      }
      folder_remove(store);
    }
  }
  printf("%u files beside data.mdb\n", files - 1);
  rig_unload(&rig);
}
