/* SPDX-License-Identifier: MIT
 */
#include "powercut/spoil.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kit/arguments.h"

enum { SECTOR = 512, PAGE = 4096, IN_DOUBT_MAX = 512 };

/* A part of one write that lies in one sector. */
struct piece {
  uint64_t begin, end;
  const uint8_t *data; /* what was to be written there */
};

static struct piece piece_of(const struct in_doubt *write, struct random *random) {
  uint64_t at = write->offset + random_below(random, write->length);
  uint64_t sector = at / SECTOR * SECTOR, end = write->offset + write->length;
  struct piece piece = {.begin = sector > write->offset ? sector : write->offset,
                        .end = sector + SECTOR < end ? sector + SECTOR : end};
  piece.data = write->data + (piece.begin - write->offset);
  return piece;
}

/* Tears the sector: it is new up to a place, and old after it, or the other way round. */
static void tear(int fd, const struct in_doubt *write, const struct piece *piece,
                 struct random *random) {
  uint8_t bytes[SECTOR] = {0};
  size_t len = (size_t)(piece->end - piece->begin), place = random_below(random, len + 1);
  bool begins_new = random_chance(random, 50);
  if (piece->begin < write->durable_length) {
    size_t left = (size_t)(write->durable_length - piece->begin);
    memcpy(bytes, write->durable + piece->begin, left < len ? left : len);
  }
  if (begins_new) memcpy(bytes, piece->data, place);
  else memcpy(bytes + place, piece->data + place, len - place);
  if (pwrite(fd, bytes, len, (off_t)piece->begin) != (ssize_t)len) die("a sector cannot be torn");
}

static void spoil_one(int fd, const struct in_doubt *writes, size_t count, struct random *random,
                      struct unreadable *unreadable) {
  /* The newest write is under way, and decides whether the transaction counts. */
  size_t choice = random_chance(random, 50) ? count - 1 : (size_t)random_below(random, count);
  struct piece piece = piece_of(&writes[choice], random);
  struct stat status;
  if (random_chance(random, 50)) {
    tear(fd, &writes[choice], &piece, random);
    return;
  }
  if (fstat(fd, &status) != 0) die("an image cannot be read");
  if ((uint64_t)status.st_size > piece.begin)
    unreadable->pages[unreadable->count++] = piece.begin / PAGE;
}

size_t spoil(const struct disk *disk, struct random *random, const char *path,
             struct unreadable *ret_unreadable) {
  struct in_doubt writes[IN_DOUBT_MAX];
  const char *name = strrchr(path, '/');
  size_t count = disk_in_doubt(disk, name ? name + 1 : path, writes, IN_DOUBT_MAX), spoilt = 0;
  ret_unreadable->count = 0;
  int fd = count ? open(path, O_RDWR | O_CLOEXEC) : -1;
  if (fd < 0) return 0;
  for (size_t wanted = random_chance(random, 30) ? 2 : 1; spoilt < wanted; spoilt++)
    spoil_one(fd, writes, count, random, ret_unreadable);
  close(fd);
  return spoilt;
}
