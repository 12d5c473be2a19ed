/* SPDX-License-Identifier: MIT
 *
 * agents/wait/watch.h: for an agent that calls no hook when a person stops a turn, but records
 * it in its transcript: watches that file for the process that waits beside the agent. It reads
 * only files, no store.
 */
#ifndef AGENTS_WAIT_WATCH_H
#define AGENTS_WAIT_WATCH_H

#include "agents/call/call.h"

struct hook_watch {
  int fd; /* for poll; -1: nothing is watched */
  const char *path;
  unsigned tries; /* how many times to try again to watch a file that does not exist yet */
  bool watched;
  int64_t seen_ms; /* the newest interruption that was returned */
};

/* Begins to watch. `call` must outlive the watch. If the agent's transcript does not record stops,
 * it watches nothing. */
void hook_watch_begin(struct hook_watch *watch, const struct hook_call *call);
void hook_watch_end(struct hook_watch *watch);

/* Returns how long to sleep: at most `longest` ms (-1: for ever), and less while the file does not
 * exist yet.
 */
int hook_watch_sleep(const struct hook_watch *watch, int longest);
/* Call it after each sleep. `readable`: poll has reported the descriptor as readable. Returns
 * whether the file may have changed.
 */
bool hook_watch_changed(struct hook_watch *watch, bool readable);

/* Returns when a person last stopped a turn, in milliseconds since 1970; 0: nobody has since the
 * last call. */
int64_t hook_watch_interruption(struct hook_watch *watch, const struct hook_call *call);

#endif
