/* SPDX-License-Identifier: MIT
 *
 * subscribe/saved.h: the position of a subscription: a small file in the store's folder (for a
 * store in a database, beside the default store), which is always replaced as a whole. Only one
 * process at a time may have it open.
 */
#ifndef SUBSCRIBE_SAVED_H
#define SUBSCRIBE_SAVED_H

#include "command/cli.h"

struct saved {
  char *path;
  char *folder;
  char *cursor; /* NULL: none was stored yet */
  const char *server, *event, *to;
  int lock;
};

/* `key` identifies the subscription. The caller sets server, event and to before, which are for
 * people who read the file. Prints errors. Returns 0, or the exit code. */
int saved_open(const struct cli *cli, uint64_t key, struct saved *saved);
/* Returns 0 when the cursor is on the disk, else an errno. */
int saved_write(const struct saved *saved, const char *cursor);
/* Makes the folder and the lock again if the store's folder was replaced. Prints errors. */
void saved_follow(const struct cli *cli, struct saved *saved);
void saved_close(struct saved *saved);

#endif
