/* SPDX-License-Identifier: MIT
 *
 * store/db/lmdb/txn.c: transactions: snapshots, which use a few parked readers; writes, one at a
 * time, with the writer lock; and what counts as stored when a commit fails.
 */
#include <errno.h>
#include <fcntl.h>
#include <lmdb.h>
#include <sys/stat.h>

#include "common/error.h"
#include "store/db/lmdb/files.h"
#include "store/db/lmdb/flush.h"
#include "store/db/lmdb/ring.h"

enum { READER_CHECK_EVERY = 256 };

/* -- the environment may be closed and opened again under env_lock ----------------------------- */

/* Returns with env_lock held for reading and the environment open. */
static int enter_env(struct db *db, store_deadline deadline, struct tidings_error *error) {
  for (;;) {
    pthread_rwlock_rdlock(&db->env_lock);
    if (db->env) return 0;
    pthread_rwlock_unlock(&db->env_lock);
    pthread_rwlock_wrlock(&db->env_lock);
    int code = db->env ? 0 : env_open(db, deadline, error);
    pthread_rwlock_unlock(&db->env_lock);
    if (code) return code;
  }
}

static void leave_env(struct db *db) { pthread_rwlock_unlock(&db->env_lock); }

/* Counts the file's names. It does not ask for the file's times: after such a question Linux notes
 * the exact time at the next write, which on ext4 costs more than this call. */
static int count_links(int fd, uint64_t *ret_count) {
#ifdef STATX_NLINK /* musl has no statx before 1.2.5 */
  struct statx part;
  if (statx(fd, "", AT_EMPTY_PATH, STATX_NLINK, &part) == 0 && part.stx_mask & STATX_NLINK) {
    *ret_count = part.stx_nlink;
    return 0;
  } /* a sandbox may not know the call */
#endif
  struct stat entry;
  if (fstat(fd, &entry)) return errno;
  *ret_count = entry.st_nlink;
  return 0;
}

/* Is another folder now where this one was, as after a backup was restored? A relative path may
 * mean another place by now. The inode numbers of both are read now, because file systems may
 * change them. */
static bool has_successor(const struct db *db) {
  struct stat ours, named;
  return db->directory[0] == '/' && fstat(db->directory_fd, &ours) == 0 &&
         lstat(db->directory, &named) == 0 && S_ISDIR(named.st_mode) &&
         (ours.st_ino != named.st_ino || ours.st_dev != named.st_dev);
}

/* A commit into a deleted file is lost when the last process closes the file, and no process that
 * opens the folder later can see it. The environment is open. */
static int check_linked(const struct db *db, struct tidings_error *error) {
  uint64_t names = 0;
  int reason = count_links(db->data_fd, &names);
  if (reason)
    return fail(error, TIDINGS_E_STORE, "store %s: data.mdb: %s", db->directory, strerror(reason));
  if (names && has_successor(db))
    return fail(error, TIDINGS_E_STORE,
                "store %s: another folder has taken its place while it was in use; close and open "
                "again to use that one",
                db->directory);
  if (names) return datafile_check_lock(db, error);
  return fail(error, TIDINGS_E_STORE,
              "store %s: data.mdb was deleted while it was in use, and what was in it is lost; "
              "close and open again to start empty",
              db->directory);
}

int env_check_linked(struct db *db, struct tidings_error *error) {
  int code = enter_env(db, 0, error);
  if (code) return code;
  code = check_linked(db, error);
  leave_env(db);
  return code;
}

/* -- snapshots --------------------------------------------------------------------------------- */

/* A new reader takes a slot; a parked one has a slot already. */
static int new_snapshot(struct db *db, store_deadline deadline, MDB_txn **ret_txn) {
  int rc = readers_lock(db, deadline);
  if (rc) return rc;
  rc = mdb_txn_begin(db->env, NULL, MDB_RDONLY, ret_txn);
  readers_unlock(db);
  return rc;
}

static int snapshot(struct db *db, store_deadline deadline, MDB_txn **ret_txn) {
  MDB_txn *txn = NULL;
  pthread_mutex_lock(&db->parked_lock);
  if (db->parked_count) txn = db->parked[--db->parked_count];
  pthread_mutex_unlock(&db->parked_lock);
  if (!txn) return new_snapshot(db, deadline, ret_txn);
  int rc = mdb_txn_renew(txn);
  if (rc) mdb_txn_abort(txn);
  else *ret_txn = txn;
  return rc;
}

static void park(struct db *db, MDB_txn *txn) {
  mdb_txn_reset(txn); /* otherwise it would keep all pages that are freed from now on */
  pthread_mutex_lock(&db->parked_lock);
  if (db->parked_count < DB_PARKED_READERS) {
    db->parked[db->parked_count++] = txn;
    txn = NULL;
  }
  pthread_mutex_unlock(&db->parked_lock);
  if (txn) mdb_txn_abort(txn);
}

