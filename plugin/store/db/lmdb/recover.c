/* SPDX-License-Identifier: MIT
 *
 * store/db/lmdb/recover.c: repairs commits that were cut off or may not be on the disk yet. After a
 * power cut a part of the newest commit may be missing: its head is given up, and the head before
 * it counts. After a kill or a failed flush the newest commit is whole in the kernel's memory, but
 * perhaps not on the disk: it is written again before the next commit.
 *
 * The file `shared` notes the newest transaction whose flush has returned. It is noted before the
 * push or settle returns, so no caller knows of a newer transaction.
 */
#include <errno.h>
#include <fcntl.h>
#include <lmdb.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/error.h"
#include "store/db/lmdb/files.h"
#include "store/db/lmdb/heads.h"

static struct flush_note *flush_note_of(const struct db *db) { return &db->shared.page->flushed; }

static uint64_t page_size(void) { return (uint64_t)sysconf(_SC_PAGESIZE); }

/* -- at the first open ------------------------------------------------------------------------- */

static bool is_of_this_file(const struct db *db, const struct stat *entry) {
  const struct flush_note *note = flush_note_of(db);
  return !db->shared.is_new && note->inode == entry->st_ino &&
         memcmp(note->boot_id, db->self.boot_id, sizeof note->boot_id) == 0;
}

static void write_flush_note(struct db *db, const struct stat *entry, uint64_t transaction,
                             bool bare) {
  struct flush_note *note = flush_note_of(db);
  atomic_store(&note->transaction, 0);
  atomic_store(&note->marked, 0);
  atomic_store(&note->bare, bare);
  memcpy(note->boot_id, db->self.boot_id, sizeof note->boot_id);
  note->inode = entry->st_ino;
  atomic_store(&note->transaction, transaction);
}

static int refuse_io(const struct db *db, int err, const char *what, struct tidings_error *error) {
  char how[160];
  if (err == ENOMEM)
    return fail(error, TIDINGS_E_NOMEM, "store %s: no memory to check data.mdb", db->directory);
  (void)snprintf(how, sizeof how, "cannot be %s: %s", what, strerror(err));
  return datafile_refuse(db, error, how);
}

static int refuse_heads(struct db *db, unsigned newest, struct tidings_error *error) {
  char how[160];
  int code = datafile_check(db, error); /* says more about a file that was cut short */
  if (code) return code;
  (void)snprintf(how, sizeof how,
                 "is damaged: page %u is a head whose commit is not as it was written", newest);
  return datafile_refuse(db, error, how);
}

/* Flushes the newest commit if nobody has noted in this boot that it was flushed. Unless a process
 * of this boot wrote its pages, they were read from the disk. */
static int make_durable(const struct heads *heads, unsigned newest, bool written_here) {
  bool right = heads->head[newest].state == HEAD_RIGHT;
  if (written_here && right) return heads_write_again(heads, newest);
  return fdatasync(heads->fd) ? errno : 0;
}

static int act_on(struct db *db, const struct heads *heads, const struct heads_verdict *verdict,
                  bool written_here) {
  uint64_t transaction = heads->head[verdict->counts].transaction;
  int err = 0;
  if (verdict->judgement != HEADS_CUT && transaction > verdict->flushed)
    err = make_durable(heads, verdict->counts, written_here);
  if (!err && (verdict->judgement == HEADS_CUT || verdict->judgement == HEADS_SPOILED))
    err = heads_repair(heads, verdict);
  if (!err && verdict->judgement == HEADS_CUT) db->given_up = transaction + 1;
  return err;
}

static int recover_file(struct db *db, int fd, const struct stat *entry,
                        struct tidings_error *error) {
  bool ours = is_of_this_file(db, entry);
  uint64_t flushed = ours ? atomic_load(&flush_note_of(db)->transaction) : 0;
  struct heads_verdict verdict;
  struct heads heads;
  int err = heads_read(&heads, fd, page_size(), datafile_map_bytes());
  uint64_t newest = err ? 0 : heads.head[heads_newest(&heads)].transaction;
  if (!err) err = heads_judge(&heads, flushed, walk_is_noted_sound(db, entry, newest), &verdict);
  if (err) return refuse_io(db, err, "read", error);
  if (verdict.judgement == HEADS_UNKNOWN) return 0; /* the checks that follow refuse it */
  if (verdict.judgement == HEADS_DAMAGED) return refuse_heads(db, verdict.newest, error);
  err = act_on(db, &heads, &verdict, ours);
  if (err) return refuse_io(db, err, "written", error);
  write_flush_note(db, entry, heads.head[verdict.counts].transaction,
                   verdict.judgement == HEADS_BARE);
  return 0;
}

