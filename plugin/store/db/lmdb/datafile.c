/* SPDX-License-Identifier: MIT
 *
 * store/db/lmdb/datafile.c: checks LMDB's files before LMDB opens them, and reserves space for what
 * is written. LMDB maps them, so a file that is cut short or a full disk would kill the host by
 * SIGBUS instead of returning an error; and a crash while LMDB creates its file leaves one that
 * never opens again.
 */
#include <errno.h>
#include <fcntl.h>
#include <lmdb.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/buffer.h"
#include "common/error.h"
#include "store/db/lmdb/files.h"
#include "store/db/lmdb/heads.h"
#include "store/db/lmdb/page.h"

/* The size of the map is large and never changes, and the file is sparse: growing a map breaks
 * other processes, and in a full map not even deleting is possible. Long before that, quotas answer
 * FULL. */
#define MAP_BYTES ((size_t)16 << 30)
/* Rows may take this much of the map. */
#define ROWS_BYTES (MAP_BYTES / 4 * 3)
/* These bytes are kept free for leases and settles when the disk is full. Each needs a few pages,
 * which the next one uses again. */
#define HEADROOM_BYTES ((uint64_t)1 << 20)
/* Each reader takes a cache line. LMDB's header before the readers is much smaller than 4 KiB. */
#define LOCKFILE_BYTES ((off_t)(STORE_MAX_READERS * 64 + 8192))

int datafile_refuse(const struct db *db, struct tidings_error *error, const char *how) {
  return fail(error, TIDINGS_E_STORE,
              "store %s: data.mdb %s; recover what is left with 'tidings store salvage %s NEW', or "
              "restore it from a backup",
              db->directory, how, db->directory);
}

static int read_meta(const struct db *db, int fd, off_t at, uint8_t *ret_page,
                     struct tidings_error *error) {
  ssize_t len = pread(fd, ret_page, HEAD_BYTES, at);
  if (len < 0) {
    char how[128];
    (void)snprintf(how, sizeof how, "cannot be read: %s", strerror(errno));
    return datafile_refuse(db, error, how);
  }
  if (len < HEAD_BYTES) return datafile_refuse(db, error, "is cut short");
  if (page_u32(ret_page, HEAD_MAGIC_AT) != HEAD_MAGIC || page_u32(ret_page, HEAD_VERSION_AT) != 1)
    return datafile_refuse(db, error, "is not an LMDB file, or its head is damaged");
  return 0;
}

int datafile_check_length(struct db *db, int fd, struct tidings_error *error) {
  uint8_t page[HEAD_BYTES];
  struct stat entry;
  int code = read_meta(db, fd, 0, page, error);
  if (code) return code;
  uint64_t page_bytes = page_u32(page, HEAD_PAGE_BYTES_AT),
           last = page_u64(page, HEAD_LAST_PAGE_AT);
  if (page_bytes < 512 || page_bytes > 65536 || page_bytes & (page_bytes - 1))
    return datafile_refuse(db, error, "has a damaged head");
  if (page_bytes != (uint64_t)sysconf(_SC_PAGESIZE))
    return datafile_refuse(db, error, "was made on a machine with another page size");
  if (page_u64(page, HEAD_MAP_AT) != MAP_BYTES)
    return datafile_refuse(db, error, "was not made by tidings: its map size differs");
  code = read_meta(db, fd, (off_t)page_bytes, page, error);
  if (code) return code;
  if (page_u64(page, HEAD_LAST_PAGE_AT) > last) last = page_u64(page, HEAD_LAST_PAGE_AT);
  /* The length is read after the pages, because a writer in another process extends the file before
   * it writes pages. */
  if (fstat(fd, &entry))
    return fail(error, TIDINGS_E_STORE, "store %s: data.mdb: %s", db->directory, strerror(errno));
  if (last >= MAP_BYTES / page_bytes || last >= (uint64_t)entry.st_size / page_bytes)
    return datafile_refuse(db, error, "is cut short");
  db->page_bytes = page_bytes;
  return 0;
}

