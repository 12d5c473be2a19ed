/* SPDX-License-Identifier: MIT
 */
#include "stops/tracee.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit/arguments.h"

enum { EXIT_UNTRACED = 99 };

static int wait_for(pid_t child) {
  int status;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) die("waitpid: %s", strerror(errno));
  return status;
}

pid_t tracee_start(void (*body)(void *context), void *context) {
  unsigned before = failures();
  fflush(NULL);
  pid_t child = fork();
  if (child < 0) die("fork: %s", strerror(errno));
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL)) _exit(EXIT_UNTRACED);
    raise(SIGSTOP);
    body(context);
    _exit(failures() != before);
  }
  int status = wait_for(child);
  if (WIFSTOPPED(status)) return child;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != EXIT_UNTRACED)
    die("a child ended with status 0x%x", (unsigned)status);
  return -1;
}

/* Lets the child run to the next system call, or by one instruction. Passes on signals that come
 * meanwhile. False: it has ended. */
static bool go_on(pid_t child, bool one_instruction) {
  int status = 0, signal_number = 0;
  for (;;) {
    void *data = (void *)(intptr_t)signal_number;
    long failed = one_instruction ? ptrace(PTRACE_SINGLESTEP, child, NULL, data)
                                  : ptrace(PTRACE_SYSCALL, child, NULL, data);
    if (failed) die("ptrace: %s", strerror(errno));
    status = wait_for(child);
    if (!WIFSTOPPED(status)) break;
    signal_number = WSTOPSIG(status);
    if (signal_number == SIGTRAP) return true;
  }
  if (status) die("the victim ended with status 0x%x before it was stopped", (unsigned)status);
  return false;
}

bool tracee_go(pid_t child, uint64_t calls, uint64_t steps) {
  while (calls--)
    if (!go_on(child, false)) return false;
  while (steps--)
    if (!go_on(child, true)) return false;
  return true;
}

int tracee_finish(pid_t child, bool killed) {
  if (killed) kill(child, SIGKILL);
  else if (ptrace(PTRACE_DETACH, child, NULL, NULL)) die("ptrace: %s", strerror(errno));
  return wait_for(child);
}
