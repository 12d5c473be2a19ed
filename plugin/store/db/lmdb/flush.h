/* SPDX-License-Identifier: MIT
 *
 * store/db/lmdb/flush.h: a commit with one flush. LMDB writes the pages, flushes, and writes the
 * head so that it is flushed too. Here the first flush is put off, the head gets a digest of the
 * pages, and one flush makes all of it durable before LMDB shows the commit to anyone.
 *
 * That needs an LMDB that is linked in, because its writes are seen by another name of the calls
 * (cmake/linked_in/lmdb_writes.h), and one whose writes are known. With another LMDB there are two
 * flushes, as it makes them, and the digest is without pages.
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
  bool watched;      /* by this process: see flush_commit_begin */
  bool head_reached; /* after it failed, too: the disk may have all of it */
  struct digest digest;
};

/* False: a commit has two flushes here. */
bool flush_is_single(void);

/* Around mdb_txn_commit, in its thread. `fd` and `page_bytes` are the file's; `flushed`: the newest
 * transaction that was flushed, the one before at least. 0, or an errno, after which nothing is to
 * be committed. */
int flush_commit_begin(struct flush *flush, int fd, uint64_t page_bytes, uint64_t transaction,
                       uint64_t flushed);
void flush_commit_end(struct flush *flush);
/* After a commit that wrote something: its head was written by a call that is not watched. It has
 * no digest, nothing may be flushed, and from now on this process makes two flushes. */
bool flush_missed_head(const struct flush *flush);

#endif