/* Opens the file for reading and writing first, so that overlayfs copies it to the upper layer once
 * for all descriptors. */
static int open_regular(struct db *db, const char *name, int *ret_fd, struct tidings_error *error) {
  struct stat entry;
  int fd = openat(db->directory_fd, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0 && errno == ENOENT) {
    *ret_fd = -1;
    return 0;
  }
  if (fd < 0) return directory_file_refused(db->directory, name, errno, error);
  if (fstat(fd, &entry) || !S_ISREG(entry.st_mode) || entry.st_uid != geteuid()) {
    close(fd);
    return fail(error, TIDINGS_E_STORE, "store %s: %s is not a file that you own; move it away",
                db->directory, name);
  }
  if (entry.st_nlink > 1) {
    close(fd);
    return fail(error, TIDINGS_E_STORE,
                "store %s: %s is also in another folder (a hard link, as 'cp -al' makes it): two "
                "stores in one file destroy each other; copy the folder with 'cp -a', and use "
                "the copy",
                db->directory, name);
  }
  *ret_fd = fd;
  return 0;
}

int datafile_open(struct db *db, int *ret_fd, struct tidings_error *error) {
  int fd = -1;
  int code = open_regular(db, "data.mdb", &fd, error);
  if (code) return code;
  if (fd < 0)
    return fail(error, TIDINGS_E_STORE,
                "store %s: data.mdb was removed; close and open again to start empty",
                db->directory);
  *ret_fd = fd;
  return 0;
}

int datafile_check(struct db *db, struct tidings_error *error) {
  int fd = -1;
  int code = datafile_open(db, &fd, error);
  if (code) return code;
  code = datafile_check_length(db, fd, error);
  close(fd);
  return code;
}

/* A copied file may have the right length and still lack blocks. */
bool datafile_has_holes(const struct stat *entry, off_t bytes) {
  return entry->st_size < bytes || entry->st_blocks * 512 < bytes;
}

int datafile_prepare_lock(struct db *db, struct tidings_error *error) {
  struct stat entry;
  int fd = -1;
  int code = open_regular(db, "lock.mdb", &fd, error);
  if (code) return code;
  if (fd < 0)
    fd = openat(db->directory_fd, "lock.mdb", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0)
    return fail(error, TIDINGS_E_STORE, "store %s: lock.mdb cannot be made: %s", db->directory,
                strerror(errno));
  int err = fstat(fd, &entry) ? errno : 0;
  if (!err) atomic_store(&db->shared.page->lock_inode, entry.st_ino);
  if (!err && datafile_has_holes(&entry, LOCKFILE_BYTES))
    err = posix_fallocate(fd, 0, LOCKFILE_BYTES);
  close(fd);
  return err ? fail(error, TIDINGS_E_STORE,
                    "store %s: no room for its file lock.mdb: %s; free some space", db->directory,
                    strerror(err))
             : 0;
}

static int lock_inode(const struct db *db, uint64_t *ret_inode) {
#ifdef STATX_INO /* does not ask for times: see count_links in txn.c */
  struct statx part;
  if (statx(db->directory_fd, "lock.mdb", AT_SYMLINK_NOFOLLOW, STATX_INO, &part) == 0) {
    *ret_inode = part.stx_ino;
    return 0;
  }
  if (errno == ENOENT) return errno;
#endif
  struct stat entry;
  if (fstatat(db->directory_fd, "lock.mdb", &entry, AT_SYMLINK_NOFOLLOW)) return errno;
  *ret_inode = entry.st_ino;
  return 0;
}

int datafile_check_lock(const struct db *db, struct tidings_error *error) {
  uint64_t inode = 0;
  int err = lock_inode(db, &inode);
  if (err && err != ENOENT)
    return fail(error, TIDINGS_E_STORE, "store %s: lock.mdb: %s", db->directory, strerror(err));
  if (!err && inode == atomic_load(&db->shared.page->lock_inode)) return 0;
  return fail(error, TIDINGS_E_STORE,
              "store %s: lock.mdb was deleted or replaced while the store was in use, and nothing "
              "keeps two processes from writing at the same time; end all processes that use it, "
              "and try again",
              db->directory);
}