/* Accepts a file that belongs to no store: the checks that follow refuse it, and say more about
 * it. */
int recover_first(struct db *db, int fd, struct tidings_error *error) {
  struct stat entry;
  return fstat(fd, &entry) ? 0 : recover_file(db, fd, &entry, error);
}

uint64_t recover_noted(int directory_fd, int data_fd) {
  struct owner self;
  struct stat entry;
  struct shared_page page;
  int fd = openat(directory_fd, "shared", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return 0;
  bool known = shared_read_page(fd, &page) && !fstat(data_fd, &entry) &&
               !owner_of_process(0, &self) && page.flushed.inode == entry.st_ino &&
               memcmp(page.flushed.boot_id, self.boot_id, sizeof self.boot_id) == 0;
  close(fd);
  return known ? atomic_load(&page.flushed.transaction) : 0;
}

/* -- in use ------------------------------------------------------------------------------------ */

void recover_note_flushed(struct db *db, uint64_t transaction) {
  atomic_store(&flush_note_of(db)->transaction, transaction);
}

int recover_newest(struct db *db) {
  struct heads heads;
  int err = heads_read(&heads, db->data_fd, db->page_bytes, datafile_map_bytes());
  if (err) return err;
  unsigned newest = heads_newest(&heads);
  uint64_t transaction = heads.head[newest].transaction;
  if (transaction <= atomic_load(&flush_note_of(db)->transaction)) return 0;
  if (heads.head[newest].state != HEAD_RIGHT) return MDB_CORRUPTED;
  err = heads_write_again(&heads, newest);
  if (!err) recover_note_flushed(db, transaction);
  return err;
}

/* When LMDB cannot write a head, it writes the old head back. If that fails as well, the file has
 * the new commit, which then has to be written to the disk or given up. */
static bool settle_failed(struct db *db, int fd, uint64_t transaction) {
  struct heads heads;
  if (heads_read(&heads, fd, db->page_bytes, datafile_map_bytes())) return false;
  unsigned newest = heads_newest(&heads);
  if (heads.head[newest].transaction < transaction) return false;
  if (heads.head[newest].state == HEAD_RIGHT && !heads_write_again(&heads, newest)) return true;
  const struct heads_verdict verdict = {.counts = 1 - newest};
  (void)heads_repair(&heads, &verdict);
  return false;
}

void recover_failed(struct db *db, uint64_t transaction, bool *ret_stored) {
  int fd = openat(db->directory_fd, "data.mdb", O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  bool stored = fd >= 0 && settle_failed(db, fd, transaction);
  if (fd >= 0) close(fd);
  if (stored) recover_note_flushed(db, transaction);
  else atomic_store(&db->shared.page->writer_died, 1); /* the next writer recovers first */
  *ret_stored = stored;
}

int recover_seal(struct db *db) {
  struct heads heads;
  int err = heads_read(&heads, db->data_fd, db->page_bytes, datafile_map_bytes());
  unsigned newest = err ? 0 : heads_newest(&heads);
  if (!err && heads.head[1 - newest].state == HEAD_LOST) err = MDB_CORRUPTED;
  if (!err && fdatasync(db->data_fd)) err = errno;
  if (!err) err = heads_seal(&heads, newest);
  if (!err) atomic_store(&flush_note_of(db)->bare, 0);
  return err;
}

/* Notes in the file that the newest commit is flushed, so that damage of it is not taken for a
 * power cut after a restart. */
void recover_note_clean(struct db *db) {
  struct flush_note *note = flush_note_of(db);
  struct heads heads;
  if (!db->env || !atomic_load(&db->committed) || !shared_writer_try(db)) return;
  uint64_t flushed = atomic_load(&note->transaction);
  if (!atomic_load(&db->shared.page->writer_died) && atomic_load(&note->marked) != flushed &&
      !heads_read(&heads, db->data_fd, db->page_bytes, datafile_map_bytes())) {
    unsigned newest = heads_newest(&heads);
    if (heads.head[newest].transaction == flushed) heads_mark_flushed(&heads, newest);
    atomic_store(&note->marked, flushed);
  }
  shared_writer_unlock(db);
}
