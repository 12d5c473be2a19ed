/* SPDX-License-Identifier: MIT
 *
 * store/db/lmdb/heads.h: decides by the digests which of the two heads of a data.mdb counts, and
 * repairs the other head. The newest head counts if the head and the pages of its commit are as
 * they were written. If they are not, a power cut has cut off the commit, and the other head
 * counts, which leads to the store as it was before. But if the newest head is known to have been
 * flushed, the file is damaged.
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
    HEAD_WRONG, /* its digest belongs to another head, or shows that the head is not as it was
                   written */
    HEAD_RIGHT  /* it is as it was written; its pages have not been checked */
  } state;
  uint64_t transaction, last_page;
  struct digest digest; /* valid with `has_digest`; may belong to another transaction */
  bool has_digest;
  uint8_t bytes[HEAD_BYTES];
};

struct heads {
  int fd;
  uint64_t page_bytes, map_bytes, file_pages;
  struct file_head head[PAGE_HEADS];
};

/* Returns 0 or an errno. A head on a sector that cannot be read (EIO) is no error: it is
 * HEAD_LOST. */
int heads_read(struct heads *heads, int fd, uint64_t page_bytes, uint64_t map_bytes);

struct heads_verdict {
  enum heads_judgement {
    HEADS_UNKNOWN, /* there is no digest, and one page is no head: nothing can be said */
    HEADS_BARE,    /* neither head has a digest: the newest counts */
    HEADS_SOUND,   /* `counts` is the newest */
    HEADS_SPOILED, /* `counts` is the newest, but the other has to be repaired */
    HEADS_CUT,     /* the newest commit is not whole; `counts` is the head before */
    HEADS_DAMAGED  /* no head counts */
  } judgement;
  unsigned counts;  /* 0 or 1 */
  unsigned newest;  /* for HEADS_CUT and HEADS_DAMAGED: the head that does not count */
  uint64_t flushed; /* the newest transaction known to have been flushed */
};

/* `flushed`: the newest transaction that the caller knows to be flushed; 0: it knows none.
 * `unchanged`: nobody has written the file since its pages were found sound. Returns 0 or an
 * errno. */
int heads_judge(const struct heads *heads, uint64_t flushed, bool unchanged,
                struct heads_verdict *ret_verdict);

/* For a head that is HEAD_RIGHT: are the pages of its commit as its digest says? Returns 0 or an
 * errno. */
int heads_check_pages(const struct heads *heads, unsigned index, bool *ret_right);

/* The next three functions return 0 or an errno, and flush what they write. */

/* Copies the head that counts over the other head, with the number of the transaction before it. */
int heads_repair(const struct heads *heads, const struct heads_verdict *verdict);
/* Writes the pages and the head of a commit again, if its flush has failed or may not have
 * happened. Without that another flush could do nothing, because the kernel takes these pages for
 * written. */
int heads_write_again(const struct heads *heads, unsigned newest);
/* Gives both heads digests without pages. The caller has flushed all pages to which they lead. */
int heads_seal(struct heads *heads, unsigned newest);

/* Notes in the page of the older head that the newest head is flushed. The note need not be
 * durable. */
void heads_mark_flushed(struct heads *heads, unsigned newest);

unsigned heads_newest(const struct heads *heads);
/* pwrite of all bytes: 0, or an errno. */
int heads_write_at(int fd, const void *from, size_t bytes, uint64_t at);

#endif
