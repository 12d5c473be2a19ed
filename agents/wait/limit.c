/* SPDX-License-Identifier: MIT
 *
 * agents/wait/limit.c: a signal's handler may call few functions, so the line for the log is made
 * before.
 */
#include "agents/wait/limit.h"

#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "agents/call/log.h"
#include "command/interrupt.h"

enum { MOST_SECONDS = 6 }; /* the agents end a hook after 10 s */

static struct rlimit before;

static void give_up(int number) {
  static const char nothing[] = "{}\n";
  (void)number;
  if (interrupt_has_begun()) return; /* the signal comes again after the next second */
  (void)!write(STDOUT_FILENO, nothing, sizeof nothing - 1);
  hook_log_prepared();
  _exit(0);
}

void hook_limit_begin(void) {
  struct sigaction action;
  if (getrlimit(RLIMIT_CPU, &before)) return;
  struct rlimit limit = before;
  if (before.rlim_cur == RLIM_INFINITY || before.rlim_cur > MOST_SECONDS)
    limit.rlim_cur = MOST_SECONDS;
  hook_log_prepare("the call has used %u s of CPU and gives up: the answer is {}; what is pending "
                   "goes with a later call",
                   (unsigned)limit.rlim_cur);
  memset(&action, 0, sizeof action);
  action.sa_handler = give_up;
  sigaction(SIGXCPU, &action, NULL);
  (void)setrlimit(RLIMIT_CPU, &limit);
}

void hook_limit_end(void) {
  (void)setrlimit(RLIMIT_CPU, &before);
  (void)signal(SIGXCPU, SIG_DFL);
}
