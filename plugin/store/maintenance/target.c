/* SPDX-License-Identifier: MIT
 */
#include "store/maintenance/target.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/error.h"
#include "store/db/lmdb/files.h"

enum { BATCH_BYTES = 8 << 20, PAGES_A_ROW = 3 * 4096 };

/* Returns 0 if the folder is empty or does not exist. */
static int check_empty(const char *to, struct tidings_error *error) {
  DIR *folder = opendir(to);
  if (!folder && errno == ENOENT) return 0;
  if (!folder) return fail(error, TIDINGS_E_STORE, "%s: %s", to, strerror(errno));
  bool empty = true;
  for (struct dirent *entry; empty && (entry = readdir(folder));)
    empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
  closedir(folder);
  return empty ? 0
               : fail(error, TIDINGS_E_STATE,
                      "%s is not empty; name a folder that is not there yet: nothing is "
                      "overwritten",
                      to);
}

static char *without_slashes(const char *path) {
  char *copy = strdup(path);
  for (size_t len = copy ? strlen(copy) : 0; len > 1 && copy[len - 1] == '/'; len--)
    copy[len - 1] = '\0';
  return copy;
}

/* -- what is not finished ---------------------------------------------------------------------- */

/* The file that shows that this folder was made by a run, not by a person. It contains the pid of
 * the process that makes the store; that process keeps it locked. It is removed after the store has
 * been moved to its place; a mark that stays there does no harm. */
static const char mark[] = "unfinished";
static const char *const parts[] = {"data.mdb", "lock.mdb", "shared", "creating", mark};

static bool is_part(const char *name) {
  bool is = strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) is = is || strcmp(name, parts[i]) == 0;
  return is;
}

/* `user` 0: the process is not known. */
static int refuse_user(const char *unfinished, uint32_t user, struct tidings_error *error) {
  if (!user)
    return fail(error, TIDINGS_E_STATE, "%s is just being made by another process; wait for it",
                unfinished);
  return fail(error, TIDINGS_E_STATE, "%s is just being made by process %u; wait for it",
              unfinished, user);
}

/* Makes and locks the mark in a folder that was just made. Returns 0 or an errno; ENOENT or
 * EWOULDBLOCK: another run began to remove the folder before the mark was locked. */
