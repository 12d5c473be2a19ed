/* SPDX-License-Identifier: MIT
 *
 * store/db/lmdb/shared.c: the file `shared`: it has the users of the store, the change counters,
 * the locks (locks.c), the rings, the waiters, the phases and the calls.
 *
 * The locks on this file are OFD locks: byte GATE while a process opens the store, byte USERS,
 * shared, while it has the store open, and byte PIDS + pid, exclusive. Two copies of the plugin in
 * one process cannot share an OFD lock, and closing another descriptor does not release it. The
 * plugin never opens LMDB's lock.mdb while an environment is open, because closing any descriptor
 * of that file would release LMDB's locks.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/error.h"
#include "common/libc.h"
#include "store/db/lmdb/engine.h"
#include "store/db/lmdb/files.h"

enum { SHARED_LAYOUT = 9 };
static const char shared_magic[8] = "tidings";
enum { GATE = 0, USERS = 1 };
static const off_t PIDS = (off_t)1 << 32;

_Static_assert(sizeof(struct shared_page) <= SHARED_CHANGES_OFFSET,
               "the change counters start after the header");

/* Returns 0, or errno: EAGAIN or EACCES when another process has it. */
static int byte_lock(int fd, short type, off_t at) {
  struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = at, .l_len = 1};
  return fcntl(fd, F_OFD_SETLK, &lock) ? errno : 0;
}

static int take_gate(int fd, const char *directory, store_deadline deadline,
                     struct tidings_error *error) {
  for (;;) {
    int err = byte_lock(fd, F_WRLCK, GATE);
    if (!err) return 0;
    if (err != EAGAIN && err != EACCES)
      return fail(error, TIDINGS_E_STORE, "store %s: %s/shared cannot be locked: %s", directory,
                  directory, strerror(err));
    if (!store_deadline_left_ms(deadline))
      return fail(error, TIDINGS_E_BUSY,
                  "store %s: another process is opening it and has not finished; try again",
                  directory);
    struct timespec pause = {0, 1000000};
    nanosleep(&pause, NULL);
  }
}

int shared_gate(struct db *db, store_deadline deadline, struct tidings_error *error) {
  return take_gate(db->shared.fd, db->directory, deadline, error);
}

/* Returns the pid of a process that uses the store, by the byte that it has locked. 0: it has ended
 * by now. */
static uint32_t user_of(int fd) {
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = PIDS, .l_len = 0};
  if (fcntl(fd, F_OFD_GETLK, &lock) || lock.l_type == F_UNLCK || lock.l_start < PIDS) return 0;
  return (uint32_t)(lock.l_start - PIDS);
}

