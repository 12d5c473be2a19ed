/* SPDX-License-Identifier: MIT
 *
 * command/owner.h: whose host a short-lived command speaks for.
 */
#ifndef COMMAND_OWNER_H
#define COMMAND_OWNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct process {
  uint32_t pid, parent, group, session, terminal,
      foreground; /* terminal: the device's number; foreground: its group; 0: none */
  char state;     /* as in /proc: R, S, T, Z, ... */
};
/* Returns 0, or -1: there is no such process. */
int owner_look_up(uint32_t pid, struct process *ret_process);

/* What it calls itself, at most 15 bytes; "": there is no such process. */
void owner_name(uint32_t pid, char *name, size_t size);

/* The script that called this command: the parent, or, if that is a subshell (a copy of its own
 * parent that runs no program of its own, as in
 * $(...) and pipelines), whose copy it is. */
uint32_t owner_of_caller(void);

/* Is `pid` this process or above it? */
bool owner_is_above(uint32_t pid);

#endif
