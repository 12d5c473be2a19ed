/* SPDX-License-Identifier: MIT
 *
 * store/db/lmdb/waiters.c: the processes that wait for a ring, and their FIFOs. A process that
 * wants to wait takes a slot in `shared`, then makes its FIFO `wake.<pid>.<start time>`, so that
 * each FIFO in the folder belongs to a slot. Slot and FIFO stay until the process is dead, and are
 * removed when the store is next opened. A process that rings opens the FIFO for reading and
 * writing, and without blocking, as its reader does. So it gets no SIGPIPE and never waits, and a
 * byte stays in the FIFO while the reader swaps its build.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/error.h"
#include "store/db/lmdb/ring.h"

enum { FIFO_NAME_BYTES = 48 };
#define FIFO_PREFIX "wake."

/* The FIFO of a waiter that this process has rung. It stays open for the next ring. */
struct waiter_line {
  uint64_t inode; /* 0: none */
  int fd;
};

struct fifo_name {
  char text[FIFO_NAME_BYTES];
};

static struct fifo_name name_of(uint32_t pid, uint64_t start_time) {
  struct fifo_name name;
  (void)snprintf(name.text, sizeof name.text, FIFO_PREFIX "%u.%llu", pid,
                 (unsigned long long)start_time);
  return name;
}

static struct fifo_name fifo_of(const struct wait_slot *waiter) {
  return name_of(atomic_load(&waiter->pid), atomic_load(&waiter->start_time));
}

/* Returns a descriptor, or -1 with errno. Although only this user can write to the folder, a file
 * that is not a FIFO of this user is refused. */