uint64_t datafile_map_bytes(void) { return MAP_BYTES; }

static int make_environment(const char *path, const struct db_key *key, struct tidings_span value) {
  struct db_key first = *key;
  MDB_val k = {DB_KEY_BYTES, first.bytes}, v = {value.len, (void *)(uintptr_t)value.ptr};
  MDB_env *env;
  MDB_txn *txn = NULL;
  MDB_dbi tree;
  int rc = mdb_env_create(&env);
  if (rc) return rc;
  rc = mdb_env_set_mapsize(env, MAP_BYTES);
  if (!rc) rc = mdb_env_open(env, path, MDB_NOTLS | MDB_NOLOCK, 0600);
  if (!rc) rc = mdb_txn_begin(env, NULL, 0, &txn);
  if (!rc) rc = mdb_dbi_open(txn, NULL, 0, &tree);
  if (!rc) rc = mdb_put(txn, tree, &k, &v, 0);
  if (!rc) {
    rc = mdb_txn_commit(txn);
    txn = NULL;
  }
  if (txn) mdb_txn_abort(txn);
  mdb_env_close(env);
  return rc;
}

/* Writes digests into both heads, and syncs the file. */
static int finish_file(int directory_fd, const char *name) {
  struct heads heads;
  int fd = openat(directory_fd, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return errno;
  int err = heads_read(&heads, fd, (uint64_t)sysconf(_SC_PAGESIZE), MAP_BYTES);
  if (!err) err = heads_seal(&heads, heads_newest(&heads));
  if (!err && fsync(fd)) err = errno;
  close(fd);
  return err;
}

enum { DEEPEST = 16 }; /* folders above the store */
static const char creating[] = "creating", creating_file[] = "creating/data.mdb";

static void remove_creating(const struct db *db) {
  (void)unlinkat(db->directory_fd, creating_file, 0);
  (void)unlinkat(db->directory_fd, "creating/lock.mdb", 0);
  (void)unlinkat(db->directory_fd, creating, AT_REMOVEDIR);
}

/* Syncs the folders above the store that belong to this user, because the process that made them
 * may have been killed before it synced them. */
static int sync_ancestors(const struct db *db) {
  struct stat entry;
  int err = 0, fd = openat(db->directory_fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  for (int depth = 0; fd >= 0 && !err && depth < DEEPEST; depth++) {
    if (fstat(fd, &entry) || fsync(fd)) err = errno;
    int above = err || entry.st_uid != geteuid()
                    ? -1
                    : openat(fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    close(fd);
    fd = above;
  }
  if (fd >= 0) close(fd);
  return err;
}

static int make_datafile(struct db *db, const struct db_options *options) {
  char path[64];
  struct buffer value = BUFFER_EMPTY;
  (void)snprintf(path, sizeof path, "/proc/self/fd/%d/%s", db->directory_fd, creating);
  remove_creating(db); /* left by a process that died here; the gate keeps others out */
  int err = options->first_value(options->first_context, false, &value) ? ENOMEM : 0;
  if (!err && mkdirat(db->directory_fd, creating, 0700)) err = errno;
  if (!err) err = make_environment(path, &options->first, buffer_view(&value));
  buffer_free(&value);
  if (!err) err = finish_file(db->directory_fd, creating_file);
  if (!err && renameat(db->directory_fd, creating_file, db->directory_fd, "data.mdb")) err = errno;
  return err;
}

/* Removes the folder `creating` last: as long as it is there, each process that opens the store
 * syncs what was made. */
int datafile_create(struct db *db, const struct db_options *options, struct tidings_error *error) {
  struct stat entry;
  int err = 0;
  bool made = fstatat(db->directory_fd, "data.mdb", &entry, AT_SYMLINK_NOFOLLOW) == 0;
  if (!made && errno != ENOENT)
    return fail(error, TIDINGS_E_STORE, "store %s: data.mdb: %s", db->directory, strerror(errno));
  if (made && fstatat(db->directory_fd, creating, &entry, AT_SYMLINK_NOFOLLOW)) return 0;
  if (!made && (err = make_datafile(db, options))) remove_creating(db);
  if (!err && fsync(db->directory_fd)) err = errno;
  if (!err) err = sync_ancestors(db);
  if (!err) remove_creating(db);
  if (err == ENOMEM)
    return fail(error, TIDINGS_E_NOMEM, "store %s: no memory to create it", db->directory);
  return err ? fail(error, TIDINGS_E_STORE, "store %s cannot be created: %s", db->directory,
                    mdb_strerror(err))
             : 0;
}

/* Reserves blocks before they are used, so that no write finds the disk full half-way. */
static int extend(struct db *db, uint64_t bytes) {
  struct stat entry;
  if (fallocate(db->data_fd, 0, 0, (off_t)bytes) == 0) return 0;
  if (errno != EOPNOTSUPP && errno != ENOSYS) return errno;
  /* This file system has no fallocate, so only the length is set. */
  if (fstat(db->data_fd, &entry)) return errno;
  return (uint64_t)entry.st_size < bytes && ftruncate(db->data_fd, (off_t)bytes) ? errno : 0;
}

/* Counts the pages that the tree holds, not the length of the file, which never shrinks and whose
 * free pages LMDB uses again. The rest of the map is for pages that leases and settles copy, and
 * for pages that readers keep from becoming free. */
static int check_room(const struct db *db, uint64_t bytes, struct tidings_error *error) {
  MDB_stat tree;
  int rc = mdb_env_stat(db->env, &tree);
  if (rc) return db_failed(error, rc, "read its tree");
  uint64_t held = (uint64_t)(tree.ms_branch_pages + tree.ms_leaf_pages + tree.ms_overflow_pages) *
                  db->page_bytes;
  if (held + bytes <= ROWS_BYTES) return 0;
  return fail(error, TIDINGS_E_FULL,
              "store %s has grown to its limit; deliver what is pending, or move the folder "
              "away to start empty",
              db->directory);
}

static uint64_t at_most_the_map(uint64_t bytes) { return bytes < MAP_BYTES ? bytes : MAP_BYTES; }

/* True: the file has so many free pages that leases and settles do not need reserved blocks beyond
 * its end. */
static bool has_free_pages(struct db *db, uint64_t bytes) {
  uint64_t pages;
  return !env_free_pages(db, &pages) && pages >= (2 * HEADROOM_BYTES + bytes) / db->page_bytes;
}

int datafile_reserve(struct db *db, uint64_t bytes, struct tidings_error *error) {
  MDB_envinfo info;
  int rc = mdb_env_info(db->env, &info);
  if (rc) return db_failed(error, rc, "read its file");
  uint64_t used = ((uint64_t)info.me_last_pgno + 1) * db->page_bytes;
  uint64_t wanted = at_most_the_map(used + bytes + HEADROOM_BYTES);
  if (wanted > ROWS_BYTES) {
    int code = check_room(db, bytes, error);
    if (code) return code;
  }
  if (wanted <= db->reserved_bytes) return 0;
  uint64_t generous =
      at_most_the_map(wanted + (used / 8 > HEADROOM_BYTES ? used / 8 : HEADROOM_BYTES));
  int err = extend(db, generous);
  if (err == ENOSPC || err == EDQUOT) {
    err = extend(db, wanted);
    generous = wanted;
  }
  db->disk_is_full = err == ENOSPC || err == EDQUOT;
  if (db->disk_is_full && has_free_pages(db, bytes)) return 0;
  if (err) {
    return fail(error, TIDINGS_E_STORE,
                "store %s: the push was not stored: %s; free some space. What was pending can "
                "still be delivered",
                db->directory, strerror(err));
  }
  db->reserved_bytes = generous;
  return 0;
}
