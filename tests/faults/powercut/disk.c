/* SPDX-License-Identifier: MIT
 *
 * powercut/disk.c: makes images of the disk.
 *
 * A file has durable bytes and a list of later changes, each of which may or may not have reached
 * the disk. Changes of names in a folder are kept in the same way. A sector of 512 bytes, a
 * truncation and a change of names are atomic.
 */
#include "powercut/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kit/arguments.h"
#include "kit/folder.h"

enum { FILES_MAX = 256, NAMES_MAX = 512, SECTOR = 512 };

struct bytes {
  uint8_t *at;
  size_t size, capacity;
};

struct events {
  const struct trace_event **at;
  size_t count, capacity;
};

struct file {
  uint64_t inode;
  bool folder;
  struct bytes durable;
  struct events pending; /* writes and truncations since the last sync */
};

struct name {
  uint64_t folder, inode;
  char text[TRACE_NAME_MAX];
};

struct names {
  struct name at[NAMES_MAX];
  size_t count;
};

struct disk {
  const struct trace *trace;
  enum disk_honesty honesty;
  size_t cut;
  struct file files[FILES_MAX];
  size_t file_count;
  struct names durable;
  struct events pending_names;
};

static void events_add(struct events *events, const struct trace_event *event) {
  if (events->count == events->capacity) {
    events->capacity = events->capacity ? events->capacity * 2 : 32;
    events->at = realloc(events->at, events->capacity * sizeof(events->at[0]));
    if (!events->at) die("out of memory");
  }
  events->at[events->count++] = event;
}

static void bytes_resize(struct bytes *bytes, size_t size) {
  if (size > bytes->capacity) {
    size_t capacity = size + size / 2 + 4096;
    bytes->at = realloc(bytes->at, capacity);
    if (!bytes->at) die("out of memory");
    bytes->capacity = capacity;
  }
  if (size > bytes->size) memset(bytes->at + bytes->size, 0, size - bytes->size);
  bytes->size = size;
}

static void bytes_write(struct bytes *bytes, size_t offset, const uint8_t *data, size_t length) {
  if (bytes->size < offset + length) bytes_resize(bytes, offset + length);
  if (bytes->at) memcpy(bytes->at + offset, data, length);
}

static struct file *find(struct disk *disk, uint64_t inode) {
  for (size_t i = 0; i < disk->file_count; i++) {
    if (disk->files[i].inode == inode) return &disk->files[i];
  }
  return NULL;
}

static struct file *add_file(struct disk *disk, uint64_t inode, bool folder) {
  if (disk->file_count == FILES_MAX) die("more than %d files", FILES_MAX);
  disk->files[disk->file_count] = (struct file){.inode = inode, .folder = folder};
  return &disk->files[disk->file_count++];
}

/* -- changes that happened for good ------------------------------------------------------------ */

static void apply_change(const struct disk *disk, struct bytes *bytes,
                         const struct trace_event *event) {
  if (event->kind == TRACE_TRUNCATE) bytes_resize(bytes, event->length);
  else bytes_write(bytes, event->offset, disk->trace->arena + event->data, event->length);
}

static void remove_name(struct names *names, uint64_t folder, const char *text) {
  for (size_t i = 0; i < names->count; i++) {
    if (names->at[i].folder != folder || strcmp(names->at[i].text, text) != 0) continue;
    names->at[i] = names->at[--names->count];
    return;
  }
}

static void set_name(struct names *names, uint64_t folder, const char *text, uint64_t inode) {
  remove_name(names, folder, text);
  if (names->count == NAMES_MAX) die("more than %d names", NAMES_MAX);
  struct name *name = &names->at[names->count++];
  name->folder = folder;
  name->inode = inode;
  memcpy(name->text, text, strlen(text) + 1);
}

static void apply_name(struct names *names, const struct trace_event *event) {
  if (event->kind != TRACE_CREATE) remove_name(names, event->inode, event->name);
  if (event->kind == TRACE_CREATE) set_name(names, event->inode, event->name, event->other);
  if (event->kind == TRACE_RENAME) set_name(names, event->folder, event->other_name, event->other);
}

static void sync_folder(struct disk *disk, uint64_t folder) {
  size_t left = 0;
  for (size_t i = 0; i < disk->pending_names.count; i++) {
    const struct trace_event *event = disk->pending_names.at[i];
    uint64_t where = event->kind == TRACE_RENAME ? event->folder : event->inode;
    if (where == folder) apply_name(&disk->durable, event);
    else disk->pending_names.at[left++] = event;
  }
  disk->pending_names.count = left;
}

static void sync_file(struct disk *disk, struct file *file) {
  for (size_t i = 0; i < file->pending.count; i++)
    apply_change(disk, &file->durable, file->pending.at[i]);
  file->pending.count = 0;
}