static int open_fifo(const struct db *db, const char *name, uint64_t *ret_inode) {
  struct stat entry;
  int fd = openat(db->directory_fd, name, O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return -1;
  int err = fstat(fd, &entry)                                       ? errno
            : !S_ISFIFO(entry.st_mode) || entry.st_uid != geteuid() ? ENOTSUP
                                                                    : 0;
  if (err) {
    close(fd);
    errno = err;
    return -1;
  }
  *ret_inode = entry.st_ino;
  return fd;
}

/* Writes a byte. EAGAIN is no error: the FIFO is full, so its reader is being woken already. */
static int ring(int fd) {
  ssize_t written;
  do written = write(fd, "", 1);
  while (written < 0 && errno == EINTR);
  return written < 0 && errno != EAGAIN ? -1 : 0;
}

/* -- the slots --------------------------------------------------------------------------------- */

static uint32_t slots_used(const struct db *db) {
  uint32_t end = atomic_load(&db->shared.page->waiters_end);
  return end < STORE_WAITERS ? end : STORE_WAITERS;
}

static bool is_self(const struct db *db, const struct wait_slot *waiter) {
  return atomic_load(&waiter->pid) == db->self.pid &&
         atomic_load(&waiter->start_time) == db->self.start_time;
}

/* Is the process dead? A pid that exists may belong to another process by now. Only `thorough`
 * finds that out, in /proc, which is slow. */
static bool is_dead(const struct db *db, uint32_t pid, uint64_t start_time, bool thorough) {
  struct owner owner = db->self;
  if (!pid || pid > INT32_MAX) return true;
  if (pid == db->self.pid) return start_time != db->self.start_time;
  if (kill((pid_t)pid, 0) && errno == ESRCH) return true;
  owner.pid = pid;
  owner.start_time = start_time;
  return thorough && !owner_alive(&owner);
}

/* The caller holds the gate. */
static void forget(struct db *db, struct wait_slot *waiter) {
  (void)unlinkat(db->directory_fd, fifo_of(waiter).text, 0);
  atomic_store(&waiter->state, WAITER_NONE);
}

/* The caller holds the gate, so a slot in the state WAITER_COMING belongs to a process that has
 * died. */
static void forget_dead(struct db *db, bool thorough) {
  for (uint32_t i = 0, end = slots_used(db); i < end; i++) {
    struct wait_slot *waiter = &db->shared.waiters[i];
    uint32_t state = atomic_load(&waiter->state);
    if (state == WAITER_NONE) continue;
    if (state != WAITER_READY ||
        is_dead(db, atomic_load(&waiter->pid), atomic_load(&waiter->start_time), thorough))
      forget(db, waiter);
  }
}

static bool read_number(const char **at, uint64_t *ret_number) {
  char *end;
  if (!isdigit((unsigned char)**at)) return false;
  errno = 0;
  *ret_number = strtoull(*at, &end, 10);
  *at = end;
  return !errno;
}

/* Removes the FIFOs of dead processes. No slot names them, because `shared` was made anew. */
static void sweep_folder(struct db *db) {
  int fd = openat(db->directory_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *folder = fd < 0 ? NULL : fdopendir(fd);
  const struct dirent *entry;
  if (!folder) {
    if (fd >= 0) close(fd);
    return;
  }
  while ((entry = readdir(folder))) {
    uint64_t pid, start_time;
    const char *at = entry->d_name + strlen(FIFO_PREFIX);
    if (strncmp(entry->d_name, FIFO_PREFIX, strlen(FIFO_PREFIX)) != 0) continue;
    if (!read_number(&at, &pid) || *at++ != '.' || !read_number(&at, &start_time) || *at ||
        pid > INT32_MAX)
      continue;
    if (is_dead(db, (uint32_t)pid, start_time, true))
      (void)unlinkat(db->directory_fd, entry->d_name, 0);
  }
  closedir(folder);
}

void waiters_enter(struct db *db) {
  if (!db->shared.is_new) {
    forget_dead(db, db->shared.sole_user);
    return;
  }
  for (size_t i = 0; i < STORE_WAITERS; i++)
    atomic_store(&db->shared.waiters[i].state, WAITER_NONE);
  atomic_store(&db->shared.page->waiters_end, 0);
  sweep_folder(db);
}

/* -- waiting ----------------------------------------------------------------------------------- */

static struct wait_slot *own_slot(const struct db *db) {
  for (uint32_t i = 0, end = slots_used(db); i < end; i++) {
    struct wait_slot *waiter = &db->shared.waiters[i];
    if (atomic_load(&waiter->state) != WAITER_NONE && is_self(db, waiter)) return waiter;
  }
  return NULL;
}

static struct wait_slot *free_slot(struct db *db) {
  for (uint32_t i = 0; i < STORE_WAITERS; i++) {
    struct wait_slot *waiter = &db->shared.waiters[i];
    if (atomic_load(&waiter->state) != WAITER_NONE) continue;
    if (i >= slots_used(db)) atomic_store(&db->shared.page->waiters_end, i + 1);
    return waiter;
  }
  return NULL;
}

static int fifo_failed(const struct db *db, const char *name, struct tidings_error *error) {
  const char *reason =
      errno == ENOTSUP ? "it is not a FIFO that you own; move it away" : strerror(errno);
  return fail(error, TIDINGS_E_STORE, "store %s: the FIFO %s cannot be %s: %s", db->directory, name,
              errno == ENOTSUP || errno == ELOOP ? "used" : "made", reason);
}

/* The mode is 0600, whatever the umask is. */
static int make_fifo(struct db *db, uint64_t *ret_inode, int *ret_fd, struct tidings_error *error) {
  struct fifo_name name = name_of(db->self.pid, db->self.start_time);
  if (mkfifoat(db->directory_fd, name.text, 0600)) {
    if (errno != EEXIST) return fifo_failed(db, name.text, error);
  } else if (fchmodat(db->directory_fd, name.text, 0600, 0)) {
    return fifo_failed(db, name.text, error);
  }
  int fd = open_fifo(db, name.text, ret_inode);
  if (fd < 0) return fifo_failed(db, name.text, error);
  *ret_fd = fd;
  return 0;
}

/* The caller holds the gate. */
static int enlist(struct db *db, const struct owner *owner, int *ret_fd,
                  struct tidings_error *error) {
  struct wait_slot *waiter = own_slot(db);
  bool again = waiter != NULL;
  uint64_t inode = 0;
  int fd = -1;
  if (!waiter && !(waiter = free_slot(db))) {
    forget_dead(db, true);
    waiter = free_slot(db);
  }
  if (!waiter) {
    return fail(error, TIDINGS_E_FULL,
                "store %s: %d processes wait on it already, which is the limit; end "
                "one, or use only wake_at",
                db->directory, (int)STORE_WAITERS);
  }
  atomic_store(&waiter->state, WAITER_COMING);
  atomic_store(&waiter->pid, db->self.pid);
  atomic_store(&waiter->start_time, db->self.start_time);
  atomic_store(&waiter->owner_pid, owner->pid);
  atomic_store(&waiter->owner_start_time, owner->start_time);
  int code = make_fifo(db, &inode, &fd, error);
  if (code) {
    atomic_store(&waiter->state, WAITER_NONE);
    return code;
  }
  atomic_store(&waiter->inode, inode);
  atomic_store(&waiter->state, WAITER_READY);
  /* The host checks its sessions once more, because a ring may have come before this process opened
   * the store again. */
  if (again) (void)ring(fd);
  *ret_fd = fd;
  return 0;
}

int db_wait(struct db *db, const struct owner *owner, uint32_t budget_ms, int *ret_fd,
            struct tidings_error *error) {
  if (db->wake.fifo < 0) {
    int code = shared_gate(db, store_deadline_in(budget_ms), error);
    if (code) return code;
    code = enlist(db, owner, &db->wake.fifo, error);
    shared_admit(db);
    if (code) return code;
  }
  *ret_fd = db->wake.fifo;
  return 0;
}

bool db_waits(const struct db *db) { return db->wake.fifo >= 0 || own_slot(db); }

void db_wait_drain(struct db *db) {
  char bytes[4096];
  ssize_t got = sizeof bytes;
  atomic_store_explicit(&db->wake.waiting_thread, (uintptr_t)pthread_self(), memory_order_relaxed);
  while (db->wake.fifo >= 0 && (got == sizeof bytes || (got < 0 && errno == EINTR)))
    got = read(db->wake.fifo, bytes, sizeof bytes);
}

void db_wait_again(struct db *db) {
  if (db->wake.fifo >= 0) (void)ring(db->wake.fifo);
}

/* -- ringing ----------------------------------------------------------------------------------- */

/* Opens the waiter's FIFO, unless `line` has it open. If the inodes differ, the slot belongs to
 * another waiter by now, or its FIFO was made anew. */
static bool connect_line(struct db *db, struct waiter_line *line, const struct wait_slot *waiter) {
  uint64_t inode = atomic_load(&waiter->inode);
  if (line->inode == inode) return true;
  if (line->inode) close(line->fd);
  line->inode = 0;
  line->fd = open_fifo(db, fifo_of(waiter).text, &inode);
  if (line->fd >= 0) line->inode = inode;
  return line->fd >= 0;
}

/* Rings the waiter of a slot, and keeps the descriptor for the next time. */
static void call(struct db *db, uint32_t slot) {
  struct waiter_line unkept = {.inode = 0};
  pthread_mutex_lock(&db->wake.lines_lock);
  if (!db->wake.lines) db->wake.lines = calloc(STORE_WAITERS, sizeof *db->wake.lines);
  struct waiter_line *line = db->wake.lines ? &db->wake.lines[slot] : &unkept;
  bool connected = connect_line(db, line, &db->shared.waiters[slot]);
  if (connected && (ring(line->fd) || line == &unkept)) {
    close(line->fd);
    line->inode = 0;
  }
  pthread_mutex_unlock(&db->wake.lines_lock);
}

static bool is_called(const struct db_txn *txn, const struct wait_slot *waiter) {
  uint32_t pid = atomic_load(&waiter->owner_pid);
  uint64_t start_time = atomic_load(&waiter->owner_start_time);
  for (size_t i = 0; i < txn->called_count && i < CALLED_OWNERS; i++) {
    if (txn->called[i].pid == pid && txn->called[i].start_time == start_time) return true;
  }
  return txn->called_count > CALLED_OWNERS;
}

void waiters_call(struct db *db, const struct db_txn *txn) {
  for (uint32_t i = 0, end = slots_used(db); i < end; i++) {
    const struct wait_slot *waiter = &db->shared.waiters[i];
    if (atomic_load(&waiter->state) != WAITER_READY || !is_called(txn, waiter)) continue;
    if (txn->rung_by_others || !is_self(db, waiter)) call(db, i);
  }
}

/* -- the beginning and the end ----------------------------------------------------------------- */

void waiters_init(struct db *db) {
  (void)pthread_mutex_init(&db->wake.lines_lock, NULL);
  db->wake.fifo = -1;
}

void waiters_leave(struct db *db) {
  for (size_t i = 0; db->wake.lines && i < STORE_WAITERS; i++) {
    if (db->wake.lines[i].inode) close(db->wake.lines[i].fd);
  }
  if (db->wake.fifo >= 0) close(db->wake.fifo);
  pthread_mutex_destroy(&db->wake.lines_lock);
  free(db->wake.lines);
  free(atomic_load(&db->wake.rings));
}
