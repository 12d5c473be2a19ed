/* SPDX-License-Identifier: MIT
 *
 * powercut/unreadable.c: makes pages of one file unreadable in this process.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kit/arguments.h"
#include "kit/interpose.h"
#include "powercut/spoil.h"

enum { PAGE = 4096, MAPS_MAX = 8 };

struct file_map {
  uint8_t *address; /* NULL: free */
  size_t length;
  off_t offset;
  int protection;
};

static struct {
  pthread_mutex_t lock;
  dev_t device;
  ino_t inode;
  struct unreadable pages;
  struct file_map maps[MAPS_MAX];
} bad = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool is_the_file(int fd) {
  struct stat status;
  return fd >= 0 && fstat(fd, &status) == 0 && status.st_dev == bad.device &&
         status.st_ino == bad.inode;
}

static void protect(const struct file_map *map, uint64_t page, int protection) {
  off_t at = (off_t)page * PAGE - map->offset;
  if (at < 0 || (size_t)at >= map->length) return;
  if (mprotect(map->address + at, PAGE, protection) != 0) die("mprotect: %s", strerror(errno));
}

static void protect_all(uint64_t page, bool readable) {
  for (size_t i = 0; i < MAPS_MAX; i++)
    if (bad.maps[i].address)
      protect(&bad.maps[i], page, readable ? bad.maps[i].protection : PROT_NONE);
}

/* Is it a write to this file? LMDB writes with an offset, or at the descriptor's own position. */
static bool writes_the_file(const struct io_op *op) {
  bool writes = op->kind == IO_PWRITE || op->kind == IO_WRITE || op->kind == IO_WRITEV;
  return writes && is_the_file(op->fd);
}

/* Can the write be made? Writing a part of a page reads the rest of the page first. */
static bool write_can_be_made(const struct io_op *op) {
  for (size_t i = 0; i < bad.pages.count; i++) {
    off_t begin = (off_t)bad.pages.pages[i] * PAGE, end = begin + PAGE;
    if (op->position >= end || op->position + (off_t)op->length <= begin) continue;
    if (op->position > begin || op->position + (off_t)op->length < end) return false;
  }
  return true;
}

static void after_write(const struct io_op *op) {
  for (size_t i = bad.pages.count; i-- > 0;) {
    off_t begin = (off_t)bad.pages.pages[i] * PAGE;
    if (op->position > begin || op->position + op->result < begin + PAGE) continue;
    protect_all(bad.pages.pages[i], true);
    bad.pages.pages[i] = bad.pages.pages[--bad.pages.count];
  }
}

static bool read_can_be_made(const struct io_op *op) {
  for (size_t i = 0; i < bad.pages.count; i++) {
    off_t begin = (off_t)bad.pages.pages[i] * PAGE;
    if (op->offset < begin + PAGE && op->offset + (off_t)op->length > begin) return false;
  }
  return true;
}

static bool before(struct io_op *op) {
  pthread_mutex_lock(&bad.lock);
  bool goes = true;
  if (op->kind == IO_PREAD && is_the_file(op->fd)) goes = read_can_be_made(op);
  if (writes_the_file(op)) {
    op->position = op->offset >= 0 ? op->offset : lseek(op->fd, 0, SEEK_CUR);
    goes = write_can_be_made(op);
  }
  if (op->kind == IO_MUNMAP) {
    for (size_t i = 0; i < MAPS_MAX; i++)
      if (bad.maps[i].address == op->address) bad.maps[i].address = NULL;
  }
  if (!goes) op->error = EIO;
  return goes;
}

static void after_map(const struct io_op *op) {
  for (size_t i = 0; i < MAPS_MAX; i++) {
    struct file_map *map = &bad.maps[i];
    if (map->address) continue;
    *map = (struct file_map){(uint8_t *)op->result, op->length, op->offset, op->protection};
    for (size_t k = 0; k < bad.pages.count; k++) protect(map, bad.pages.pages[k], PROT_NONE);
    return;
  }
  die("more than %d mappings", MAPS_MAX);
}

static void after(const struct io_op *op) {
  if (op->result != -1 && writes_the_file(op)) after_write(op);
  if (op->result != -1 && op->kind == IO_MMAP && is_the_file(op->fd)) after_map(op);
  pthread_mutex_unlock(&bad.lock);
}

static const struct io_watch watch = {.before = before, .after = after, .reads = true};

void unreadable_arm(const char *path, const struct unreadable *unreadable) {
  struct stat status;
  io_watch(NULL);
  memset(bad.maps, 0, sizeof bad.maps);
  bad.pages = *unreadable;
  if (unreadable->count == 0) return;
  if (stat(path, &status) != 0) die("%s: %s", path, strerror(errno));
  bad.device = status.st_dev;
  bad.inode = status.st_ino;
  io_watch(&watch);
}
