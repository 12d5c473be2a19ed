/* SPDX-License-Identifier: MIT
 *
 * store/db/lmdb/walk_kept.c: the file `checked`: how far a walk that has paused has come. Only who
 * has the gate reads and writes it. It is worth something in one boot, for one file that nobody has
 * written since; nobody syncs it, and what is not whole is as good as none.
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

/* After it come the bits of the pages that were seen. */
struct kept {
  char magic[8];
  uint32_t layout, crc; /* of all but itself */
  uint8_t boot_id[16];
  uint64_t inode, transaction, last_page;
  int64_t modified_ns;
  struct walk_place place;
};

static struct kept kept_of(const struct db *db, const struct walk *walk, const struct stat *entry) {
  struct kept kept;
  memset(&kept, 0, sizeof kept); /* its padding is written, and has a checksum */
  memcpy(kept.magic, "tidings", sizeof kept.magic);
  kept.layout = KEPT_LAYOUT;
  memcpy(kept.boot_id, db->self.boot_id, sizeof kept.boot_id);
  kept.inode = entry->st_ino;
  kept.transaction = walk->transaction;
  kept.last_page = walk->last_page;
  kept.modified_ns = entry->st_mtim.tv_sec * INT64_C(1000000000) + entry->st_mtim.tv_nsec;
  return kept;
}

static size_t seen_bytes(const struct walk *walk) { return (size_t)(walk->last_page / 8 + 1); }

/* Computes the checksum of all bytes as they are, with padding. */
static uint32_t take_checksum(struct kept *kept, const struct walk *walk) {
  kept->crc = 0;
  return crc32c(crc32c(0, kept, sizeof *kept), walk->seen, seen_bytes(walk));
}

int walk_keep(struct db *db, const struct walk *walk, const struct stat *entry) {
  struct kept kept = kept_of(db, walk, entry);
  memcpy(&kept.place, &walk->place, sizeof kept.place);
  kept.crc = take_checksum(&kept, walk);
  struct iovec parts[] = {{&kept, sizeof kept}, {walk->seen, seen_bytes(walk)}};
  int fd = openat(db->directory_fd, kept_name,
                  O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
  if (fd < 0) return errno;
  ssize_t len = writev(fd, parts, 2);
  int err = len < 0 ? errno : (size_t)len < sizeof kept + seen_bytes(walk) ? ENOSPC : 0;
  close(fd);
  return err;
}

static bool is_of_this_walk(const struct kept *kept, const struct kept *wanted,
                            const struct walk *walk) {
  const struct walk_tree *tree = kept->place.in_free ? &walk->free_pages : &walk->rows;
  return memcmp(kept->magic, wanted->magic, sizeof kept->magic) == 0 &&
         kept->layout == wanted->layout &&
         memcmp(kept->boot_id, wanted->boot_id, sizeof kept->boot_id) == 0 &&
         kept->inode == wanted->inode && kept->transaction == wanted->transaction &&
         kept->last_page == wanted->last_page && kept->modified_ns == wanted->modified_ns &&
         kept->place.entered <= tree->depth;
}

void walk_go_on(struct db *db, struct walk *walk, const struct stat *entry) {
  const struct kept wanted = kept_of(db, walk, entry);
  struct kept kept;
  struct iovec parts[] = {{&kept, sizeof kept}, {walk->seen, seen_bytes(walk)}};
  int fd = openat(db->directory_fd, kept_name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return;
  ssize_t len = readv(fd, parts, 2);
  close(fd);
  bool whole =
      len == (ssize_t)(sizeof kept + seen_bytes(walk)) && is_of_this_walk(&kept, &wanted, walk);
  uint32_t crc = whole ? kept.crc : 0;
  if (whole && crc == take_checksum(&kept, walk)) walk->place = kept.place;
  else memset(walk->seen, 0, seen_bytes(walk));
}

void walk_forget(struct db *db) { (void)unlinkat(db->directory_fd, kept_name, 0); }
