/* SPDX-License-Identifier: MIT
 *
 * command/owner.h: finds the process for which a short-lived command acts.
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
/* Writes the name of the file that the process runs; for another user's process, the name that the
 * process has given itself. "": there is no such process. */
void owner_program(uint32_t pid, char name[OWNER_NAME_SIZE]);

/* Writes the name that the process has given itself, or its first 15 bytes. "": there is no such
 * process. */
void owner_title(uint32_t pid, char name[OWNER_NAME_SIZE]);

/* If `program`, the result of owner_program, is an interpreter, an emulator or the dynamic loader,
 * writes the path of the file that it runs. "": it is none of these, or the file is not known. */
void owner_script(uint32_t pid, const char *program, char path[OWNER_NAME_SIZE]);

/* Has `above` started `self`, or a process between the two? If not, it has adopted an orphan.
 * `program` is the program of `above`. `own_session`: `self`, or a process between the two, has
 * begun the kernel's session in which `self` is. */
bool owner_has_started(const struct process *above, const char *program, const struct process *self,
                       bool own_session);

/* Returns the script that called this command, which is its parent. If the parent is a subshell, as
 * in $(...) and pipelines, returns the shell of which it is a copy. If the parent has ended,
 * returns this process itself, because the process that has adopted it is no script. */
uint32_t owner_of_caller(void);

/* Is `pid` this process, or one of its ancestors? */
bool owner_is_above(uint32_t pid);

#endif
