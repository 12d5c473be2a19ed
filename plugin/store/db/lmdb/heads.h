/* SPDX-License-Identifier: MIT
 *
 * store/db/lmdb/heads.h: which of the two heads of a data.mdb counts, by their digests, and how the
 * other is made whole again. The newest counts if it and the pages of its commit are as they were
 * written. Else the commit was cut, and the other head is the whole store as it was before: unless
 * the newest is known to have been flushed, and is damaged therefore.
 *
 * Nothing here takes a lock: the caller is the store's only user, or has the writer lock.
 */
#ifndef STORE_DB_LMDB_HEADS_H
#define STORE_DB_LMDB_HEADS_H

#include "store/db/lmdb/digest.h"
#include "store/db/lmdb/page.h"

struct file_head {
  enum head_state {
    HEAD_LOST,  /* it is no head, or cannot be read */
    HEAD_BARE,  /* it has no digest */
    HEAD_WRONG, /* its digest is another one's, or says that it is not as it was written */
    HEAD_RIGHT  /* it is as it was written; its pages have not been looked at */
  } state;
  uint64_t transaction, last_page;
  struct digest digest; /* with `has_digest`, which may be of another transaction */
  bool has_digest;
  uint8_t bytes[HEAD_BYTES];
};

struct heads {
  int fd;
  uint64_t page_bytes, map_bytes, file_pages;
  struct file_head head[PAGE_HEADS];
};

/* 0, or an errno: but a head on a sector that cannot be read (EIO) is lost. */
int heads_read(struct heads *heads, int fd, uint64_t page_bytes, uint64_t map_bytes);

struct heads_verdict {
  enum heads_judgement {
    HEADS_UNKNOWN, /* no head has a digest, and not both are heads: as before there were digests */
    HEADS_BARE,    /* neither has a digest: the newest counts */
    HEADS_SOUND,   /* `counts` is the newest */
    HEADS_SPOILED, /* `counts` is the newest, but the other has to be repaired */
    HEADS_CUT,     /* the newest commit is not whole; `counts` is the one before */
    HEADS_DAMAGED  /* none counts */
  } judgement;
  unsigned counts;  /* 0 or 1 */
  unsigned newest;  /* of HEADS_CUT and HEADS_DAMAGED: the one that does not count */
  uint64_t flushed; /* the newest transaction that is known to have been flushed */
};

/* `flushed`: as far as the caller knows; 0: it does not. `unchanged`: nobody has written the file
 * since its pages were found as they should be. 0, or an errno. */
int heads_judge(const struct heads *heads, uint64_t flushed, bool unchanged,
                struct heads_verdict *ret_verdict);

/* Are the pages of a head that is HEAD_RIGHT as its digest says? 0, or an errno. */
int heads_check_pages(const struct heads *heads, unsigned index, bool *ret_right);

/* Each returns 0 or an errno, and has flushed what it wrote. */

/* Puts the head that counts into the other's place too, as the transaction before. */
int heads_repair(const struct heads *heads, const struct heads_verdict *verdict);
/* Writes the pages and the head of a commit again, after a flush that failed, or that nobody knows
 * of: the kernel writes only pages that were written since. */
int heads_write_again(const struct heads *heads, unsigned newest);
/* Gives both heads digests without pages. All that they lead to has been flushed. */
int heads_seal(struct heads *heads, unsigned newest);

/* Notes in the older head's page that the newest is flushed. It need not be durable. */
void heads_mark_flushed(struct heads *heads, unsigned newest);

unsigned heads_newest(const struct heads *heads);
/* pwrite of all bytes: 0, or an errno. */
int heads_write_at(int fd, const void *from, size_t bytes, uint64_t at);

#endif
