/* SPDX-License-Identifier: MIT
 *
 * store/db/lmdb/walk_kept.c: the file `checked`: how far a walk that has paused has come. Only a
 * process with the gate reads and writes it. It is valid in one boot, for one data.mdb that nobody
 * has written since. Nobody syncs it, and a file that is not whole is ignored.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "store/db/crc32c.h"
#include "store/db/lmdb/engine.h"
#include "store/db/lmdb/page.h"
#include "store/db/lmdb/walk.h"

enum { KEPT_LAYOUT = 1 };
static const char kept_name[] = "checked";

/* The bits of the pages that were seen follow it. */
struct progress {
  char magic[8];
  uint32_t layout, crc; /* crc: of all other bytes */
  uint8_t boot_id[16];
  uint64_t inode, transaction, last_page;
  int64_t modified_ns;
  struct walk_place place;
};

static struct progress kept_of(const struct db *db, const struct walk *walk,
                               const struct stat *entry) {
  struct progress progress;
  memset(&progress, 0,
         sizeof progress); /* the padding is written too, and the checksum covers it */
  memcpy(progress.magic, "tidings", sizeof progress.magic);
  progress.layout = KEPT_LAYOUT;
  memcpy(progress.boot_id, db->self.boot_id, sizeof progress.boot_id);
  progress.inode = entry->st_ino;
  progress.transaction = walk->transaction;
  progress.last_page = walk->last_page;
  progress.modified_ns = entry->st_mtim.tv_sec * INT64_C(1000000000) + entry->st_mtim.tv_nsec;
  return progress;
}

static size_t seen_bytes(const struct walk *walk) { return (size_t)(walk->last_page / 8 + 1); }

/* Computes the checksum of all bytes as they are, with padding. */
static uint32_t take_checksum(struct progress *progress, const struct walk *walk) {
  progress->crc = 0;
  return crc32c(crc32c(0, progress, sizeof *progress), walk->seen, seen_bytes(walk));
}

int walk_keep(struct db *db, const struct walk *walk, const struct stat *entry) {
  struct progress progress = kept_of(db, walk, entry);
  memcpy(&progress.place, &walk->place, sizeof progress.place);
  progress.crc = take_checksum(&progress, walk);
  struct iovec parts[] = {{&progress, sizeof progress}, {walk->seen, seen_bytes(walk)}};
  int fd = openat(db->directory_fd, kept_name,
                  O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
  if (fd < 0) return errno;
  ssize_t len = writev(fd, parts, 2);
  int err = len < 0 ? errno : (size_t)len < sizeof progress + seen_bytes(walk) ? ENOSPC : 0;
  close(fd);
  return err;
}

static bool is_of_this_walk(const struct progress *progress, const struct progress *wanted,
                            const struct walk *walk) {
  const struct walk_tree *tree = progress->place.in_free ? &walk->free_pages : &walk->rows;
  return memcmp(progress->magic, wanted->magic, sizeof progress->magic) == 0 &&
         progress->layout == wanted->layout &&
         memcmp(progress->boot_id, wanted->boot_id, sizeof progress->boot_id) == 0 &&
         progress->inode == wanted->inode && progress->transaction == wanted->transaction &&
         progress->last_page == wanted->last_page && progress->modified_ns == wanted->modified_ns &&
         progress->place.entered <= tree->depth;
}

void walk_go_on(struct db *db, struct walk *walk, const struct stat *entry) {
  const struct progress wanted = kept_of(db, walk, entry);
  struct progress progress;
  struct iovec parts[] = {{&progress, sizeof progress}, {walk->seen, seen_bytes(walk)}};
  int fd = openat(db->directory_fd, kept_name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return;
  ssize_t len = readv(fd, parts, 2);
  close(fd);
  bool whole = len == (ssize_t)(sizeof progress + seen_bytes(walk)) &&
               is_of_this_walk(&progress, &wanted, walk);
  uint32_t crc = whole ? progress.crc : 0;
  if (whole && crc == take_checksum(&progress, walk)) walk->place = progress.place;
  else memset(walk->seen, 0, seen_bytes(walk));
}

void walk_forget(struct db *db) { (void)unlinkat(db->directory_fd, kept_name, 0); }
