/* SPDX-License-Identifier: MIT
 *
 * store/db/lmdb/walk_first.c: when a store is walked, and by whom. Only the sole user walks, before
 * LMDB opens the file; not if the file's inode, time of change and newest transaction are those
 * that the last walk or the last clean close of this boot recorded. A child process walks a large
 * file: its caller waits no longer than its budget, the child continues, and its result is recorded
 * for the next call.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <lmdb.h>

#include "common/error.h"
#include "common/libc.h"
#include "store/db/lmdb/files.h"
#include "store/db/lmdb/walk.h"

#define LARGE_FILE_BYTES ((uint64_t)64 << 20)

static struct walk_note *note_of(struct db *db) { return &db->shared.page->walked; }

/* -- the note ---------------------------------------------------------------------------------- */

static int64_t modified_ns(const struct stat *entry) {
  return entry->st_mtim.tv_sec * INT64_C(1000000000) + entry->st_mtim.tv_nsec;
}

static void write_note(struct db *db, const struct stat *entry, uint64_t transaction) {
  struct walk_note *note = note_of(db);
  atomic_store(&note->transaction, 0);
  memcpy(note->boot_id, db->self.boot_id, sizeof note->boot_id);
  note->inode = entry->st_ino;
  note->modified_ns = modified_ns(entry);
  note->page = 0;
  note->finding[0] = '\0';
  atomic_store(&note->transaction, transaction);
}

static bool is_noted(struct db *db, const struct stat *entry, uint64_t transaction) {
  const struct walk_note *note = note_of(db);
  return !db->shared.anew && note->inode == entry->st_ino &&
         note->modified_ns == modified_ns(entry) && transaction &&
         atomic_load(&note->transaction) == transaction &&
         memcmp(note->boot_id, db->self.boot_id, sizeof note->boot_id) == 0;
}

bool walk_is_noted_sound(struct db *db, const struct stat *entry, uint64_t transaction) {
  return is_noted(db, entry, transaction) && !note_of(db)->finding[0];
}

/* Something was read that cannot be. What an errno kept from being read may be fine the next time,
 * and for others: that is never noted. */
static bool is_finding(const struct walk *walk) { return walk->finding && !walk->err; }

static void note_result(struct db *db, const struct walk *walk, const struct stat *entry,
                        bool sound) {
  struct walk_note *note = note_of(db);
  if (!sound && !is_finding(walk)) return;
  write_note(db, entry, walk->transaction);
  if (sound) return;
  note->page = walk->page;
  (void)snprintf(note->finding, sizeof note->finding, "%s", walk->finding);
}

void walk_note_clean(struct db *db) {
  MDB_envinfo info;
  struct stat entry;
  if (!db->env || mdb_env_info(db->env, &info) || fstat(db->data_fd, &entry)) return;
  write_note(db, &entry, info.me_last_txnid);
}

/* -- what was found ---------------------------------------------------------------------------- */

static int refuse_finding(const struct db *db, uint64_t page, const char *finding,
                          struct tidings_error *error) {
  return fail(
      error, TIDINGS_E_STORE,
      "store %s: data.mdb is damaged: page %llu %s; recover what is left with 'tidings store "
      "salvage %s NEW', or restore it from a backup",
      db->directory, (unsigned long long)page, finding, db->directory);
}

static int refuse_walk(const struct db *db, const struct walk *walk, struct tidings_error *error) {
  if (walk->err == ENOMEM)
    return fail(error, TIDINGS_E_NOMEM, "store %s: no memory to check data.mdb", db->directory);
  if (walk->err)
    return fail(error, TIDINGS_E_STORE,
                "store %s: data.mdb cannot be read: %s; recover what is left with 'tidings store "
                "salvage %s NEW', or restore it from a backup",
                db->directory, strerror(walk->err), db->directory);
  return refuse_finding(db, walk->page, walk->finding, error);
}

static int walk_here(struct db *db, struct walk *walk, const struct stat *entry,
                     struct tidings_error *error) {
  bool sound = walk_run(walk);
  note_result(db, walk, entry, sound);
  return sound ? 0 : refuse_walk(db, walk, error);
}

