/* SPDX-License-Identifier: MIT
 *
 * store/db/lmdb/flush.c: finds the commit of a write by the thread that writes. It uses no
 * thread-local variable: in a plugin, the first use of one may need memory, and aborts without it.
 */
#include "store/db/lmdb/flush.h"

#include <errno.h>
#include <lmdb.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "store/db/crc32c.h"
#include "store/db/lmdb/heads.h"

/* Writes a digest without pages before LMDB begins, when the contents of the head are not known
 * yet. */
static int write_early_digest(const struct flush *flush) {
  struct digest digest = {.transaction = flush->digest.transaction,
                          .flushed = flush->digest.flushed,
                          .without_head = true};
  uint8_t bytes[DIGEST_BYTES];
  size_t len = digest_encode(&digest, bytes);
  uint64_t page = digest.transaction % PAGE_HEADS;
  return heads_write_at(flush->fd, bytes, len, page * flush->page_bytes + DIGEST_AT);
}

#ifdef TIDINGS_LMDB_LINKED_IN
#include <lmdb_writes.h>

/* -- whose commit it is ------------------------------------------------------------------------ */

enum { COMMITS = 64, NO_THREAD = 0, BEING_TAKEN = 1 };
static struct {
  _Atomic uintptr_t thread; /* a pthread_t: an address, so neither of these two constants */
  struct flush *flush;      /* only that thread reads it */
  pid_t process;            /* a forked child inherits the places of its parent's threads */
} commits[COMMITS];

static bool is_ours(int place) {
  return atomic_load(&commits[place].thread) == (uintptr_t)pthread_self() &&
         commits[place].process == getpid();
}

static bool take_place(struct flush *flush) {
  for (int i = 0; i < COMMITS; i++) {
    uintptr_t none = NO_THREAD;
    if (!atomic_compare_exchange_strong(&commits[i].thread, &none, BEING_TAKEN)) continue;
    commits[i].flush = flush;
    commits[i].process = getpid();
    atomic_store(&commits[i].thread, (uintptr_t)pthread_self());
    return true;
  }
  return false;
}

static void leave_place(void) {
  for (int i = 0; i < COMMITS; i++) {
    if (is_ours(i)) atomic_store(&commits[i].thread, NO_THREAD);
  }
}

static struct flush *current(void) {
  for (int i = 0; i < COMMITS; i++) {
    if (is_ours(i)) return commits[i].flush;
  }
  return NULL;
}

/* -- pages ------------------------------------------------------------------------------------- */

static bool is_pages(const struct flush *flush, int fd, size_t bytes, off_t at) {
  return fd == flush->fd && bytes && bytes % flush->page_bytes == 0 && at > 0 &&
         (uint64_t)at % flush->page_bytes == 0 && (uint64_t)at / flush->page_bytes >= PAGE_HEADS;
}

static bool is_head(const struct flush *flush, size_t bytes, off_t at) {
  return bytes == HEAD_BYTES - HEAD_MAP_AT && at >= 0 &&
         (uint64_t)at % flush->page_bytes == HEAD_MAP_AT &&
         (uint64_t)at / flush->page_bytes < PAGE_HEADS;
}

static size_t sum_bytes(const struct iovec *pieces, int count) {
  size_t bytes = 0;
  for (int i = 0; i < count; i++) bytes += pieces[i].iov_len;
  return bytes;
}

/* Adds a write of this thread to the digest, even one that has failed, because then LMDB gives up
 * the commit. */
static void note_write(struct flush *flush, int fd, const struct iovec *pieces, int count,
                       off_t at) {
  size_t bytes = sum_bytes(pieces, count);
  struct digest *digest = &flush->digest;
  bool known = flush->phase == FLUSH_PAGES && is_pages(flush, fd, bytes, at);
  if (flush->phase == FLUSH_DONE) flush->phase = FLUSH_PAGES;
  if (!flush->whole) return;
  flush->whole = known && digest_add_pages(digest, (uint64_t)at / flush->page_bytes,
                                           bytes / flush->page_bytes);
  for (int i = 0; flush->whole && i < count; i++)
    digest->pages_crc = crc32c(digest->pages_crc, pieces[i].iov_base, pieces[i].iov_len);
}

/* -- the flushes ------------------------------------------------------------------------------- */

static int flush_now(struct flush *flush) {
  int failed;
  do failed = fdatasync(flush->fd);
  while (failed && errno == EINTR);
  return failed;
}

/* If the digest lacks pages, they must be on the disk before the head is written. */
static int flush_pages(struct flush *flush) {
  if (flush->whole && flush->phase == FLUSH_OWED) return 0;
  flush->digest.run_count = 0;
  if (flush->phase != FLUSH_DONE && flush_now(flush)) return errno;
  flush->phase = FLUSH_DONE;
  return 0;
}