/* Reads the tree of free pages, which has a record for each transaction that freed pages: their
 * count, then their numbers. A write may take the pages of all transactions but the last one. */
static int count_free_pages(MDB_txn *txn, uint64_t *ret_pages) {
  MDB_val key, value;
  MDB_cursor *cursor;
  uint64_t pages = 0;
  int rc = mdb_cursor_open(txn, 0, &cursor);
  if (rc) return rc;
  while (!(rc = mdb_cursor_get(cursor, &key, &value, MDB_NEXT))) {
    uint64_t freed_in, count;
    memcpy(&freed_in, key.mv_data, sizeof freed_in);
    memcpy(&count, value.mv_data, sizeof count);
    if (freed_in >= mdb_txn_id(txn)) break;
    pages += count;
  }
  mdb_cursor_close(cursor);
  *ret_pages = pages;
  return rc == MDB_NOTFOUND ? 0 : rc;
}

int env_free_pages(struct db *db, uint64_t *ret_pages) {
  MDB_txn *txn = NULL;
  int rc = snapshot(db, 0, &txn);
  if (rc) return rc;
  rc = count_free_pages(txn, ret_pages);
  park(db, txn);
  return rc;
}

/* Reads beside a write of the same thread, which already holds env_lock. */
int db_look_on(const struct db_txn *writing, struct db_txn *ret_txn) {
  MDB_txn *engine = NULL;
  int rc = snapshot(writing->db, 0, &engine);
  if (!rc) *ret_txn = (struct db_txn){.db = writing->db, .engine = engine, .access = DB_LOOKS_ON};
  return rc;
}

int db_read(struct db *db, const struct db_scope *scope, store_deadline deadline,
            struct db_txn *ret_txn, struct tidings_error *error) {
  MDB_txn *engine = NULL;
  (void)scope; /* a snapshot is of the whole store */
  int code = enter_env(db, deadline, error);
  if (code) return code;
  int rc = snapshot(db, deadline, &engine);
  if (rc) {
    leave_env(db);
    return db_failed(error, rc, "begin reading");
  }
  ret_txn->db = db;
  ret_txn->engine = engine;
  ret_txn->access = DB_READS;
  return 0;
}

/* -- the writer -------------------------------------------------------------------------------- */

/* Looks for dead readers now and then, unless another process is doing so. */
static void check_readers(struct db *db) {
  int dead;
  if (++db->commits % READER_CHECK_EVERY || readers_lock(db, 0)) return;
  (void)mdb_reader_check(db->env, &dead);
  readers_unlock(db);
}

/* When LMDB finds that a writer died, it clears the slots of dead readers and shows that writer's
 * commit. This commit has to be written to the disk first; otherwise two commits in a row might be
 * missing there. */
static int begin_writing(struct db *db, store_deadline deadline, MDB_txn **ret_txn) {
  _Atomic uint32_t *died = &db->shared.page->writer_died;
  int rc = atomic_load(&db->shared.page->flushed.bare) ? recover_seal(db) : 0;
  if (rc) return rc;
  if (!atomic_load(died)) return mdb_txn_begin(db->env, NULL, 0, ret_txn);
  rc = readers_lock(db, deadline);
  if (rc) return rc;
  rc = recover_newest(db);
  if (!rc) rc = mdb_txn_begin(db->env, NULL, 0, ret_txn);
  if (!rc) atomic_store(died, 0);
  readers_unlock(db);
  return rc;
}

int env_write(struct db *db, store_deadline deadline, struct db_txn *ret_txn,
              struct tidings_error *error) {
  MDB_txn *engine = NULL;
  int code = enter_env(db, deadline, error);
  if (code) return code;
  code = check_linked(db, error);
  if (code) {
    leave_env(db);
    return code;
  }
  check_readers(db);
  int rc = begin_writing(db, deadline, &engine);
  if (rc) {
    leave_env(db);
    return db_failed(error, rc, "begin writing");
  }
  ret_txn->db = db;
  ret_txn->engine = engine;
  ret_txn->access = DB_WRITES;
  ret_txn->deadline = deadline;
  return 0;
}

/* There is one writer at a time, whatever it touches. */
int db_write(struct db *db, const struct db_scope *scope, store_deadline deadline,
             struct db_txn *ret_txn, struct tidings_error *error) {
  (void)scope;
  int code = shared_writer_lock(db, deadline, error);
  if (code) return code;
  code = env_write(db, deadline, ret_txn, error);
  if (code) shared_writer_unlock(db);
  return code;
}

void db_end(struct db_txn *txn) {
  if (txn->access == DB_WRITES) {
    mdb_txn_abort(txn->engine);
    leave_env(txn->db);
    shared_writer_unlock(txn->db);
    return;
  }
  park(txn->db, txn->engine);
  if (txn->access == DB_READS) leave_env(txn->db);
}

/* -- a commit that failed ---------------------------------------------------------------------- */