static void advance_over(struct disk *disk, const struct trace_event *event) {
  struct file *file = event->kind == TRACE_MARK ? NULL : find(disk, event->inode);
  if (!file && event->kind != TRACE_MARK) die("the trace changes a file that it has not made");
  switch ((enum trace_kind)event->kind) {
  case TRACE_CREATE:
    add_file(disk, event->other, event->flags & TRACE_FOLDER);
    events_add(&disk->pending_names, event);
    break;
  case TRACE_RENAME:
  case TRACE_UNLINK: events_add(&disk->pending_names, event); break;
  case TRACE_WRITE:
    /* A synchronous write makes only its own bytes durable: where it does not cover earlier writes,
     * they stay in doubt. */
    if (event->flags & TRACE_DURABLE) apply_change(disk, &file->durable, event);
    events_add(&file->pending, event);
    break;
  case TRACE_TRUNCATE: events_add(&file->pending, event); break;
  case TRACE_SYNC:
    if (disk->honesty == DISK_IGNORES_FDATASYNC && (event->flags & TRACE_FDATASYNC)) break;
    if (file->folder) sync_folder(disk, file->inode);
    else sync_file(disk, file);
    break;
  case TRACE_MARK: break;
  }
}

struct disk *disk_new(const struct trace *trace, enum disk_honesty honesty) {
  struct disk *disk = calloc(1, sizeof *disk);
  if (!disk) die("out of memory");
  disk->trace = trace;
  disk->honesty = honesty;
  add_file(disk, trace->root, true);
  return disk;
}

void disk_free(struct disk *disk) {
  for (size_t i = 0; i < disk->file_count; i++) {
    free(disk->files[i].durable.at);
    free(disk->files[i].pending.at);
  }
  free(disk->pending_names.at);
  free(disk);
}

void disk_advance(struct disk *disk, size_t cut) {
  for (; disk->cut < cut && disk->cut < disk->trace->count; disk->cut++)
    advance_over(disk, &disk->trace->events[disk->cut]);
}

/* -- one of the possible states ---------------------------------------------------------------- */

/* The changes in doubt, of one file or of all names, that the power cut lost. */
enum loss { ALL_LOST, ALL_KEPT, EACH_BY_CHANCE, PREFIX_KEPT, ALL_BUT_ONE, EACH_TORN, LOSSES };

static bool kept(enum loss loss, struct random *random, size_t i, size_t pivot) {
  switch (loss) {
  case ALL_KEPT: return true;
  case EACH_BY_CHANCE: return random_chance(random, 50);
  case PREFIX_KEPT: return i < pivot;
  case ALL_BUT_ONE: return i != pivot;
  case EACH_TORN: return random_chance(random, 80);
  case ALL_LOST:
  case LOSSES: break;
  }
  return false;
}

static bool torn(enum loss loss, struct random *random, size_t i, size_t pivot) {
  switch (loss) {
  case EACH_BY_CHANCE: return random_chance(random, 25);
  case PREFIX_KEPT:
  case ALL_BUT_ONE: return i == pivot && random_chance(random, 50);
  case EACH_TORN: return true;
  case ALL_LOST:
  case ALL_KEPT:
  case LOSSES: break;
  }
  return false;
}

static void write_torn(const struct disk *disk, struct bytes *bytes,
                       const struct trace_event *event, struct random *random) {
  size_t end = event->offset + event->length;
  for (size_t at = event->offset; at < end;) {
    size_t next = (at / SECTOR + 1) * SECTOR;
    if (next > end) next = end;
    if (random_chance(random, 50))
      bytes_write(bytes, at, disk->trace->arena + event->data + (at - event->offset), next - at);
    at = next;
  }
}

/* Applies changes in doubt: every change that no sync has covered, and the write during which the
 * power failed, even if it was synchronous. */
static void apply_in_doubt(const struct disk *disk, struct bytes *bytes,
                           const struct events *changes, struct random *random) {
  enum loss loss = (enum loss)random_below(random, LOSSES);
  size_t pivot = changes->count ? random_below(random, changes->count) : 0;
  for (size_t i = 0; i < changes->count; i++) {
    const struct trace_event *event = changes->at[i];
    bool under_way = event == &disk->trace->events[disk->cut];
    bool durable = (event->flags & TRACE_DURABLE) && !under_way;
    if (!durable && event->kind == TRACE_WRITE && torn(loss, random, i, pivot)) {
      write_torn(disk, bytes, event, random);
    } else if (durable || kept(loss, random, i, pivot)) {
      apply_change(disk, bytes, event);
    } else if (event->kind == TRACE_WRITE && random_chance(random, 25) &&
               bytes->size < event->offset + event->length) {
      bytes_resize(bytes,
                   event->offset +
                       event->length); /* the new size reached the disk, and the bytes did not */
    }
  }
}

static void write_file(const char *path, const struct bytes *bytes) {
  int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0 || ftruncate(fd, (off_t)bytes->size) != 0) die("%s: %s", path, strerror(errno));
  static const uint8_t zeros[4096];
  for (size_t at = 0; at < bytes->size; at += sizeof zeros) {
    size_t piece = bytes->size - at < sizeof zeros ? bytes->size - at : sizeof zeros;
    if (memcmp(bytes->at + at, zeros, piece) == 0) continue;
    if (pwrite(fd, bytes->at + at, piece, (off_t)at) != (ssize_t)piece)
      die("%s: %s", path, strerror(errno));
  }
  close(fd);
}

