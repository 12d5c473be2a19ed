/* SPDX-License-Identifier: MIT
 *
 * run/child.c: see the header.
 */
#include "cli/run/child.h"
#include "common/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

/* The last two reach every process of a group when one of them reads the terminal from the
 * background. The command stops, and we stop when its stop is reported. */
static const int passed_on[] = {SIGINT,  SIGTERM,  SIGHUP,  SIGQUIT, SIGUSR1,
                                SIGUSR2, SIGWINCH, SIGTTIN, SIGTTOU};
static sigset_t outside; /* the mask that the command gets */

int child_prepare(const struct cli *cli, struct child *ret_child) {
  struct child child = {.out = -1, .err = -1, .signals = -1};
  struct sigaction was;
  sigset_t ours;
  sigemptyset(&ours);
  sigaddset(&ours, SIGCHLD);
  for (size_t i = 0; i < sizeof passed_on / sizeof passed_on[0]; i++) {
    if (sigaction(passed_on[i], NULL, &was) || was.sa_handler != SIG_IGN)
      sigaddset(&ours, passed_on[i]); /* nohup means it */
  }
  if (sigprocmask(SIG_BLOCK, &ours, &outside))
    return cli_fail(cli, "cannot block signals: %s", strerror(errno));
  child.signals = signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK);
  if (child.signals < 0) return cli_fail(cli, "cannot wait for signals: %s", strerror(errno));
  *ret_child = child;
  return 0;
}

/* -- starting ---------------------------------------------------------------------------------- */

static void shut(int *fd) {
  if (*fd >= 0) close(*fd);
  *fd = -1;
}

int child_start(struct child *child, char **argv, bool detached, bool pipe_signal_ignored) {
  int out[2] = {-1, -1}, err[2] = {-1, -1};
  int reason = pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC) ? errno : 0;
  if (!reason && (fcntl(out[0], F_SETFL, O_NONBLOCK) || fcntl(err[0], F_SETFL, O_NONBLOCK)))
    reason = errno; /* our ends only */
  const struct spawn spawn = {.argv = (const char *const *)argv,
                              .out = out[1],
                              .err = err[1],
                              .close_others = detached,
                              .own_group = detached,
                              .pipe_signal = !pipe_signal_ignored,
                              .mask = &outside};
  if (!reason) reason = spawn_start(&spawn, &child->pid);
  shut(&out[1]);
  shut(&err[1]);
  if (reason) {
    shut(&out[0]);
    shut(&err[0]);
    return reason;
  }
  child->out = out[0];
  child->err = err[0];
  child->own_group = detached;
  return 0;
}

/* -- while it runs ----------------------------------------------------------------------------- */

int child_signal(const struct child *child) {
  struct signalfd_siginfo info;
  ssize_t got = read(child->signals, &info, sizeof info);
  if (got != (ssize_t)sizeof info) return 0;
  int number = (int)info.ssi_signo;
  if (number == SIGCHLD) return number;
  /* What the terminal sends, the kernel sends to all of the foreground: a command in our group has
   * it already. */
  bool has_it = info.ssi_code > 0 && !child->own_group;
  if (!has_it && child->pid > 0) (void)kill(child->own_group ? -child->pid : child->pid, number);
  return number;
}

int child_look(const struct child *child, int *ret_status) {
  int status = 0;
  if (waitpid(child->pid, &status, WNOHANG | WUNTRACED) != child->pid) return 0;
  *ret_status = WIFSTOPPED(status) ? WSTOPSIG(status) : status;
  return WIFSTOPPED(status) ? 2 : 1;
}

void child_continue(const struct child *child) {
  (void)kill(child->own_group ? -child->pid : child->pid, SIGCONT);
}

void child_finish(struct child *child) {
  shut(&child->out);
  shut(&child->err);
  shut(&child->signals);
}
