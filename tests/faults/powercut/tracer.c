/* SPDX-License-Identifier: MIT
 *
 * powercut/tracer.c: records the file calls of this process.
 *
 * A lock is held during each call, so that the trace has the order of the calls. Nothing here opens
 * or closes a file of the store: closing any descriptor of LMDB's lock file would drop the locks of
 * the process.
 */
#include "powercut/tracer.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kit/arguments.h"
#include "kit/interpose.h"

enum { INODES_MAX = 256, MAPS_MAX = 32, SECTOR = 512 };

struct known {
  uint64_t inode;
  uint64_t size; /* the size of a file after the calls so far */
};

struct shared_map {
  uint8_t *address; /* NULL: free */
  size_t length;
  struct known *file;
  uint8_t *shadow; /* the bytes that the trace knows */
};

/* The place of a name, resolved before a call may move it. */
struct place {
  bool known;
  uint64_t folder, inode;
  char name[TRACE_NAME_MAX];
};

static struct {
  pthread_mutex_t lock;
  struct trace *trace;
  dev_t device;
  struct known known[INODES_MAX];
  size_t known_count;
  struct shared_map maps[MAPS_MAX];
  struct place from, to; /* of the call under way */
} tracer = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct known *find(uint64_t inode) {
  for (size_t i = 0; i < tracer.known_count; i++) {
    if (tracer.known[i].inode == inode) return &tracer.known[i];
  }
  return NULL;
}

static struct known *learn(uint64_t inode) {
  if (tracer.known_count == INODES_MAX) die("more than %d files", INODES_MAX);
  tracer.known[tracer.known_count] = (struct known){.inode = inode};
  return &tracer.known[tracer.known_count++];
}

static struct known *file_of(int fd) {
  struct stat status;
  if (fd < 0 || fstat(fd, &status) != 0 || status.st_dev != tracer.device) return NULL;
  return find(status.st_ino);
}

static void add_write(struct known *file, uint64_t offset, const void *data, size_t length,
                      uint8_t flags) {
  struct trace_event *event = trace_add(tracer.trace, TRACE_WRITE, data, length);
  event->inode = file->inode;
  event->offset = offset;
  event->flags = flags;
  if (file->size < offset + length) file->size = offset + length;
}

static void add_truncate(struct known *file, uint64_t size) {
  struct trace_event *event = trace_add(tracer.trace, TRACE_TRUNCATE, NULL, size);
  event->inode = file->inode;
  file->size = size;
}

/* Records the sectors that have changed through a shared mapping since the last look. */
static void look_at_map(struct shared_map *map) {
  size_t length = map->length < map->file->size ? map->length : map->file->size;
  for (size_t at = 0; at < length; at += SECTOR) {
    size_t piece = length - at < SECTOR ? length - at : SECTOR;
    uint8_t now[SECTOR];
    if (memcmp(map->shadow + at, map->address + at, piece) == 0) continue;
    memcpy(now, map->address + at, piece);
    memcpy(map->shadow + at, now, piece);
    add_write(map->file, at, now, piece, 0);
  }
}

static void look_at_maps(void) {
  for (size_t i = 0; i < MAPS_MAX; i++) {
    if (tracer.maps[i].address) look_at_map(&tracer.maps[i]);
  }
}

/* A write by descriptor also changes a mapping, but must not be recorded twice. */
static void refresh_shadows(const struct known *file, uint64_t offset, size_t length) {
  for (size_t i = 0; i < MAPS_MAX; i++) {
    struct shared_map *map = &tracer.maps[i];
    if (!map->address || map->file != file || offset >= map->length) continue;
    if (length > map->length - offset) length = map->length - offset;
    memcpy(map->shadow + offset, map->address + offset, length);
  }
}

static void copy_name(char to[TRACE_NAME_MAX], const char *from) {
  (void)snprintf(to, TRACE_NAME_MAX, "%s", from);
}

/* Resolves a path into its folder, which the trace must know, and its last name. */
static struct place place_of(int at, const char *path) {
  struct place place = {0};
  char parent[4096];
  const char *slash = strrchr(path, '/');
  const char *name = slash ? slash + 1 : path;
  if (strlen(path) >= sizeof parent || strlen(name) >= TRACE_NAME_MAX || *name == 0) return place;
  snprintf(parent, sizeof parent, "%.*s", slash ? (int)(slash - path) + (slash == path) : 1,
           slash ? path : ".");
  struct stat status;
  if (fstatat(at, parent, &status, 0) != 0 || status.st_dev != tracer.device ||
      !find(status.st_ino))
    return place;
  place.folder = status.st_ino;
  copy_name(place.name, name);
  place.known = true;
  if (fstatat(at, path, &status, AT_SYMLINK_NOFOLLOW) == 0) place.inode = status.st_ino;
  return place;
}