static int make_mark(int directory_fd, int *ret_fd) {
  struct stat info = {.st_nlink = 0};
  int fd = openat(directory_fd, mark, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return errno;
  bool failed =
      dprintf(fd, "%ld\n", (long)getpid()) < 0 || flock(fd, LOCK_EX | LOCK_NB) || fstat(fd, &info);
  int err = failed ? errno : 0;
  if (!err && !info.st_nlink) err = ENOENT;
  if (err) close(fd);
  else *ret_fd = fd;
  return err;
}

static int make_marked(const char *path, int *ret_fd, struct tidings_error *error) {
  int err = mkdir(path, 0700) ? errno : 0;
  bool made = !err;
  int directory = err ? -1 : open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (!err) err = directory < 0 ? errno : make_mark(directory, ret_fd);
  if (directory >= 0) close(directory);
  if (err == EEXIST || err == EWOULDBLOCK || (made && err == ENOENT))
    return refuse_user(path, 0, error);
  if (err && made) (void)rmdir(path);
  return err ? fail(error, TIDINGS_E_STORE, "%s cannot be made: %s", path, strerror(err)) : 0;
}

/* Returns the pid of the process that has locked the mark. 0: there is none, and this process has
 * locked it, until it closes *ret_fd. *ret_fd is -1 if there is no mark. */
static uint32_t maker_of(int directory_fd, int *ret_fd) {
  char pid[16] = "";
  int fd = openat(directory_fd, mark, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  *ret_fd = fd;
  if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return 0;
  return pread(fd, pid, sizeof pid - 1, 0) > 0 ? (uint32_t)strtoul(pid, NULL, 10) : 0;
}

static bool has_only_parts(int directory_fd) {
  int fd = openat(directory_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *folder = fd < 0 ? NULL : fdopendir(fd);
  bool only = folder;
  if (!folder && fd >= 0) close(fd);
  for (struct dirent *entry; only && (entry = readdir(folder));) only = is_part(entry->d_name);
  if (folder) closedir(folder);
  return only;
}

/* Removes the files that an unfinished store may have, and then the folder if it is empty. Returns
 * 0 or an errno. */
static int remove_store(const char *path) {
  int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd >= 0 && has_only_parts(fd)) {
    (void)unlinkat(fd, "creating/data.mdb", 0);
    (void)unlinkat(fd, "creating/lock.mdb", 0);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
      if (unlinkat(fd, parts[i], 0) && errno != ENOENT) (void)unlinkat(fd, parts[i], AT_REMOVEDIR);
  }
  if (fd >= 0) close(fd);
  return rmdir(path) ? errno : 0;
}

/* Removes an unfinished store. A folder without the mark is removed only if it is empty: a run that
 * was killed before it made the mark has left it. Returns 0 or an errno. */
static int remove_unfinished(int directory_fd, const char *path) {
  if (faccessat(directory_fd, mark, F_OK, AT_SYMLINK_NOFOLLOW) == 0) return remove_store(path);
  return rmdir(path) ? errno : 0;
}

/* Removes the unfinished store of a run that was killed. A run that lives has the mark locked. */
static int take_away(const char *unfinished, struct maintenance_report *report,
                     struct tidings_error *error) {
  int marked = -1, alone = -1,
      fd = open(unfinished, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0 && errno == ENOENT) return 0;
  if (fd < 0)
    return fail(error, TIDINGS_E_STATE, "%s is there, and is not a folder; move it away",
                unfinished);
  uint32_t user = maker_of(fd, &marked);
  int code = user ? 0 : shared_alone(fd, unfinished, MAINTENANCE_BUDGET_MS, &alone, &user, error);
  if (!code && user) code = refuse_user(unfinished, user, error);
  else if (!code && remove_unfinished(fd, unfinished))
    code =
        fail(error, TIDINGS_E_STATE,
             "%s is there, and is not what a run that was killed leaves; move it away", unfinished);
  else if (!code) report->took_away = true;
  shared_leave(alone);
  if (marked >= 0) close(marked);
  close(fd);
  return code;
}

int maintenance_target_begin(struct maintenance_target *target, const char *to,
                             struct maintenance_report *report, struct tidings_error *error) {
  char *unfinished = NULL;
  int code = check_empty(to, error);
  if (code) return code;
  target->path = without_slashes(to);
  if (!target->path || asprintf(&unfinished, "%s.unfinished", target->path) < 0)
    return fail(error, TIDINGS_E_NOMEM, "no memory for the path %s", to);
  code = take_away(unfinished, report, error);
  if (!code) code = make_marked(unfinished, &target->mark_fd, error);
  if (code) {
    free(unfinished); /* this run must not remove it */
    return code;
  }
  target->unfinished = unfinished;
  const struct store_options options = {
      .directory = unfinished, .create_budget_ms = MAINTENANCE_BUDGET_MS, .only_reads = true};
  return store_open(&options, &target->store, error);
}

/* -- rows -------------------------------------------------------------------------------------- */

int maintenance_target_commit(struct maintenance_target *target, struct tidings_error *error) {
  struct store_txn *txn = target->txn;
  target->txn = NULL;
  target->bytes = 0;
  return txn ? store_commit(txn, error) : 0;
}

int maintenance_target_txn(struct maintenance_target *target, uint64_t bytes,
                           struct store_txn **ret_txn, struct tidings_error *error) {
  int code = target->bytes > BATCH_BYTES ? maintenance_target_commit(target, error) : 0;
  if (!code && !target->txn)
    code = store_write(target->store, NULL, store_deadline_in(MAINTENANCE_BUDGET_MS), &target->txn,
                       error);
  target->bytes += PAGES_A_ROW + bytes * 2;
  if (!code) code = db_reserve(target->txn->db, target->bytes, error);
  if (!code) *ret_txn = target->txn;
  return code;
}

int maintenance_target_put(struct maintenance_target *target, const struct db_key *key,
                           struct tidings_span value, struct tidings_error *error) {
  struct store_txn *txn = NULL;
  int code = maintenance_target_txn(target, value.len, &txn, error);
  int rc = code ? 0 : db_put(txn->db, key, value);
  return rc ? db_failed(error, rc, "write a record of the copy") : code;
}

static int sync_parent(const char *path) {
  char *copy = strdup(path);
  if (!copy) return ENOMEM;
  char *slash = strrchr(copy, '/');
  if (slash) slash[slash == copy] = '\0';
  int fd = open(slash ? copy : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  int err = fd < 0 || fsync(fd) ? errno : 0;
  if (fd >= 0) close(fd);
  free(copy);
  return err;
}

/* rename replaces only an empty folder. The mark is removed last, so that if this run is killed,
 * the next one recognizes the folder. */
static int move_to_place(struct maintenance_target *target, struct tidings_error *error) {
  char *marked = NULL;
  if (asprintf(&marked, "%s/%s", target->path, mark) < 0)
    return fail(error, TIDINGS_E_NOMEM, "no memory for the path %s", target->path);
  int err = rename(target->unfinished, target->path) ? errno : 0;
  if (!err) (void)unlink(marked);
  free(marked);
  if (err)
    return fail(error, TIDINGS_E_STATE, "%s cannot be moved to %s: %s", target->unfinished,
                target->path, strerror(err));
  err = sync_parent(target->path);
  return err ? fail(error, TIDINGS_E_STORE, "%s cannot be synced: %s", target->path, strerror(err))
             : 0;
}

/* Makes the store complete and flushed, so that it can be moved or copied from now on. */
static int seal(struct store *store, struct tidings_error *error) {
  int code = shared_writer_lock(store->db, store_deadline_in(MAINTENANCE_BUDGET_MS), error);
  if (code) return code;
  int rc = recover_seal(store->db);
  shared_writer_unlock(store->db);
  return rc ? db_failed(error, rc, "finish the copy") : 0;
}

int maintenance_target_end(struct maintenance_target *target, int code,
                           struct tidings_error *error) {
  if (!code) code = maintenance_target_commit(target, error);
  store_end(target->txn);
  if (!code) code = seal(target->store, error);
  store_close(target->store);
  if (!code) code = move_to_place(target, error);
  if (code && target->unfinished) (void)remove_store(target->unfinished);
  if (target->unfinished) close(target->mark_fd);
  free(target->unfinished);
  free(target->path);
  return code;
}