/* After a failed commit LMDB may refuse all further work. If the head was not written, the commit
 * does not count. If it was, the disk may have the whole commit, whatever is in the file now, and
 * the success of a second flush would mean nothing, because the kernel may have dropped what the
 * first flush could not write. No other process has written since, because this thread still holds
 * the writer lock. */
static int after_failed_commit(const struct db_txn *txn, size_t id, int rc, bool head_reached,
                               struct tidings_error *error) {
  struct db *db = txn->db;
  const char *reason = mdb_strerror(rc);
  bool stored = false;
  pthread_rwlock_wrlock(&db->env_lock);
  env_close(db);
  if (head_reached) recover_failed(db, id, &stored);
  bool open = !env_open(db, txn->deadline, NULL); /* if not, the next call tries to open it */
  pthread_rwlock_unlock(&db->env_lock);
  if (stored) return 0;
  if (!head_reached) return db_failed(error, rc, "commit; nothing was stored");
  return fail(error, TIDINGS_E_OUTCOME_UNKNOWN,
              "the store failed to commit (%s)%s: outcome unknown; retry with the same id", reason,
              open ? "" : " and cannot be opened again");
}

/* After a failed commit LMDB gives the same number to the next write. The count of failed commits
 * tells apart the rows that have the same number. */
static uint64_t state_number(struct db *db, uint64_t id) {
  enum { FAILED_FROM_BIT = 48 };
  return id | atomic_load_explicit(&db->failed, memory_order_relaxed) << FAILED_FROM_BIT;
}

/* A write finds the rows of the transaction before its own. A snapshot of these rows has that
 * transaction's number. */
struct db_state db_state(const struct db_txn *txn) {
  struct db *db = txn->db;
  bool writes = txn->access == DB_WRITES;
  uint64_t id = mdb_txn_id(txn->engine), found = writes ? id - 1 : id;
  bool ours = found == atomic_load_explicit(&db->committed, memory_order_acquire);
  return (struct db_state){.before = ours ? state_number(db, found) : 0,
                           .after = writes ? state_number(db, id) : 0};
}

static void note_failure(struct db *db) {
  atomic_store_explicit(&db->committed, 0, memory_order_release);
  atomic_fetch_add_explicit(&db->failed, 1, memory_order_relaxed);
}

/* A write that changed nothing uses no number. */
static int note_commit(struct db *db, size_t id, const struct flush *flush) {
  MDB_envinfo info;
  if (mdb_env_info(db->env, &info) || info.me_last_txnid != id) return 0;
  int rc = flush_missed_head(flush) ? recover_seal(db) : 0;
  if (rc) return rc;
  recover_note_flushed(db, id);
  atomic_store_explicit(&db->committed, id, memory_order_release);
  return 0;
}

/* *ret_head_reached: a part of the head may have been written, although the commit failed. */
static int commit_engine(struct db *db, MDB_txn *engine, size_t id, bool *ret_head_reached) {
  struct flush flush;
  int rc = flush_commit_begin(&flush, db->data_fd, db->page_bytes, id,
                              atomic_load(&db->shared.page->flushed.transaction));
  *ret_head_reached = false;
  if (rc) {
    mdb_txn_abort(engine);
  } else {
    rc = mdb_txn_commit(engine);
    flush_commit_end(&flush);
    *ret_head_reached = flush.head_reached;
    if (!rc) rc = note_commit(db, id, &flush);
  }
  if (rc) note_failure(db);
  return rc;
}

/* *ret_trouble: what LMDB said; NULL: it committed at once. */
static int commit_rows(struct db_txn *txn, const char **ret_trouble, struct tidings_error *error) {
  size_t id = mdb_txn_id(txn->engine);
  bool head_reached;
  int rc = commit_engine(txn->db, txn->engine, id, &head_reached);
  leave_env(txn->db);
  *ret_trouble = rc ? mdb_strerror(rc) : NULL;
  return rc ? after_failed_commit(txn, id, rc, head_reached, error) : 0;
}

/* Changes the counters and rings, and calls the waiters, before the commit and after it. If this
 * process dies in between, a waiter that was called before the commit looks again until the counter
 * is even. */
int db_commit(struct db_txn *txn, struct tidings_error *error) {
  struct db *db = txn->db;
  const char *trouble;
  shared_changes_begin(db, txn->touched, txn->touched_count);
  if (txn->ringing) {
    rings_begin(txn);
    waiters_call(db, txn);
  }
  int code = commit_rows(txn, &trouble, error);
  shared_changes_end(db, txn->touched, txn->touched_count);
  if (txn->ringing) rings_end(txn);
  shared_writer_unlock(db);
  if (txn->ringing) waiters_call(db, txn);
  if (trouble) { /* the host's log is called only now, when no thread waits for this one */
    db_log(db, code ? TIDINGS_LOG_ERROR : TIDINGS_LOG_WARNING, "store: a commit failed: %s; %s",
           trouble, code ? "it was refused" : "it was stored after all");
  }
  return code;
}
