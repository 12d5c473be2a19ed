/* SPDX-License-Identifier: MIT
 *
 * run/pty.h: a pseudo-terminal for what a command prints, so that it prints as on the terminal
 * itself: in colours, and line by line. It passes every byte on as it is. What the command reads,
 * and what controls it, stays the real terminal.
 */
#ifndef TIDINGS_CLI_RUN_PTY_H
#define TIDINGS_CLI_RUN_PTY_H

/* `like`: a terminal that gives the size. Both descriptors close on exec. Returns 0 or an errno. */
int pty_open(int like, int *ret_master, int *ret_slave);
/* The real terminal has another size now. */
void pty_resize(int like, int master);

#endif
