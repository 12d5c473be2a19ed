/* SPDX-License-Identifier: MIT
 */
#include "store/db/lmdb/heads.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/db/crc32c.h"

enum { PIECE_BYTES = 16384 };

/* Returns 0 or an errno; EIO if the file ends before. */
static int read_fully(int fd, void *to, size_t bytes, uint64_t at) {
  for (size_t done = 0; done < bytes;) {
    ssize_t len = pread(fd, (uint8_t *)to + done, bytes - done, (off_t)(at + done));
    if (len < 0 && errno == EINTR) continue;
    if (len < 0) return errno;
    if (len == 0) return EIO;
    done += (size_t)len;
  }
  return 0;
}

int heads_write_at(int fd, const void *from, size_t bytes, uint64_t at) {
  for (size_t done = 0; done < bytes;) {
    ssize_t len = pwrite(fd, (const uint8_t *)from + done, bytes - done, (off_t)(at + done));
    if (len < 0 && errno == EINTR) continue;
    if (len < 0) return errno;
    if (len == 0) return EIO;
    done += (size_t)len;
  }
  return 0;
}

/* -- reading ----------------------------------------------------------------------------------- */

static bool is_plausible(const struct heads *heads, unsigned index, const uint8_t *bytes) {
  uint64_t transaction = page_u64(bytes, HEAD_TRANSACTION_AT);
  return page_u64(bytes, PAGE_NUMBER_AT) == index && page_u16(bytes, PAGE_KIND_AT) == PAGE_HEAD &&
         page_u32(bytes, HEAD_MAGIC_AT) == HEAD_MAGIC &&
         page_u32(bytes, HEAD_VERSION_AT) == HEAD_VERSION &&
         page_u32(bytes, HEAD_PAGE_BYTES_AT) == heads->page_bytes &&
         page_u64(bytes, HEAD_MAP_AT) == heads->map_bytes &&
         (!transaction || transaction % PAGE_HEADS == index);
}

static void read_head(struct heads *heads, unsigned index, const uint8_t *bytes) {
  struct file_head *head = &heads->head[index];
  enum digest_found found = digest_decode(bytes + DIGEST_AT, heads->file_pages, &head->digest);
  head->has_digest = found == DIGEST_FOUND;
  if (!is_plausible(heads, index, bytes)) return;
  memcpy(head->bytes, bytes, HEAD_BYTES);
  head->transaction = page_u64(bytes, HEAD_TRANSACTION_AT);
  head->last_page = page_u64(bytes, HEAD_LAST_PAGE_AT);
  const struct digest *digest = &head->digest;
  bool right = head->has_digest && digest->transaction == head->transaction &&
               (digest->without_head || digest->head_crc == digest_head_crc(bytes));
  head->state = found == DIGEST_NONE ? HEAD_BARE : right ? HEAD_RIGHT : HEAD_WRONG;
}

int heads_read(struct heads *heads, int fd, uint64_t page_bytes, uint64_t map_bytes) {
  uint8_t bytes[DIGEST_END];
  struct stat entry;
  if (fstat(fd, &entry)) return errno;
  *heads = (struct heads){.fd = fd, .page_bytes = page_bytes, .map_bytes = map_bytes};
  heads->file_pages = (uint64_t)entry.st_size / page_bytes;
  for (unsigned i = 0; i < PAGE_HEADS; i++) {
    int err = read_fully(fd, bytes, sizeof bytes, i * page_bytes);
    if (err && err != EIO) return err;
    if (!err) read_head(heads, i, bytes);
  }
  return 0;
}

/* -- judging ----------------------------------------------------------------------------------- */

unsigned heads_newest(const struct heads *heads) {
  const struct file_head *head = heads->head;
  if (head[0].state == HEAD_LOST || head[1].state == HEAD_LOST) return head[0].state == HEAD_LOST;
  return head[1].transaction > head[0].transaction;
}

int heads_check_pages(const struct heads *heads, unsigned index, bool *ret_right) {
  const struct file_head *head = &heads->head[index];
  uint8_t piece[PIECE_BYTES];
  uint32_t crc = 0;
  for (uint32_t i = 0; i < head->digest.run_count; i++) {
    const struct digest_run *run = &head->digest.runs[i];
    uint64_t at = run->page * heads->page_bytes, end = at + run->count * heads->page_bytes;
    for (size_t bytes; at < end; at += bytes) {
      bytes = end - at < sizeof piece ? (size_t)(end - at) : sizeof piece;
      int err = read_fully(heads->fd, piece, bytes, at);
      *ret_right = false;
      if (err) return err == EIO ? 0 : err;
      crc = crc32c(crc, piece, bytes);
    }
  }
  *ret_right = !head->digest.run_count || crc == head->digest.pages_crc;
  return 0;
}

/* `flushed`: the pages of the head's commit need no check, because they were on the disk. */
static int is_right(const struct heads *heads, unsigned index, bool flushed, bool *ret_right) {
  const struct file_head *head = &heads->head[index];
  *ret_right = head->state == HEAD_RIGHT && head->last_page < heads->file_pages;
  return *ret_right && !flushed ? heads_check_pages(heads, index, ret_right) : 0;
}

/* Can LMDB open a file that has this head as its older one? */
static bool is_usable(const struct heads *heads, const struct file_head *head) {
  return head->state != HEAD_LOST && head->last_page < heads->file_pages;
}

