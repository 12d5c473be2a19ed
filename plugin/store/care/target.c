/* SPDX-License-Identifier: MIT
 *
 * care/target.c: see the header.
 */
#include "store/care/target.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/error.h"
#include "store/db/lmdb/files.h"

enum { BATCH_BYTES = 8 << 20, PAGES_A_ROW = 3 * 4096 };

/* 0 also if it is not there. */
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

int care_target_begin(struct care_target *target, const char *to, struct tidings_error *error) {
  struct stat entry;
  int code = check_empty(to, error);
  if (code) return code;
  target->path = without_slashes(to);
  if (!target->path || asprintf(&target->aside, "%s.unfinished", target->path) < 0) {
    target->aside = NULL;
    return fail(error, TIDINGS_E_NOMEM, "no memory for the path %s", to);
  }
  if (lstat(target->aside, &entry) == 0) {
    code = fail(error, TIDINGS_E_STATE,
                "%s is there, of a run that was killed or goes on; remove it first", target->aside);
    free(target->aside);
    target->aside = NULL; /* not ours to remove */
    return code;
  }
  const struct store_options options = {
      .directory = target->aside, .create_budget_ms = CARE_BUDGET_MS, .only_reads = true};
  return store_open(&options, &target->store, error);
}

static int commit(struct care_target *target, struct tidings_error *error) {
  struct store_txn *txn = target->txn;
  target->txn = NULL;
  target->bytes = 0;
  return txn ? store_commit(txn, error) : 0;
}

int care_target_txn(struct care_target *target, uint64_t bytes, struct store_txn **ret_txn,
                    struct tidings_error *error) {
  int code = target->bytes > BATCH_BYTES ? commit(target, error) : 0;
  if (!code && !target->txn)
    code = store_write(target->store, NULL, store_deadline_in(CARE_BUDGET_MS), &target->txn, error);
  target->bytes += PAGES_A_ROW + bytes * 2;
  if (!code) code = db_reserve(target->txn->db, target->bytes, error);
  if (!code) *ret_txn = target->txn;
  return code;
}

int care_target_put(struct care_target *target, const struct db_key *key, struct tidings_span value,
                    struct tidings_error *error) {
  struct store_txn *txn = NULL;
  int code = care_target_txn(target, value.len, &txn, error);
  int rc = code ? 0 : db_put(txn->db, key, value);
  return rc ? db_failed(error, rc, "write a record of the copy") : code;
}

/* Only what a store may have, and no folder that has more. */
static void remove_store(const char *path) {
  static const char *const names[] = {"data.mdb", "lock.mdb", "shared"};
  int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  for (size_t i = 0; fd >= 0 && i < sizeof names / sizeof *names; i++)
    (void)unlinkat(fd, names[i], 0);
  if (fd >= 0) close(fd);
  (void)rmdir(path);
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

/* rename puts a folder in the place of an empty one, and of nothing else. */
static int move_to_place(struct care_target *target, struct tidings_error *error) {
  int err = rename(target->aside, target->path) ? errno : 0;
  if (err)
    return fail(error, TIDINGS_E_STATE, "%s cannot be moved to %s: %s", target->aside, target->path,
                strerror(err));
  err = sync_parent(target->path);
  return err ? fail(error, TIDINGS_E_STORE, "%s cannot be synced: %s", target->path, strerror(err))
             : 0;
}

int care_target_end(struct care_target *target, int code, struct tidings_error *error) {
  if (!code) code = commit(target, error);
  store_end(target->txn);
  store_close(target->store);
  if (!code) code = move_to_place(target, error);
  if (code && target->aside) remove_store(target->aside);
  free(target->aside);
  free(target->path);
  return code;
}
