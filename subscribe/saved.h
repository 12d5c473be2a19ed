/* SPDX-License-Identifier: MIT
 *
 * subscribe/saved.h: where a subscription has come to, as a small file in the store's folder, which
 * is replaced as a whole; of a store in a database, in a folder beside the default store. Only one
 * process at a time has it.
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

/* `key` tells this subscription from all others. server, event and to are set before, for people
 * who read the file. Says on stderr what is wrong. Returns 0, or the exit code. */
int saved_open(const struct cli *cli, uint64_t key, struct saved *saved);
/* When this returns 0, it is on the disk; else an errno. */
int saved_write(const struct saved *saved, const char *cursor);
void saved_close(struct saved *saved);

#endif