static bool before(struct io_op *op) {
  pthread_mutex_lock(&tracer.lock);
  look_at_maps();
  tracer.from = tracer.to = (struct place){0};
  if (op->kind == IO_OPEN || op->kind == IO_MKDIR || op->kind == IO_UNLINK || op->kind == IO_RENAME)
    tracer.from = place_of(op->fd, op->path);
  if (op->kind == IO_RENAME) tracer.to = place_of(op->other_fd, op->other_path);
  if (op->kind == IO_WRITE || (op->kind == IO_WRITEV && op->offset < 0)) {
    bool append = fcntl(op->fd, F_GETFL) & O_APPEND;
    off_t position = lseek(op->fd, 0, append ? SEEK_END : SEEK_CUR);
    op->position = position > 0 ? position : 0;
  }
  if (op->kind == IO_MUNMAP) {
    for (size_t i = 0; i < MAPS_MAX; i++) {
      struct shared_map *map = &tracer.maps[i];
      if (!map->address || map->address != op->address) continue;
      free(map->shadow);
      map->address = NULL;
    }
  }
  return true;
}

static void after_create(uint64_t inode, uint8_t flags) {
  struct trace_event *event = trace_add(tracer.trace, TRACE_CREATE, NULL, 0);
  event->inode = tracer.from.folder;
  event->other = inode;
  event->flags = flags;
  copy_name(event->name, tracer.from.name);
  learn(inode);
}

static void after_open(const struct io_op *op) {
  struct stat status;
  if (!tracer.from.known || fstat((int)op->result, &status) != 0) return;
  struct known *file = find(status.st_ino);
  if (!file && S_ISREG(status.st_mode)) after_create(status.st_ino, 0);
  else if (file && (op->flags & O_TRUNC) && file->size > 0) add_truncate(file, 0);
}

static void after_write(const struct io_op *op) {
  struct known *file = file_of(op->fd);
  if (!file) return;
  uint64_t offset = (uint64_t)(op->offset >= 0 ? op->offset : op->position);
  uint8_t flags = (fcntl(op->fd, F_GETFL) & O_DSYNC) ? TRACE_DURABLE : 0;
  size_t left = (size_t)op->result;
  if (op->kind != IO_WRITEV) {
    add_write(file, offset, op->data, left, flags);
  } else {
    /* For a disk, each buffer of such a call is a separate page. */
    for (uint64_t at = offset, i = 0; left > 0; i++) {
      size_t piece = op->vector[i].iov_len < left ? op->vector[i].iov_len : left;
      add_write(file, at, op->vector[i].iov_base, piece, flags);
      at += piece;
      left -= piece;
    }
  }
  refresh_shadows(file, offset, (size_t)op->result);
}

static void after_fallocate(const struct io_op *op) {
  struct known *file = file_of(op->fd);
  if (!file) return;
  int mode = op->kind == IO_FALLOCATE ? op->flags : 0;
  if (mode & ~FALLOC_FL_KEEP_SIZE) die("fallocate with mode %d is not known to the tracer", mode);
  uint64_t end = (uint64_t)op->offset + op->length;
  if (!(mode & FALLOC_FL_KEEP_SIZE) && end > file->size) add_truncate(file, end);
}

static void after_rename(const struct io_op *op) {
  if (!tracer.from.known && !tracer.to.known) return;
  if (!tracer.from.known || !tracer.to.known || op->flags & ~1 /* RENAME_NOREPLACE */)
    die("a rename that the tracer does not know");
  struct trace_event *event = trace_add(tracer.trace, TRACE_RENAME, NULL, 0);
  event->inode = tracer.from.folder;
  event->folder = tracer.to.folder;
  event->other = tracer.from.inode;
  copy_name(event->name, tracer.from.name);
  copy_name(event->other_name, tracer.to.name);
}

static void after_unlink(void) {
  if (!tracer.from.known) return;
  struct trace_event *event = trace_add(tracer.trace, TRACE_UNLINK, NULL, 0);
  event->inode = tracer.from.folder;
  event->other = tracer.from.inode;
  copy_name(event->name, tracer.from.name);
}

