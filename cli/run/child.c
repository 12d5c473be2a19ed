/* SPDX-License-Identifier: MIT
 */
#include "cli/run/child.h"

#include "common/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

/* Gives the pseudo-terminal the size of the real one. */
static void pty_resize(int like, int master) {
  struct winsize size;
  if (ioctl(like, TIOCGWINSZ, &size) == 0) (void)ioctl(master, TIOCSWINSZ, &size);
}

/* Turns off all translation, because the real terminal translates line feeds itself. */
static int make_raw(int slave) {
  struct termios settings;
  if (tcgetattr(slave, &settings)) return errno;
  cfmakeraw(&settings);
  return tcsetattr(slave, TCSANOW, &settings) ? errno : 0;
}

/* Opens a pseudo-terminal for the command's output, so that the command prints as on the terminal
 * `like`: in colours, and line by line. Every byte passes unchanged. The real terminal is still the
 * command's input and its controlling terminal. Returns 0 or an errno. */
static int pty_open(int like, int *ret_master, int *ret_slave) {
  char name[64];
  int slave = -1, master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (master < 0) return errno;
  int reason = unlockpt(master) ? errno : ptsname_r(master, name, sizeof name);
  if (!reason && (slave = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC)) < 0) reason = errno;
  if (!reason) reason = make_raw(slave);
  if (!reason) {
    pty_resize(like, master);
    *ret_master = master;
    *ret_slave = slave;
    return 0;
  }
  if (slave >= 0) close(slave);
  close(master);
  return reason;
}

/* If a process reads the terminal from the background, the last two reach its whole group. Then the
 * command stops, and we stop when that is reported. */
static const int passed_on[] = {SIGINT,  SIGTERM,  SIGHUP,  SIGQUIT, SIGUSR1,
                                SIGUSR2, SIGWINCH, SIGTTIN, SIGTTOU};
static sigset_t outside; /* our former mask, which the command gets */

int child_prepare(const struct cli *cli, struct child *ret_child) {
  struct child child = {.out = -1, .err = -1, .signals = -1};
  struct sigaction was;
  sigset_t ours;
  sigemptyset(&ours);
  sigaddset(&ours, SIGCHLD);
  for (size_t i = 0; i < sizeof passed_on / sizeof passed_on[0]; i++) {
    if (sigaction(passed_on[i], NULL, &was) || was.sa_handler != SIG_IGN)
      sigaddset(&ours, passed_on[i]); /* nohup ignores SIGHUP on purpose */
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

/* The ends to which the command prints and from which we read. On a pseudo-terminal both streams
 * share one, which keeps their order. */
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
    if (ours[i] >= 0 && fcntl(ours[i], F_SETFL, O_NONBLOCK)) reason = errno; /* only our ends */
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
  /* The kernel sends the terminal's signals to the whole foreground group, so a command in our
   * group has it already. */
  bool has_it = info.ssi_code > 0 && !child->own_group;
  if (number == SIGWINCH && child->prints_to_terminal) {
    pty_resize(STDOUT_FILENO, child->out);
    has_it = false; /* it may have read the size before this */
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
