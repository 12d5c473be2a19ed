/* SPDX-License-Identifier: MIT
 *
 * store/db/lmdb/digest.c: writes a digest as bytes and reads it. Its checksum covers all its bytes
 * but the four of the checksum.
 */
#include "store/db/lmdb/digest.h"

#include "store/db/crc32c.h"
#include "store/db/lmdb/page.h"

enum {
  TRANSACTION_AT = 8,
  FLUSHED_AT = 16,
  RUN_COUNT_AT = 24,
  WITHOUT_HEAD_AT = 28,
  PAGES_CRC_AT = 32,
  HEAD_CRC_AT = 36,
  OWN_CRC_AT = 40
};
static const char magic[8] = "digest3";

/* Covers only the part of a head that commits write: LMDB writes the rest once, when it makes the
 * file. */
uint32_t digest_head_crc(const uint8_t *head) {
  return crc32c(0, head + HEAD_MAP_AT, HEAD_BYTES - HEAD_MAP_AT);
}

static uint32_t own_crc(const uint8_t *bytes, uint32_t run_count) {
  return crc32c(crc32c(0, bytes, OWN_CRC_AT), bytes + OWN_CRC_AT + sizeof(uint32_t),
                DIGEST_FIXED_BYTES - OWN_CRC_AT - sizeof(uint32_t) +
                    (size_t)run_count * DIGEST_RUN_BYTES);
}

static void put_u32(uint8_t *bytes, size_t at, uint32_t value) {
  memcpy(bytes + at, &value, sizeof value);
}

static void put_u64(uint8_t *bytes, size_t at, uint64_t value) {
  memcpy(bytes + at, &value, sizeof value);
}

size_t digest_encode(const struct digest *digest, uint8_t *ret_bytes) {
  memset(ret_bytes, 0, DIGEST_FIXED_BYTES);
  memcpy(ret_bytes, magic, sizeof magic);
  put_u64(ret_bytes, TRANSACTION_AT, digest->transaction);
  put_u64(ret_bytes, FLUSHED_AT, digest->flushed);
  put_u32(ret_bytes, RUN_COUNT_AT, digest->run_count);
  put_u32(ret_bytes, WITHOUT_HEAD_AT, digest->without_head);
  put_u32(ret_bytes, PAGES_CRC_AT, digest->pages_crc);
  put_u32(ret_bytes, HEAD_CRC_AT, digest->head_crc);
  for (uint32_t i = 0; i < digest->run_count; i++) {
    put_u32(ret_bytes, DIGEST_FIXED_BYTES + i * DIGEST_RUN_BYTES, digest->runs[i].page);
    put_u32(ret_bytes, DIGEST_FIXED_BYTES + i * DIGEST_RUN_BYTES + 4, digest->runs[i].count);
  }
  put_u32(ret_bytes, OWN_CRC_AT, own_crc(ret_bytes, digest->run_count));
  return DIGEST_FIXED_BYTES + (size_t)digest->run_count * DIGEST_RUN_BYTES;
}

static bool read_runs(const uint8_t *bytes, uint32_t run_count, uint64_t end,
                      struct digest *digest) {
  for (uint32_t i = 0; i < run_count; i++) {
    const uint8_t *run = bytes + DIGEST_FIXED_BYTES + (size_t)i * DIGEST_RUN_BYTES;
    uint32_t page = page_u32(run, 0), count = page_u32(run, 4), before = digest->run_count;
    if (!count || page >= end || count > end - page || !digest_add_pages(digest, page, count) ||
        digest->run_count == before) /* two adjoining runs would have been written as one */
      return false;
  }
  return true;
}

enum digest_found digest_decode(const uint8_t *bytes, uint64_t end, struct digest *ret_digest) {
  static const uint8_t nothing[DIGEST_FIXED_BYTES];
  if (memcmp(bytes, nothing, sizeof nothing) == 0) return DIGEST_NONE;
  uint32_t run_count = page_u32(bytes, RUN_COUNT_AT);
  if (memcmp(bytes, magic, sizeof magic) != 0 || run_count > DIGEST_RUNS ||
      page_u32(bytes, OWN_CRC_AT) != own_crc(bytes, run_count))
    return DIGEST_WRONG;
  ret_digest->transaction = page_u64(bytes, TRANSACTION_AT);
  ret_digest->flushed = page_u64(bytes, FLUSHED_AT);
  ret_digest->without_head = page_u32(bytes, WITHOUT_HEAD_AT);
  ret_digest->pages_crc = page_u32(bytes, PAGES_CRC_AT);
  ret_digest->head_crc = page_u32(bytes, HEAD_CRC_AT);
  ret_digest->run_count = 0;
  return read_runs(bytes, run_count, end, ret_digest) ? DIGEST_FOUND : DIGEST_WRONG;
}

uint64_t digest_pages(const struct digest *digest) {
  uint64_t pages = 0;
  for (uint32_t i = 0; i < digest->run_count; i++) pages += digest->runs[i].count;
  return pages;
}

bool digest_add_pages(struct digest *digest, uint64_t page, uint64_t count) {
  struct digest_run *last = digest->run_count ? &digest->runs[digest->run_count - 1] : NULL;
  uint64_t next = last ? (uint64_t)last->page + last->count : PAGE_HEADS;
  if (page < next || page > UINT32_MAX || count > DIGEST_PAGES - digest_pages(digest)) return false;
  if (last && page == next) {
    last->count += (uint32_t)count;
    return true;
  }
  if (digest->run_count == DIGEST_RUNS) return false;
  digest->runs[digest->run_count++] = (struct digest_run){(uint32_t)page, (uint32_t)count};
  return true;
}
