/* SPDX-License-Identifier: MIT
 *
 * store/db/postgres/local.c: the phases and running calls of sessions whose host is this process,
 * in a file in memory that the processes of this machine share (store/db/places.h). The file's name
 * has the PID namespace and the id of the server and tables (life.c), so that all of its content
 * belongs to this store. Other machines see only what was committed. If the calling process is not
 * the session's host, everything is committed at once, because no later commit would write it.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/libc.h"
#include "store/db/places.h"
#include "store/db/postgres/local.h"

/* The digit is the number of the file's layout. */
#define NAME_BEGINS "calls1."
enum { KEPT_SECONDS = 86400 };

struct pg_local {
  pthread_mutex_t lock;
  void *memory; /* NULL: it is not mapped */
  int fd;       /* the file is locked while it is mapped */
  int64_t life; /* the id of the server and tables: life.c */
  struct places places;
};

struct pg_local *pg_local_new(void) {
  struct pg_local *local = calloc(1, sizeof *local);
  if (local) (void)pthread_mutex_init(&local->lock, NULL);
  return local;
}

/* -- the file ---------------------------------------------------------------------------------- */

static void file_path(const struct db *db, int64_t life, const char *folder, char *path) {
  (void)snprintf(path, PG_PATH_BYTES, "%s/" NAME_BEGINS "%x.%llu.%016llx", folder,
                 libc_mutex_kind(), (unsigned long long)db->self.pid_namespace,
                 (unsigned long long)life);
}

/* Removes the file too, unless another process has it mapped, or a call runs that the next host may
 * ask for. */
static void unmap(struct pg_local *local, const struct db *db) {
  char folder[PG_FOLDER_BYTES], path[PG_PATH_BYTES];
  if (!local->memory) return;
  pg_folder_path(folder);
  file_path(db, local->life, folder, path);
  if (!flock(local->fd, LOCK_EX | LOCK_NB) && !places_any_runs(&local->places)) (void)unlink(path);
  munmap(local->memory, PLACES_BYTES);
  close(local->fd);
  local->memory = NULL;
}

void pg_local_finish(struct db *db) {
  struct pg_local *local = db->local;
  if (!local) return;
  unmap(local, db);
  pthread_mutex_destroy(&local->lock);
  free(local);
  db->local = NULL;
}

static bool map(struct pg_local *local, const struct db *db, int fd) {
  void *memory = mmap(NULL, PLACES_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) return false;
  local->memory = memory;
  local->fd = fd;
  local->places = places_at(memory, &db->self);
  return true;
}

/* A file of another user is refused, because its owner could truncate it while it is mapped. */
static bool is_ours(int fd) {
  struct stat entry;
  return !fstat(fd, &entry) && S_ISREG(entry.st_mode) && entry.st_uid == geteuid() &&
         entry.st_size == PLACES_BYTES && entry.st_nlink;
}

static bool open_file(struct pg_local *local, const struct db *db, const char *path) {
  int fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return false;
  if (!flock(fd, LOCK_SH | LOCK_NB) && is_ours(fd) && map(local, db, fd)) return true;
  close(fd);
  return false;
}

/* Removes the old files of servers that were restarted since, and of stores that were removed. */
static void take_away_old(const char *folder, int fd) {
  struct stat now, entry;
  DIR *entries = fstat(fd, &now) ? NULL : opendir(folder);
  if (!entries) return;
  for (const struct dirent *file; (file = readdir(entries));) {
    if (strncmp(file->d_name, "calls", 5) != 0) continue;
    int old = openat(dirfd(entries), file->d_name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (old < 0) continue;
    if (!fstat(old, &entry) && entry.st_mtime < now.st_mtime - KEPT_SECONDS &&
        !flock(old, LOCK_EX | LOCK_NB))
      (void)unlinkat(dirfd(entries), file->d_name, 0);
    close(old);
  }
  closedir(entries);
}

/* The file gets its name only when it is complete. If another process was faster, its file is used.
 */
static bool make_file(struct pg_local *local, const struct db *db, const char *folder,
                      const char *path) {
  char unfinished[PG_PATH_BYTES + 16];
  if (pg_folder_make(folder, NULL)) return false;
  (void)snprintf(unfinished, sizeof unfinished, "%s.%u", path, db->self.pid);
  (void)unlink(unfinished);
  int fd = open(unfinished, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0) return false;
  bool made =
      !flock(fd, LOCK_SH | LOCK_NB) && !posix_fallocate(fd, 0, PLACES_BYTES) && map(local, db, fd);
  if (made && (places_make_locks(&local->places) || link(unfinished, path))) {
    munmap(local->memory, PLACES_BYTES);
    local->memory = NULL;
    made = false;
  }
  if (!made) close(fd);
  if (made) take_away_old(folder, fd);
  (void)unlink(unfinished);
  return made || open_file(local, db, path);
}

/* Call it with the lock. `makes`: makes the file if it is missing. */
static bool attach(struct pg_local *local, struct db *db, bool makes) {
  char folder[PG_FOLDER_BYTES], path[PG_PATH_BYTES];
  pthread_mutex_lock(&db->lock);
  int64_t life = db->life;
  pthread_mutex_unlock(&db->lock);
  if (local->memory && local->life == life) return true;
  unmap(local, db);
  if (!life) return false;
  local->life = life;
  pg_folder_path(folder);
  file_path(db, life, folder, path);
  return open_file(local, db, path) || (makes && make_file(local, db, folder, path));
}

/* Returns the places, which the caller has to give back; NULL: there are none. `makes`: makes them
 * if they are missing. */
static const struct places *take_places(struct db *db, bool makes) {
  struct pg_local *local = db->local;
  pthread_mutex_lock(&local->lock);
  if (attach(local, db, makes)) return &local->places;
  pthread_mutex_unlock(&local->lock);
  return NULL;
}

static void give_places(struct db *db) { pthread_mutex_unlock(&db->local->lock); }

/* -- what the store asks for ------------------------------------------------------------------- */

int db_phase(struct db *db, uint32_t session, uint64_t epoch, uint64_t *ret_word) {
  const struct places *places = take_places(db, false);
  *ret_word = 0;
  int phase = places ? places_phase(places, session, epoch, ret_word) : -1;
  if (places) give_places(db);
  return phase;
}

bool db_phase_set(struct db *db, uint32_t session, uint64_t epoch, const struct owner *owner,
                  unsigned phase) {
  const struct places *places = owner_equal(owner, &db->self) ? take_places(db, true) : NULL;
  bool set = places && places_phase_set(places, session, epoch, phase);
  if (places) give_places(db);
  return set;
}

void db_phase_replace(struct db *db, uint32_t session, uint64_t epoch, uint64_t word, int phase) {
  const struct places *places = word ? take_places(db, false) : NULL;
  if (!places) return;
  places_phase_replace(places, session, epoch, word, phase);
  give_places(db);
}

bool db_calls(struct db *db, const struct calls_of *whose, calls_visitor visit, void *context) {
  if (whose->owner && !owner_equal(whose->owner, &db->self)) return false;
  const struct places *places = take_places(db, whose->owner);
  bool done = places && places_calls(places, whose, visit, context);
  if (places) give_places(db);
  return done;
}

bool db_calls_any(struct db *db, uint32_t session) {
  const struct places *places = take_places(db, false);
  bool any = places && places_calls_any(places, session);
  if (places) give_places(db);
  return any;
}

void db_calls_forget(struct db *db, uint32_t session) {
  const struct places *places = take_places(db, false);
  if (!places) return;
  places_calls_forget(places, session);
  give_places(db);
}
