/* SPDX-License-Identifier: MIT
 *
 * store/db/lmdb/digest.h: a digest states which pages a commit wrote, and their checksum. It is in
 * the page of the commit's head, in bytes that LMDB never writes. With a digest the pages and the
 * head can be flushed together: after a power cut, a head whose pages are not all on the disk is
 * recognized and not used.
 */
#ifndef STORE_DB_LMDB_DIGEST_H
#define STORE_DB_LMDB_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  DIGEST_AT = 512, /* in the head's page */
  DIGEST_RUNS = 300,
  DIGEST_PAGES = 512,
  DIGEST_FIXED_BYTES = 48,
  DIGEST_RUN_BYTES = 8,
  DIGEST_BYTES = DIGEST_FIXED_BYTES + DIGEST_RUNS * DIGEST_RUN_BYTES,
  DIGEST_END = DIGEST_AT + DIGEST_BYTES
};

struct digest_run {
  uint32_t page, count;
};
struct digest {
  uint64_t transaction;
  uint64_t flushed;  /* the newest transaction known to be flushed when this was written */
  bool without_head; /* written before the contents of the head were known */
  uint32_t head_crc, pages_crc;
  uint32_t run_count;                  /* 0: the pages were flushed before the head was written */
  struct digest_run runs[DIGEST_RUNS]; /* rising; no page twice */
};

enum digest_found { DIGEST_NONE, DIGEST_WRONG, DIGEST_FOUND };

uint32_t digest_head_crc(const uint8_t *head);
/* Returns how many bytes the digest has, at most DIGEST_BYTES. */
size_t digest_encode(const struct digest *digest, uint8_t *ret_bytes);
/* `bytes` has DIGEST_BYTES; pages from `end` on are not in the file. *ret_digest is written with
 * DIGEST_FOUND only. The digest may belong to another head than the one in its page. */
enum digest_found digest_decode(const uint8_t *bytes, uint64_t end, struct digest *ret_digest);
/* Adds pages that were written. False: there are too many, or not in rising order. */
bool digest_add_pages(struct digest *digest, uint64_t page, uint64_t count);
uint64_t digest_pages(const struct digest *digest);

#endif
