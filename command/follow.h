/* SPDX-License-Identifier: MIT
 *
 * command/follow.h: sleeps until a store has changed. It is for processes that only watch. Owners
 * use the wake descriptor instead, which becomes readable only when they must act.
 */
#ifndef COMMAND_FOLLOW_H
#define COMMAND_FOLLOW_H

#include <stdint.h>

#include "command/cli.h"
#include "command/kit.h"

/* inotify reports a write to the store's file a moment before the commit can be seen. So a few more
 * looks follow the last reported write, at growing intervals, and then none until the next write. A
 * database reports nothing: it is looked at once a second. */
struct follow {
  const struct cli *cli;
  struct kit_place place; /* of the store's file */
  int fd;                 /* of inotify; -1: there is nothing to watch */
  unsigned looks;         /* since the last write */
  int64_t look_at_ms;     /* when to look next, by clock_mono_ms; -1: not before a write */
  int64_t looked_at_ms;
  uint32_t pace_ms; /* the least time between two looks, however often the store is written; the
                       caller sets it */
};

enum follow_woke {
  FOLLOW_LOOK = 1,  /* the store may have changed */
  FOLLOW_INPUT = 2, /* the other descriptor can be read, or has ended */
  FOLLOW_OVER = 4,  /* a signal came, and the exit code is that of interrupt_exit_code */
  FOLLOW_GONE = 8   /* the store was moved away or removed: nothing more will be seen of it */
};

/* Begins to watch the store of `cli`. After this, signals that end the program are noted in
 * follow_sleep only (interrupt.h). Returns 0 or the exit code. */
int follow_begin(const struct cli *cli, struct follow *ret_follow);
/* Sleeps until an event of enum follow_woke, or another signal that has a handler, for at most
 * `most_ms` (-1: for ever). `input` is another descriptor to wake for; -1: none. Returns 0 or an
 * errno. */
int follow_sleep(struct follow *follow, int input, int64_t most_ms, unsigned *ret_woke);
/* Makes the next looks come as after a write. */
void follow_look_again(struct follow *follow);
void follow_end(struct follow *follow);
/* Says FOLLOW_GONE. Returns the exit code. */
int follow_say_gone(const struct follow *follow);

#endif
