/* SPDX-License-Identifier: MIT
 *
 * top/owners.h: waits for keys, and for the end of agents that own sessions: an agent that is
 * killed writes nothing to the store.
 */
#ifndef TIDINGS_CLI_TOP_OWNERS_H
#define TIDINGS_CLI_TOP_OWNERS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { OWNERS_MOST = 64 };

struct owner_watch {
  uint32_t pid;
  int fd; /* a pidfd */
};

struct owners {
  int fd; /* to be polled: readable when a key was pressed or an owner has ended; -1: none */
  struct owner_watch watched[OWNERS_MOST];
  size_t count;
};

/* Makes the descriptor, which also reports `input`. Returns 0 or an errno. */
int owners_begin(int input, struct owners *ret_owners);
/* Watches up to OWNERS_MOST running processes of this machine that own one of these sessions, and
 * stops watching all others. A system without pidfds watches none. */
void owners_watch(struct owners *owners, const json_t *sessions);
/* Has an owner ended since the last call? To be called after each poll. */
bool owners_ended(struct owners *owners);
void owners_finish(struct owners *owners);

#endif
