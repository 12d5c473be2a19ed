/* SPDX-License-Identifier: MIT
 *
 * store/db/lmdb/flush.h: a commit with one flush. LMDB writes the pages and flushes them, then
 * writes the head and flushes it. Here the first flush is put off, the head gets a digest of the
 * pages, and one flush makes pages and head durable before LMDB shows the commit to anyone.
 *
 * This needs an LMDB that is linked in, because its write calls are redirected when it is linked
 * (cmake/linked_in/lmdb_writes.h), and a version whose order of writes is known. Any other LMDB
 * flushes twice, and the digest has no pages.
 */
#ifndef STORE_DB_LMDB_FLUSH_H
#define STORE_DB_LMDB_FLUSH_H

#include <stdatomic.h>

#include "store/db/lmdb/digest.h"

struct flush {
  int fd;
  uint64_t page_bytes;
  enum flush_phase {
    FLUSH_PAGES, /* pages are written */
    FLUSH_OWED,  /* LMDB believes that they were flushed */
    FLUSH_DONE,  /* they were */
    FLUSH_HEAD   /* the head is being written, or was */
  } phase;
  bool whole;        /* the digest has all pages that were written */
  bool watched;      /* LMDB's writes are watched: see flush_commit_begin */
  bool head_reached; /* even if writing the head failed: the disk may have all of it */
  struct digest digest;
};

/* False: LMDB flushes twice for each commit here. */
bool flush_is_single(void);

/* To be called around mdb_txn_commit, in the same thread. `fd` and `page_bytes` are the file's;
 * `flushed` is the newest transaction that was flushed, at least the one before this. Returns 0, or
 * an errno, after which nothing may be committed. */
int flush_commit_begin(struct flush *flush, int fd, uint64_t page_bytes, uint64_t transaction,
                       uint64_t flushed);
void flush_commit_end(struct flush *flush);
/* To be called after a commit that wrote something. True: LMDB wrote the head by a call that is not
 * watched. That head has no digest, perhaps nothing was flushed, and from now on this process
 * flushes twice for each commit. */
bool flush_missed_head(const struct flush *flush);

#endif
