/* SPDX-License-Identifier: MIT
 *
 * command/owner.h: which process a short-lived command acts for.
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

enum { OWNER_NAME_SIZE = 256 };
/* The name of the file that it runs; for another user's process, the name that the process has
 * given itself. "": there is no such process. */
void owner_program(uint32_t pid, char name[OWNER_NAME_SIZE]);

/* The name that it gives itself, or the first 15 bytes of it. "": there is no such process. */
void owner_title(uint32_t pid, char name[OWNER_NAME_SIZE]);

/* The file that its program runs if that is an interpreter, an emulator or the dynamic loader;
 * `program`: as owner_program says. "": it is none, or that cannot be seen. */
void owner_script(uint32_t pid, const char *program, char path[OWNER_NAME_SIZE]);

/* Has `above` started `self`, or a process between them? If not, it has taken an orphan in.
 * `program`: what `above` runs. `own_session`: `self`, or a process between them, has begun the
 * session of processes in which `self` is. */
bool owner_has_started(const struct process *above, const char *program, const struct process *self,
                       bool own_session);

/* The script that called this command: its parent. If the parent is a subshell, a copy of its own
 * parent as in $(...) and pipelines, it is the shell that was copied. If the parent has ended it is
 * this process itself, because the process that has adopted it is not its script. */
uint32_t owner_of_caller(void);

/* Is `pid` this process, or one of those above it? */
bool owner_is_above(uint32_t pid);

#endif