/* -- a large file ------------------------------------------------------------------------------ */

/* The child outlives the call, perhaps: it must not hold what its host has open. */
static void keep_only(const int *kept, size_t count) {
  int from = 0;
  for (size_t i = 0; i < count; i++) {
    if (kept[i] > from) libc_close_range((unsigned)from, (unsigned)kept[i] - 1);
    from = kept[i] + 1;
  }
  libc_close_range((unsigned)from, ~0u);
}

static int compare_ints(const void *a, const void *b) {
  const int *left = a, *right = b;
  return *left < *right ? -1 : *left > *right;
}

/* In a child of a child, which nobody waits for. It has the gate as long as it lives, because the
 * lock is that of the open file which it shares. */
static void walk_as_child(struct db *db, struct walk *walk, const struct stat *entry, int answer) {
  int kept[] = {walk->fd, answer, db->shared.fd};
  qsort(kept, sizeof kept / sizeof *kept, sizeof *kept, compare_ints);
  keep_only(kept, sizeof kept / sizeof *kept);
  char sound = (char)walk_run(walk);
  note_result(db, walk, entry, sound);
  if (sound || is_finding(walk)) (void)!write(answer, &sound, 1);
  _exit(0);
}

/* Returns the end of a pipe that says a byte when it is done, or -1 with errno. */
static int start_child(struct db *db, struct walk *walk, const struct stat *entry) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC)) return -1;
  pid_t child = fork();
  if (child == 0) {
    if (fork() == 0) walk_as_child(db, walk, entry, ends[1]);
    _exit(0);
  }
  int err = child < 0 ? errno : 0;
  while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR) {}
  close(ends[1]);
  if (!err) return ends[0];
  close(ends[0]);
  errno = err;
  return -1;
}

static int wait_for_child(struct db *db, int answer, store_deadline deadline,
                          struct tidings_error *error) {
  const struct walk_note *note = note_of(db);
  struct pollfd ready = {.fd = answer, .events = POLLIN};
  char sound = 0;
  while (poll(&ready, 1, store_deadline_left_ms(deadline)) < 0 && errno == EINTR) {}
  if (!ready.revents)
    return fail(error, TIDINGS_E_BUSY,
                "store %s: its file is large and is being checked, once after a restart or a "
                "crash; nothing was lost, try again",
                db->directory);
  if (read(answer, &sound, 1) != 1)
    return fail(error, TIDINGS_E_STORE, "store %s: data.mdb could not be checked; try again",
                db->directory);
  return sound ? 0 : refuse_finding(db, note->page, note->finding, error);
}

static int walk_large(struct db *db, struct walk *walk, const struct stat *entry,
                      store_deadline deadline, struct tidings_error *error) {
  int answer = start_child(db, walk, entry);
  if (answer < 0) return walk_here(db, walk, entry, error);
  int code = wait_for_child(db, answer, deadline, error);
  close(answer);
  return code;
}

int walk_first(struct db *db, store_deadline deadline, struct tidings_error *error) {
  struct walk walk;
  struct stat entry;
  int code = datafile_check(db, error); /* which says more of what is no store of ours at all */
  if (code) return code;
  int fd = openat(db->directory_fd, "data.mdb", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0 || fstat(fd, &entry)) {
    int err = errno;
    if (fd >= 0) close(fd);
    return fail(error, TIDINGS_E_STORE, "store %s: data.mdb: %s", db->directory, strerror(err));
  }
  if (!walk_begin(&walk, fd, datafile_map_bytes())) code = refuse_walk(db, &walk, error);
  else if (is_noted(db, &entry, walk.transaction)) {
    if (note_of(db)->finding[0])
      code = refuse_finding(db, note_of(db)->page, note_of(db)->finding, error);
  } else if (walk.last_page < LARGE_FILE_BYTES / walk.page_bytes) {
    code = walk_here(db, &walk, &entry, error);
  } else {
    code = walk_large(db, &walk, &entry, deadline, error);
  }
  walk_end(&walk);
  close(fd);
  return code;
}
