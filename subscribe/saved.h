/* SPDX-License-Identifier: MIT
 *
 * subscribe/saved.h: the position of a subscription: a small file in the store's folder (for a
 * store in a database, beside the default store), which is always replaced as a whole. Only one
 * process at a time may have it open.
 */
#ifndef SUBSCRIBE_SAVED_H
#define SUBSCRIBE_SAVED_H

#include "command/cli.h"
#include "common/buffer.h"

struct saved {
  char *path;
  char *folder;
  char *cursor; /* NULL: none was stored yet */
  const char *server, *event, *to;
  int lock;
  struct buffer noted; /* the cursor that is to be stored; empty: none */
  int64_t tried_ms;    /* when a cursor was last stored, by the monotonic clock */
  bool failing;        /* .. which has failed */
};

/* `key` identifies the subscription. The caller sets server, event and to before, which are for
 * people who read the file. Prints errors. Returns 0, or the exit code. */
int saved_open(const struct cli *cli, uint64_t key, struct saved *saved);
/* Notes a cursor that is to be stored. False: no memory. */
bool saved_note(struct saved *saved, struct tidings_span cursor);
/* Stores the noted cursor. If that fails, says so on stderr, once for a row of failures, and the
 * next call tries it again. */
void saved_keep(const struct cli *cli, struct saved *saved);
/* Returns in how many milliseconds a noted cursor must be stored; -1: there is none. */
int saved_due(const struct saved *saved);
/* Makes the folder and the lock again where they are missing, because the store's folder was
 * replaced. Says on stderr what is wrong. */
void saved_follow(const struct cli *cli, struct saved *saved);
void saved_close(struct saved *saved);

#endif
