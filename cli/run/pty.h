/* SPDX-License-Identifier: MIT
 *
 * run/pty.h: a pseudo-terminal for what a command prints, so that it prints as on the terminal
 * itself: in colours, and line by line. It passes every byte on as it is. The command still reads
 * from the real terminal, which also controls it.
 */
#ifndef TIDINGS_CLI_RUN_PTY_H
#define TIDINGS_CLI_RUN_PTY_H

/* `like`: a terminal that gives the size. Both descriptors close on exec. Returns 0 or an errno. */
int pty_open(int like, int *ret_master, int *ret_slave);
/* The real terminal has another size now. */
void pty_resize(int like, int master);

#endif