static int write_digest(struct flush *flush, const void *head, uint64_t page) {
  uint8_t whole[HEAD_BYTES] = {0}, bytes[DIGEST_BYTES];
  memcpy(whole + HEAD_MAP_AT, head, HEAD_BYTES - HEAD_MAP_AT);
  flush->digest.transaction = page_u64(whole, HEAD_TRANSACTION_AT);
  flush->digest.head_crc = digest_head_crc(whole);
  size_t len = digest_encode(&flush->digest, bytes);
  return heads_write_at(flush->fd, bytes, len, page * flush->page_bytes + DIGEST_AT);
}

/* Writes the digest before the head, because the kernel may write the page to the disk between the
 * two. */
static ssize_t write_head(struct flush *flush, const void *head, size_t bytes, off_t at) {
  int err = flush_pages(flush);
  if (!err) err = write_digest(flush, head, (uint64_t)at / flush->page_bytes);
  flush->phase = FLUSH_HEAD;
  if (err) {
    errno = err;
    return -1;
  }
  flush->head_reached = true;
  ssize_t len;
  do len = pwrite(flush->fd, head, bytes, at);
  while (len < 0 && errno == EINTR);
  if (len != (ssize_t)bytes) return len;
  return flush_now(flush) ? -1 : len;
}

/* -- what LMDB calls --------------------------------------------------------------------------- */

static ssize_t watched_pwrite(int fd, const void *data, size_t bytes, off_t at) {
  struct flush *flush = current();
  if (!flush || flush->phase == FLUSH_HEAD) return pwrite(fd, data, bytes, at);
  if (is_head(flush, bytes, at)) return write_head(flush, data, bytes, at);
  ssize_t len = pwrite(fd, data, bytes, at);
  const struct iovec piece = {(void *)(uintptr_t)data, bytes};
  if (len == (ssize_t)bytes) note_write(flush, fd, &piece, 1, at);
  return len;
}

static ssize_t watched_pwritev(int fd, const struct iovec *pieces, int count, off_t at) {
  struct flush *flush = current();
  ssize_t len = pwritev(fd, pieces, count, at);
  if (flush && flush->phase != FLUSH_HEAD && len == (ssize_t)sum_bytes(pieces, count))
    note_write(flush, fd, pieces, count, at);
  return len;
}

static ssize_t watched_writev(int fd, const struct iovec *pieces, int count) {
  struct flush *flush = current();
  off_t at = flush ? lseek(fd, 0, SEEK_CUR) : -1;
  ssize_t len = writev(fd, pieces, count);
  if (flush && flush->phase != FLUSH_HEAD && len == (ssize_t)sum_bytes(pieces, count))
    note_write(flush, fd, pieces, count, at);
  return len;
}

static int watched_fdatasync(int fd) {
  struct flush *flush = current();
  if (!flush || fd != flush->fd || flush->phase == FLUSH_HEAD) return fdatasync(fd);
  if (flush->whole && flush->phase == FLUSH_PAGES) {
    flush->phase = FLUSH_OWED;
    return 0;
  }
  if (flush_now(flush)) return -1;
  flush->phase = FLUSH_DONE;
  return 0;
}

static const struct tidings_lmdb_watch watch = {watched_pwrite, watched_writev, watched_pwritev,
                                                watched_fdatasync};

static _Atomic bool unknown; /* LMDB wrote a head by a call that is not watched */

/* True for the versions of LMDB that are known to write the pages, call fdatasync, and write the
 * head. */
bool flush_is_single(void) {
  enum { FIRST = 24, LAST = 33 };
  int major, minor, patch;
  (void)mdb_version(&major, &minor, &patch);
  return !atomic_load(&unknown) && major == 0 && minor == 9 && patch >= FIRST && patch <= LAST;
}

static bool begin_watch(struct flush *flush) {
  if (!flush_is_single() || !take_place(flush)) return false;
  tidings_lmdb_set_watch(&watch);
  return true;
}

static bool missed_head(const struct flush *flush) {
  if (flush->phase == FLUSH_HEAD) return false;
  atomic_store(&unknown, true);
  return true;
}

#else

bool flush_is_single(void) { return false; }
static bool begin_watch(const struct flush *flush) {
  (void)flush;
  return false;
}
static void leave_place(void) {}
static bool missed_head(const struct flush *flush) {
  (void)flush;
  return false;
}

#endif

/* -- a commit ---------------------------------------------------------------------------------- */

int flush_commit_begin(struct flush *flush, int fd, uint64_t page_bytes, uint64_t transaction,
                       uint64_t flushed) {
  flush->fd = fd;
  flush->page_bytes = page_bytes;
  flush->phase = FLUSH_PAGES;
  flush->whole = true;
  flush->head_reached = false;
  flush->digest.transaction = transaction;
  flush->digest.flushed = flushed;
  flush->digest.without_head = false;
  flush->digest.pages_crc = flush->digest.run_count = 0;
  flush->watched = begin_watch(flush);
  if (flush->watched) return 0;
  flush->head_reached = true;
  return write_early_digest(flush);
}

void flush_commit_end(struct flush *flush) {
  if (flush->watched) leave_place();
}

bool flush_missed_head(const struct flush *flush) { return flush->watched && missed_head(flush); }
