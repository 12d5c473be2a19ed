/* SPDX-License-Identifier: MIT
 *
 * store/db/lmdb/walk_first.c: decides when a store is walked. Only the sole user walks through it,
 * before LMDB opens the file. The walk is left out if the file's inode, time of change and newest
 * transaction are those that the last walk or the last clean close of this boot has noted. A child
 * process walks a large file: the caller waits no longer than its budget, the child continues, and
 * its result is noted for the next call.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <lmdb.h>

#include "common/error.h"
#include "store/db/lmdb/files.h"
#include "store/db/lmdb/walk.h"

#define PORTION_BYTES ((uint64_t)2 << 20)

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
  return !db->shared.is_new && note->inode == entry->st_ino &&
         note->modified_ns == modified_ns(entry) && transaction &&
         atomic_load(&note->transaction) == transaction &&
         memcmp(note->boot_id, db->self.boot_id, sizeof note->boot_id) == 0;
}

bool walk_is_noted_sound(struct db *db, const struct stat *entry, uint64_t transaction) {
  return is_noted(db, entry, transaction) && !note_of(db)->finding[0];
}

/* True: something was read that a sound store cannot have. A page that could not be read (an errno)
 * is never noted, because the next read may succeed, and so may that of another process. */
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

/* -- in portions ------------------------------------------------------------------------------- */

static int refuse_unfinished(const struct db *db, const struct walk *walk,
                             struct tidings_error *error) {
  return fail(error, TIDINGS_E_BUSY,
              "store %s: its file is large and is being checked, once after a restart or a crash "
              "(%u%% so far); nothing was lost, try again",
              db->directory, (unsigned)(walk->place.taken * 100 / (walk->last_page + 1)));
}

/* Each call walks at least one portion, whatever its budget is. If the progress cannot be saved, it
 * walks all portions: otherwise a large store on a full disk could never be opened again. */
static int walk_portions(struct db *db, struct walk *walk, const struct stat *entry,
                         store_deadline deadline, struct tidings_error *error) {
  bool sound;
  walk_go_on(db, walk, entry);
  do {
    walk->most = PORTION_BYTES;
    sound = walk_run(walk);
    if (walk->paused && !store_deadline_left_ms(deadline) && !walk_keep(db, walk, entry))
      return refuse_unfinished(db, walk, error);
  } while (walk->paused);
  walk_forget(db);
  note_result(db, walk, entry, sound);
  return sound ? 0 : refuse_walk(db, walk, error);
}

int walk_first(struct db *db, int fd, store_deadline deadline, struct tidings_error *error) {
  struct walk walk;
  struct stat entry;
  int code = datafile_check_length(db, fd, error); /* says more about a file that is no store */
  if (code) return code;
  if (fstat(fd, &entry))
    return fail(error, TIDINGS_E_STORE, "store %s: data.mdb: %s", db->directory, strerror(errno));
  if (!walk_begin(&walk, fd, datafile_map_bytes())) code = refuse_walk(db, &walk, error);
  else if (is_noted(db, &entry, walk.transaction)) {
    if (note_of(db)->finding[0])
      code = refuse_finding(db, note_of(db)->page, note_of(db)->finding, error);
  } else {
    code = walk_portions(db, &walk, &entry, deadline, error);
  }
  walk_end(&walk);
  return code;
}
