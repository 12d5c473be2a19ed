/* SPDX-License-Identifier: MIT
 *
 * subscribe/process.h: a server that is a program, with one message a line on stdin and stdout. It
 * is started, again if it has ended, when something is sent to it.
 */
#ifndef SUBSCRIBE_PROCESS_H
#define SUBSCRIBE_PROCESS_H

#include <poll.h>
#include <sys/types.h>

#include "command/input.h"
#include "subscribe/wire.h"

enum { PROCESS_FDS = 2 };

struct process {
  char **words;
  pid_t pid; /* 0: none runs */
  int to, from;
  struct buffer out;
  struct input in;
  int start_error; /* an unreported errno; 0: none */
};

void process_begin(struct process *process, char **words);
void process_send(struct process *process, struct tidings_span message);
/* Ends the program; kills it if it does not end within two seconds. */
void process_reset(struct process *process);
/* Is there something to report without waiting? */
bool process_is_ready(const struct process *process);
size_t process_fds(const struct process *process, struct pollfd fds[PROCESS_FDS]);
void process_handle(struct process *process, const struct pollfd *fds, size_t count,
                    const struct wire_ears *ears);
void process_end(struct process *process);

#endif
