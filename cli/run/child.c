/* SPDX-License-Identifier: MIT
 */
#include "cli/run/child.h"

#include "cli/run/pty.h"
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

/* The ends that the command prints on, and those that we read. Both streams share one
 * pseudo-terminal, which keeps their order on the screen. */
struct channel {
  int read, write;
};

static int open_pipe(struct channel *channel) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC)) return errno;
  *channel = (struct channel){.read = ends[0], .write = ends[1]};
  return 0;
}

static int open_channels(bool terminal, struct channel *out, struct channel *err) {
  bool both = terminal && isatty(STDERR_FILENO);
  int reason = terminal ? pty_open(STDOUT_FILENO, &out->read, &out->write) : open_pipe(out);
  if (!reason && !both) reason = open_pipe(err);
  int ours[] = {out->read, err->read};
  for (size_t i = 0; !reason && i < 2; i++) {
    if (ours[i] >= 0 && fcntl(ours[i], F_SETFL, O_NONBLOCK)) reason = errno; /* our ends only */
  }
  return reason;
}

int child_start(struct child *child, char **argv, const struct child_way *way) {
  struct channel out = {-1, -1}, err = {-1, -1};
  bool terminal = way->terminal && isatty(STDOUT_FILENO);
  int reason = open_channels(terminal, &out, &err);
  const struct spawn spawn = {.argv = (const char *const *)argv,
                              .out = out.write,
                              .err = err.write >= 0 ? err.write : SPAWN_AS_OUT,
                              .close_others = way->detached,
                              .own_group = way->detached,
                              .pipe_signal = !way->pipe_signal_ignored,
                              .mask = &outside};
  if (!reason) reason = spawn_start(&spawn, &child->pid);
  shut(&out.write);
  shut(&err.write);
  if (reason) {
    shut(&out.read);
    shut(&err.read);
    return reason;
  }
  child->out = out.read;
  child->err = err.read;
  child->own_group = way->detached;
  child->prints_to_terminal = terminal;
  return 0;
}

/* -- while it runs ----------------------------------------------------------------------------- */

int child_signal(const struct child *child) {
  struct signalfd_siginfo info;
  ssize_t got = read(child->signals, &info, sizeof info);
  if (got != (ssize_t)sizeof info) return 0;
  int number = (int)info.ssi_signo;
  if (number == SIGCHLD) return number;
  /* The kernel sends the terminal's signals to all of the foreground: a command in our group has
   * it already. */
  bool has_it = info.ssi_code > 0 && !child->own_group;
  if (number == SIGWINCH && child->prints_to_terminal) {
    pty_resize(STDOUT_FILENO, child->out);
    has_it = false; /* it may have looked before */
  }
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
