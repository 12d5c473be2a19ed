/* SPDX-License-Identifier: MIT
 *
 * watch/outbox.h: turns changes into notifications and pushes them. Notifications that could not be
 * pushed yet stay in the outbox.
 */
#ifndef TIDINGS_CLI_WATCH_OUTBOX_H
#define TIDINGS_CLI_WATCH_OUTBOX_H

#include <jansson.h>

#include "cli/watch/tree.h"
#include "command/cli.h"
#include "command/stamp.h"

enum file_event_kind {
  FILE_EVENT_MODIFIED,
  FILE_EVENT_CREATED,
  FILE_EVENT_DELETED,
  FILE_EVENT_RENAMED,
  FILE_EVENT_KINDS
};

struct file_event {
  char *path; /* absolute */
  enum file_event_kind kind;
  struct file_stamp stamp;   /* when it was last looked at */
  int64_t first_ms, last_ms; /* when it changed, by the wall clock */
};

struct outbox { /* zero is an empty one */
  struct file_event *list;
  size_t count, room;
  bool dropped;  /* must be reported: the kernel dropped events */
  bool too_many; /* must be reported: new folders could not be watched */
  json_t
      *pushed_bursts; /* bursts that were pushed as a number: {"message", "paths": {path: true}} */
};

/* Takes the changes out of the tree. Returns 0, or -1: out of memory. */
int outbox_take(struct outbox *outbox, struct tree *tree);

/* Pushes everything to `session`; NULL: to this folder's newest session with a running host, which
 * becomes *last, or to *last if no host runs now. Returns 0 or the exit code; then the rest stays
 * in the outbox. */
int outbox_push(const struct cli *cli, struct outbox *outbox, const char *session, char **last);
bool outbox_empty(const struct outbox *outbox);
void outbox_free(struct outbox *outbox);

#endif