int shared_alone(int directory_fd, const char *directory, uint32_t budget_ms, int *ret_fd,
                 uint32_t *ret_user, struct tidings_error *error) {
  int fd = openat(directory_fd, "shared", O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  *ret_user = 0;
  if (fd < 0 && (errno == ENOENT || errno == EROFS)) {
    *ret_fd = -1;
    return 0;
  }
  if (fd < 0) return directory_file_refused(directory, "shared", errno, error);
  int code = take_gate(fd, directory, store_deadline_in(budget_ms), error);
  int err = code ? 0 : byte_lock(fd, F_WRLCK, USERS);
  if (!code && !err) {
    *ret_fd = fd;
    return 0;
  }
  if (err == EAGAIN || err == EACCES) *ret_user = user_of(fd);
  else if (err)
    code = fail(error, TIDINGS_E_STORE, "store %s: %s/shared cannot be locked: %s", directory,
                directory, strerror(err));
  if (!code && !*ret_user) /* the user has just changed: asking again finds the new one */
    code =
        fail(error, TIDINGS_E_BUSY, "store %s: a process has just used it; try again", directory);
  shared_leave(fd);
  return code;
}

bool shared_read_page(int fd, struct shared_page *ret_page) {
  return pread(fd, ret_page, sizeof *ret_page, 0) == (ssize_t)sizeof *ret_page &&
         memcmp(ret_page->magic, shared_magic, sizeof shared_magic) == 0 &&
         ret_page->layout == SHARED_LAYOUT;
}

static int refuse_namespace(const struct db *db, struct tidings_error *error) {
  return fail(error, TIDINGS_E_STORE,
              "store %s is in use in another PID namespace (a container?); use one store for each",
              db->directory);
}

static int refuse_users(const struct db *db, const char *whose, struct tidings_error *error) {
  return fail(error, TIDINGS_E_STORE, "store %s is in use by %s; end the other processes first",
              db->directory, whose);
}

/* LMDB's own locks are such mutexes too. */
static int refuse_mutex(const struct db *db, struct tidings_error *error) {
  char whose[128];
  const char *theirs = libc_of_mutex_kind(db->shared.page->mutex_kind);
  const char *ours = libc_of_mutex_kind(libc_mutex_kind());
  if (theirs == ours) /* 32 and 64 bits, or two architectures on one machine */
    return refuse_users(db, "a build for another machine, whose locks differ", error);
  (void)snprintf(whose, sizeof whose,
                 "a build for %s, whose locks differ from those of %s, which this build is for",
                 theirs, ours);
  return refuse_users(db, whose, error);
}

/* Was the header written by a user in another PID namespace? */
static bool is_of_another_namespace(const struct db *db) {
  const struct shared_page *page = db->shared.page;
  return memcmp(page->magic, shared_magic, sizeof page->magic) == 0 &&
         page->layout == SHARED_LAYOUT && page->pid_namespace != db->self.pid_namespace;
}

/* The caller holds the gate. A process that is the only user makes the header anew: what it held
 * before a reboot, or before all users crashed, is void. */
static int enter(struct db *db, struct tidings_error *error) {
  struct shared *shared = &db->shared;
  struct shared_page *page = shared->page;
  if (byte_lock(shared->fd, F_WRLCK, PIDS + (off_t)db->self.pid)) {
    /* The programs of two containers may both be process 1. */
    if (is_of_another_namespace(db)) return refuse_namespace(db, error);
    return fail(error, TIDINGS_E_STORE,
                "store %s is already open in this process; use the instance that has it, or close "
                "that first",
                db->directory);
  }
  shared->sole_user = byte_lock(shared->fd, F_WRLCK, USERS) == 0;
  shared->is_new =
      shared->sole_user &&
      (memcmp(page->magic, shared_magic, sizeof page->magic) != 0 || page->layout != SHARED_LAYOUT);
  if (shared->sole_user) {
    memcpy(page->magic, shared_magic, sizeof page->magic);
    page->layout = SHARED_LAYOUT;
    page->mutex_kind = libc_mutex_kind();
    page->pid_namespace = db->self.pid_namespace;
    int code = locks_make(db, error);
    if (code) return code;
  }
  int err = byte_lock(shared->fd, F_RDLCK, USERS);
  if (err)
    return fail(error, TIDINGS_E_STORE, "store %s: %s/shared cannot be locked: %s", db->directory,
                db->directory, strerror(err));
  if (memcmp(page->magic, shared_magic, sizeof page->magic) != 0 || page->layout != SHARED_LAYOUT)
    return refuse_users(db, "a build that shares it in another way", error);
  if (page->mutex_kind != libc_mutex_kind()) return refuse_mutex(db, error);
  if (is_of_another_namespace(db)) return refuse_namespace(db, error);
  return 0;
}

static int map(struct db *db, struct tidings_error *error) {
  struct shared *shared = &db->shared;
  struct stat entry;
  if (fstat(shared->fd, &entry))
    return fail(error, TIDINGS_E_STORE, "store %s: shared: %s", db->directory, strerror(errno));
  if (!S_ISREG(entry.st_mode) || entry.st_uid != geteuid()) {
    return fail(error, TIDINGS_E_STORE, "store %s: shared is not a file that you own; move it away",
                db->directory);
  }
  if (entry.st_nlink > 1)
    return fail(error, TIDINGS_E_STORE,
                "store %s: shared is also in another folder (a hard link); copy the folder with "
                "'cp -a', and use the copy",
                db->directory);
  /* The file gets all its blocks now: otherwise on a full disk the first access would kill the
   * host. */
  int err =
      datafile_has_holes(&entry, SHARED_BYTES) ? posix_fallocate(shared->fd, 0, SHARED_BYTES) : 0;
  if (err)
    return fail(error, TIDINGS_E_STORE,
                "store %s: no room for its file shared: %s; free some space", db->directory,
                strerror(err));
  void *memory = mmap(NULL, SHARED_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, shared->fd, 0);
  if (memory == MAP_FAILED)
    return fail(error, errno == ENOMEM ? TIDINGS_E_NOMEM : TIDINGS_E_STORE,
                "store %s: shared cannot be mapped: %s", db->directory, strerror(errno));
  shared->page = memory;
  shared->changes = (_Atomic uint32_t *)(void *)((char *)memory + SHARED_CHANGES_OFFSET);
  shared->rings = (_Atomic uint32_t *)(void *)((char *)memory + SHARED_RINGS_OFFSET);
  shared->ring_groups = (_Atomic uint32_t *)(void *)((char *)memory + SHARED_GROUPS_OFFSET);
  shared->waiters = (struct wait_slot *)(void *)((char *)memory + SHARED_WAITERS_OFFSET);
  shared->places = places_at((char *)memory + SHARED_PLACES_OFFSET, &db->self);
  return 0;
}

int shared_open(struct db *db, store_deadline deadline, struct tidings_error *error) {
  struct shared *shared = &db->shared;
  shared->page = NULL;
  shared->fd = openat(db->directory_fd, "shared", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (shared->fd < 0) return directory_file_refused(db->directory, "shared", errno, error);
  int code = shared_gate(db, deadline, error);
  if (!code) code = map(db, error);
  if (!code) code = enter(db, error);
  if (code) shared_close(db);
  return code;
}

/* A process that was forked while the file was open has the lock too, until it closes the file or
 * runs another program; so a close alone would not end the lock. */
void shared_leave(int fd) {
  struct flock all = {.l_type = F_UNLCK, .l_whence = SEEK_SET};
  if (fd < 0) return;
  (void)fcntl(fd, F_OFD_SETLK, &all);
  close(fd);
}

void shared_admit(struct db *db) { (void)byte_lock(db->shared.fd, F_UNLCK, GATE); }

void shared_close(struct db *db) {
  if (db->shared.page) munmap(db->shared.page, SHARED_BYTES);
  db->shared.page = NULL;
  shared_leave(db->shared.fd);
  db->shared.fd = -1;
}

void shared_changes_begin(struct db *db, const uint32_t *sessions, size_t count) {
  for (size_t i = 0; i < count; i++) {
    _Atomic uint32_t *changes = &db->shared.changes[sessions[i] % STORE_CHANGE_COUNTERS];
    atomic_store(changes, atomic_load(changes) | 1);
  }
}

void shared_changes_end(struct db *db, const uint32_t *sessions, size_t count) {
  for (size_t i = 0; i < count; i++) {
    _Atomic uint32_t *changes = &db->shared.changes[sessions[i] % STORE_CHANGE_COUNTERS];
    atomic_store(changes, (atomic_load(changes) | 1) + 1);
  }
}

const _Atomic uint32_t *db_changes(struct db *db, uint32_t session) {
  return &db->shared.changes[session % STORE_CHANGE_COUNTERS];
}