/* If `random` is NULL, everything is kept. */
static void build_file(const struct disk *disk, const struct file *file, struct random *random,
                       const char *path) {
  struct bytes bytes = {0};
  struct events changes = {0};
  const struct trace_event *next =
      disk->cut < disk->trace->count ? &disk->trace->events[disk->cut] : NULL;
  if (file->durable.size) bytes_write(&bytes, 0, file->durable.at, file->durable.size);
  for (size_t i = 0; i < file->pending.count; i++) events_add(&changes, file->pending.at[i]);
  if (next && random && next->inode == file->inode &&
      (next->kind == TRACE_WRITE || next->kind == TRACE_TRUNCATE))
    events_add(&changes, next);
  if (random) apply_in_doubt(disk, &bytes, &changes, random);
  else
    for (size_t i = 0; i < changes.count; i++) apply_change(disk, &bytes, changes.at[i]);
  write_file(path, &bytes);
  free(bytes.at);
  free(changes.at);
}

static void build_folder(struct disk *disk, const struct names *names, uint64_t folder,
                         struct random *random, const char *path) {
  for (size_t i = 0; i < names->count; i++) {
    const struct name *name = &names->at[i];
    if (name->folder != folder) continue;
    char below[FOLDER_PATH_MAX];
    folder_join(below, path, name->text);
    const struct file *file = find(disk, name->inode);
    if (!file) die("%s has no file", below);
    if (!file->folder) {
      build_file(disk, file, random, below);
    } else {
      if (mkdir(below, 0700) != 0) die("%s: %s", below, strerror(errno));
      build_folder(disk, names, file->inode, random, below);
    }
  }
}

static void build(const struct disk *disk, struct random *random, const char *path) {
  struct disk *view = malloc(sizeof *view); /* one more file may be under way */
  if (!view) die("out of memory");
  *view = *disk;
  struct events changes = {0};
  for (size_t i = 0; i < disk->pending_names.count; i++)
    events_add(&changes, disk->pending_names.at[i]);
  const struct trace_event *next =
      disk->cut < disk->trace->count ? &disk->trace->events[disk->cut] : NULL;
  if (next && random &&
      (next->kind == TRACE_CREATE || next->kind == TRACE_RENAME || next->kind == TRACE_UNLINK)) {
    if (next->kind == TRACE_CREATE) add_file(view, next->other, next->flags & TRACE_FOLDER);
    events_add(&changes, next);
  }
  enum loss loss = random ? (enum loss)random_below(random, EACH_TORN) : ALL_KEPT;
  size_t pivot = random && changes.count ? random_below(random, changes.count) : 0;
  for (size_t i = 0; i < changes.count; i++) {
    if (kept(loss, random, i, pivot)) apply_name(&view->durable, changes.at[i]);
  }
  build_folder(view, &view->durable, view->trace->root, random, path);
  free(changes.at);
  free(view);
}

void disk_image(const struct disk *disk, struct random *random, const char *path) {
  build(disk, random, path);
}

void disk_image_whole(const struct disk *disk, const char *path) { build(disk, NULL, path); }

/* -- what was in doubt ------------------------------------------------------------------------- */

static const struct file *find_by_name(const struct disk *disk, const char *name) {
  for (size_t i = 0; i < disk->cut; i++) {
    const struct trace_event *event = &disk->trace->events[i];
    if (event->kind != TRACE_CREATE || strcmp(event->name, name) != 0) continue;
    for (size_t k = 0; k < disk->file_count; k++)
      if (disk->files[k].inode == event->other) return &disk->files[k];
  }
  return NULL;
}

static struct in_doubt in_doubt_of(const struct disk *disk, const struct file *file,
                                   const struct trace_event *event) {
  return (struct in_doubt){event->offset, event->length, disk->trace->arena + event->data,
                           file->durable.at, file->durable.size};
}

size_t disk_in_doubt(const struct disk *disk, const char *name, struct in_doubt *ret_writes,
                     size_t most) {
  const struct file *file = find_by_name(disk, name);
  size_t count = 0;
  for (size_t i = 0; file && i < file->pending.count && count < most; i++) {
    const struct trace_event *event = file->pending.at[i];
    if (event->kind == TRACE_WRITE && !(event->flags & TRACE_DURABLE) && event->length)
      ret_writes[count++] = in_doubt_of(disk, file, event);
  }
  if (!file || disk->cut == disk->trace->count || count == most) return count;
  const struct trace_event *next = &disk->trace->events[disk->cut];
  if (next->kind == TRACE_WRITE && next->inode == file->inode && next->length)
    ret_writes[count++] = in_doubt_of(disk, file, next);
  return count;
}