static uint64_t max_u64(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* The newest transaction that was flushed, as the older head's page notes it. */
static uint64_t marked_flushed(const struct file_head *older) {
  return older->has_digest ? older->digest.flushed : 0;
}

int heads_judge(const struct heads *heads, uint64_t flushed, bool unchanged,
                struct heads_verdict *ret_verdict) {
  const struct file_head *head = heads->head;
  unsigned newest = heads_newest(heads), other = 1 - newest;
  struct heads_verdict verdict = {.judgement = HEADS_UNKNOWN, .counts = newest, .newest = newest};
  bool has_digest = head[0].has_digest || head[1].has_digest, right = false;
  bool lost = head[0].state == HEAD_LOST || head[1].state == HEAD_LOST;
  uint64_t marked = marked_flushed(&head[other]);
  verdict.flushed = max_u64(flushed, max_u64(marked, marked_flushed(&head[newest])));
  *ret_verdict = verdict;
  if (head[newest].state == HEAD_LOST || (!has_digest && lost)) return 0;
  if (head[0].state == HEAD_BARE && head[1].state == HEAD_BARE) {
    ret_verdict->judgement = HEADS_BARE;
    return 0;
  }
  int err = is_right(heads, newest, unchanged || marked >= head[newest].transaction, &right);
  if (!err && right) {
    bool older = !lost || head[newest].transaction >= verdict.flushed;
    verdict.judgement = !older                           ? HEADS_DAMAGED
                        : is_usable(heads, &head[other]) ? HEADS_SOUND
                                                         : HEADS_SPOILED;
  } else if (!err) {
    verdict.counts = other;
    verdict.judgement = HEADS_DAMAGED;
    err = is_right(heads, other, false, &right);
    if (right && head[other].transaction >= verdict.flushed) verdict.judgement = HEADS_CUT;
  }
  if (!err) *ret_verdict = verdict;
  return err;
}

/* -- writing ----------------------------------------------------------------------------------- */

/* Writes the whole page, in one write, because a part of a page that cannot be read cannot be
 * written. */
static int write_head_page(const struct heads *heads, unsigned index, const uint8_t *head,
                           const struct digest *digest) {
  uint8_t *page = calloc(1, (size_t)heads->page_bytes);
  if (!page) return ENOMEM;
  memcpy(page, head, HEAD_BYTES);
  (void)digest_encode(digest, page + DIGEST_AT);
  int err = heads_write_at(heads->fd, page, (size_t)heads->page_bytes, index * heads->page_bytes);
  free(page);
  return err;
}

static int flush(const struct heads *heads) { return fdatasync(heads->fd) ? errno : 0; }

int heads_repair(const struct heads *heads, const struct heads_verdict *verdict) {
  const struct file_head *from = &heads->head[verdict->counts];
  uint64_t index = 1 - verdict->counts, transaction = from->transaction - 1;
  uint8_t head[HEAD_BYTES];
  memcpy(head, from->bytes, sizeof head);
  memcpy(head + PAGE_NUMBER_AT, &index, sizeof index);
  memcpy(head + HEAD_TRANSACTION_AT, &transaction, sizeof transaction);
  const struct digest digest = {
      .transaction = transaction, .flushed = from->transaction, .head_crc = digest_head_crc(head)};
  int err = write_head_page(heads, (unsigned)index, head, &digest);
  return err ? err : flush(heads);
}

static int write_pages_again(const struct heads *heads, const struct digest *digest) {
  uint8_t *page = malloc((size_t)heads->page_bytes);
  int err = page ? 0 : ENOMEM;
  for (uint32_t i = 0; !err && i < digest->run_count; i++) {
    for (uint32_t k = 0; !err && k < digest->runs[i].count; k++) {
      uint64_t at = (digest->runs[i].page + (uint64_t)k) * heads->page_bytes;
      err = read_fully(heads->fd, page, (size_t)heads->page_bytes, at);
      if (!err) err = heads_write_at(heads->fd, page, (size_t)heads->page_bytes, at);
    }
  }
  free(page);
  return err;
}

int heads_write_again(const struct heads *heads, unsigned newest) {
  const struct file_head *head = &heads->head[newest];
  int err = write_pages_again(heads, &head->digest);
  if (!err) err = write_head_page(heads, newest, head->bytes, &head->digest);
  return err ? err : flush(heads);
}

static int write_seal(struct heads *heads, unsigned index, uint64_t flushed) {
  struct file_head *head = &heads->head[index];
  uint8_t bytes[DIGEST_BYTES];
  head->digest = (struct digest){.transaction = head->transaction,
                                 .flushed = flushed,
                                 .head_crc = digest_head_crc(head->bytes)};
  head->has_digest = true;
  size_t len = digest_encode(&head->digest, bytes);
  return heads_write_at(heads->fd, bytes, len, index * heads->page_bytes + DIGEST_AT);
}

/* Seals the older head first: if the newest head is torn, the page of the older head then says that
 * a commit is missing. */
int heads_seal(struct heads *heads, unsigned newest) {
  uint64_t flushed = heads->head[newest].transaction;
  int err = write_seal(heads, 1 - newest, flushed);
  if (!err) err = flush(heads);
  if (!err) err = write_seal(heads, newest, flushed);
  return err ? err : flush(heads);
}

void heads_mark_flushed(struct heads *heads, unsigned newest) {
  struct file_head *older = &heads->head[1 - newest];
  uint64_t flushed = heads->head[newest].transaction;
  if (older->state == HEAD_RIGHT && older->digest.flushed < flushed)
    (void)write_seal(heads, 1 - newest, flushed);
}
