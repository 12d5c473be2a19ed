/* SPDX-License-Identifier: MIT
 *
 * agents/wait/watch.h: for an agent that calls no hook when a person stops a turn, but records
 * it in its transcript: watches that file for the process that waits beside the agent. Reads files
 * only, no store.
 */
#ifndef AGENTS_WAIT_WATCH_H
#define AGENTS_WAIT_WATCH_H

#include "agents/call/call.h"

struct hook_watch {
  int fd; /* for poll; -1: nothing is watched */
  const char *path;
  unsigned tries; /* left, to watch a file that is not there yet */
  bool watched;
  int64_t seen_ms; /* the newest interruption that was returned */
};

/* `call` must outlive the watch. If the agent's transcript does not say it, it watches nothing. */
void hook_watch_begin(struct hook_watch *watch, const struct hook_call *call);
void hook_watch_end(struct hook_watch *watch);

/* How long to sleep at most, of `longest` ms (-1: for ever): less while the file is not there yet.
 */
int hook_watch_sleep(const struct hook_watch *watch, int longest);
/* After each sleep; `readable`: poll says so of the descriptor. Whether the file may have changed.
 */
bool hook_watch_changed(struct hook_watch *watch, bool readable);

/* When a person has stopped a turn last, in milliseconds since 1970; 0: not since the last look. */
int64_t hook_watch_interruption(struct hook_watch *watch, const struct hook_call *call);

#endif