static void after_mkdir(const struct io_op *op) {
  struct stat status;
  if (tracer.from.known && fstatat(op->fd, op->path, &status, 0) == 0)
    after_create(status.st_ino, TRACE_FOLDER);
}

static void after_mmap(const struct io_op *op) {
  struct known *file;
  if (!(op->flags & MAP_SHARED) || !(op->protection & PROT_WRITE) || (op->flags & MAP_ANONYMOUS) ||
      !(file = file_of(op->fd)))
    return;
  if (op->offset != 0) die("a mapping that does not begin at 0 is not known to the tracer");
  for (size_t i = 0; i < MAPS_MAX; i++) {
    struct shared_map *map = &tracer.maps[i];
    if (map->address) continue;
    *map = (struct shared_map){(uint8_t *)op->result, op->length, file, calloc(1, op->length)};
    if (!map->shadow) die("out of memory");
    memcpy(map->shadow, map->address, op->length < file->size ? op->length : file->size);
    return;
  }
  die("more than %d mappings", MAPS_MAX);
}

static void add_sync(struct known *file, uint8_t flags) {
  if (!file) return;
  struct trace_event *event = trace_add(tracer.trace, TRACE_SYNC, NULL, 0);
  event->inode = file->inode;
  event->flags = flags;
}

static void after_msync(const struct io_op *op) {
  if (!(op->flags & MS_SYNC)) return;
  for (size_t i = 0; i < MAPS_MAX; i++) {
    struct shared_map *map = &tracer.maps[i];
    uint8_t *address = op->address;
    if (map->address && address >= map->address && address < map->address + map->length)
      add_sync(map->file, 0);
  }
}

static void after(const struct io_op *op) {
  if (op->result != -1) {
    switch (op->kind) {
    case IO_PWRITE:
    case IO_WRITE:
    case IO_WRITEV: after_write(op); break;
    case IO_FDATASYNC: add_sync(file_of(op->fd), TRACE_FDATASYNC); break;
    case IO_FSYNC: add_sync(file_of(op->fd), 0); break;
    case IO_FTRUNCATE: {
      struct known *file = file_of(op->fd);
      if (file && file->size != op->length) add_truncate(file, op->length);
      break;
    }
    case IO_FALLOCATE:
    case IO_POSIX_FALLOCATE: after_fallocate(op); break;
    case IO_RENAME: after_rename(op); break;
    case IO_OPEN: after_open(op); break;
    case IO_MKDIR: after_mkdir(op); break;
    case IO_UNLINK: after_unlink(); break;
    case IO_MMAP: after_mmap(op); break;
    case IO_MSYNC: after_msync(op); break;
    case IO_MUNMAP:
    case IO_CLOSE:
    case IO_PREAD:
    case IO_KINDS: break;
    }
  }
  pthread_mutex_unlock(&tracer.lock);
}

static const struct io_watch watch = {.before = before, .after = after};

void tracer_start(struct trace *trace, const char *root) {
  struct stat status;
  if (stat(root, &status) != 0) die("%s: %s", root, strerror(errno));
  tracer.trace = trace;
  tracer.device = status.st_dev;
  trace->root = status.st_ino;
  learn(status.st_ino);
  io_watch(&watch);
}

void tracer_stop(void) {
  io_watch(NULL);
  pthread_mutex_lock(&tracer.lock);
  look_at_maps();
  pthread_mutex_unlock(&tracer.lock);
}

static void add_mark(enum mark mark, uint64_t subject, uint64_t other, uint64_t third,
                     const void *data, size_t length) {
  pthread_mutex_lock(&tracer.lock);
  look_at_maps();
  struct trace_event *event = trace_add(tracer.trace, TRACE_MARK, data, length);
  event->mark = (uint8_t)mark;
  event->inode = subject;
  event->other = other;
  event->folder = third;
  pthread_mutex_unlock(&tracer.lock);
}

void tracer_mark(enum mark mark, uint64_t subject, uint64_t other, const uint64_t *tokens,
                 size_t token_count) {
  add_mark(mark, subject, other, 0, tokens, token_count * sizeof(tokens[0]));
}

void tracer_mark_push(uint64_t token, unsigned session, bool identified) {
  add_mark(MARK_PUSH, token, session, identified, NULL, 0);
}

void tracer_opened(void) { tracer.trace->opened = tracer.trace->count; }
