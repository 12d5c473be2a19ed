/* SPDX-License-Identifier: MIT
 */
#include "common/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/libc.h"

extern char **environ;

enum { STREAMS = 3, PLACES = SPAWN_CHANNEL_FD + 1, NO_FD = -1 };

/* The descriptors that the program gets, each at its place. A descriptor of this process may lie at
 * the place of another one, and would be overwritten, so it is copied first. */
struct streams {
  int from[PLACES];   /* a descriptor, or one of SPAWN_* */
  int copies[PLACES]; /* NO_FD: none */
};

static void drop_copies(struct streams *streams) {
  for (int i = 0; i < PLACES; i++) {
    if (streams->copies[i] != NO_FD) close(streams->copies[i]);
  }
}

static int make_streams(const struct spawn *spawn, struct streams *ret_streams) {
  struct streams streams = {.from = {spawn->in, spawn->out, spawn->err, spawn->channel},
                            .copies = {NO_FD, NO_FD, NO_FD, NO_FD}};
  for (int i = 0; i < PLACES; i++) {
    if (streams.from[i] <= 0 || streams.from[i] >= PLACES) continue;
    streams.copies[i] = fcntl(streams.from[i], F_DUPFD_CLOEXEC, PLACES);
    if (streams.copies[i] < 0) {
      int reason = errno;
      drop_copies(&streams);
      return reason;
    }
    streams.from[i] = streams.copies[i];
  }
  *ret_streams = streams;
  return 0;
}

static int add_stream(posix_spawn_file_actions_t *actions, const struct streams *streams,
                      int place) {
  int from = streams->from[place];
  if (from == SPAWN_INHERIT) return 0;
  if (from == SPAWN_NULL)
    return posix_spawn_file_actions_addopen(actions, place, "/dev/null",
                                            place == STDIN_FILENO ? O_RDONLY : O_WRONLY, 0);
  if (from == SPAWN_AS_OUT) from = STDOUT_FILENO;
  return posix_spawn_file_actions_adddup2(actions, from, place);
}

static int fill_actions(posix_spawn_file_actions_t *actions, const struct spawn *spawn,
                        const struct streams *streams) {
  int reason = 0;
  for (int place = 0; !reason && place < PLACES; place++)
    reason = add_stream(actions, streams, place);
  if (!reason && spawn->folder)
    reason = posix_spawn_file_actions_addchdir_np(actions, spawn->folder);
  if (!reason && spawn->close_others)
    reason = libc_spawn_closes_from(actions, spawn->channel ? PLACES : STREAMS);
  return reason;
}

static int fill_attributes(posix_spawnattr_t *attributes, const struct spawn *spawn) {
  sigset_t mask, defaults;
  short flags = 0;
  int reason = 0;
  sigemptyset(&mask);
  sigemptyset(&defaults);
  if (spawn->fresh_signals) sigfillset(&defaults);
  else if (spawn->pipe_signal) sigaddset(&defaults, SIGPIPE);
  if (spawn->fresh_signals || spawn->mask) {
    flags |= POSIX_SPAWN_SETSIGMASK;
    reason = posix_spawnattr_setsigmask(attributes, spawn->mask ? spawn->mask : &mask);
  }
  if (!reason && (spawn->fresh_signals || spawn->pipe_signal)) {
    flags |= POSIX_SPAWN_SETSIGDEF;
    reason = posix_spawnattr_setsigdefault(attributes, &defaults);
  }
  if (!reason && spawn->own_group) {
    flags |= POSIX_SPAWN_SETPGROUP;
    reason = posix_spawnattr_setpgroup(attributes, 0);
  }
  return reason ? reason : posix_spawnattr_setflags(attributes, flags);
}

/* posix_spawn takes lists of char *, although it writes to none of them. */
static char **unconst(const char *const *list) { return (char **)(uintptr_t)list; }

static int start_with(const struct spawn *spawn, const posix_spawn_file_actions_t *actions,
                      const posix_spawnattr_t *attributes, pid_t *ret_pid) {
  char **argv = unconst(spawn->argv);
  char **environment = spawn->environment ? unconst(spawn->environment) : environ;
  return spawn->program
             ? posix_spawn(ret_pid, spawn->program, actions, attributes, argv, environment)
             : posix_spawnp(ret_pid, argv[0], actions, attributes, argv, environment);
}

int spawn_start(const struct spawn *spawn, pid_t *ret_pid) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  struct streams streams = {.from = {0}};
  int reason = make_streams(spawn, &streams);
  if (reason) return reason;
  reason = posix_spawn_file_actions_init(&actions);
  if (reason) goto out;
  reason = posix_spawnattr_init(&attributes);
  if (!reason) {
    reason = fill_actions(&actions, spawn, &streams);
    if (!reason) reason = fill_attributes(&attributes, spawn);
    if (!reason) reason = start_with(spawn, &actions, &attributes, ret_pid);
    posix_spawnattr_destroy(&attributes);
  }
  posix_spawn_file_actions_destroy(&actions);
out:
  drop_copies(&streams);
  return reason;
}

/* For kernels before 5.3, which have no pidfd: checks every few milliseconds. */
static bool ends_until(pid_t pid, int64_t until_ms) {
  static const struct timespec pause = {.tv_nsec = 5000000};
  for (;;) {
    siginfo_t info = {.si_pid = 0};
    if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) || info.si_pid) return true;
    if (clock_mono_ms() >= until_ms) return false;
    nanosleep(&pause, NULL);
  }
}

bool spawn_wait(pid_t pid, int timeout_ms, int *ret_status) {
  int fd = timeout_ms >= 0 ? (int)syscall(SYS_pidfd_open, pid, 0) : NO_FD;
  if (fd != NO_FD) {
    struct pollfd ended = {.fd = fd, .events = POLLIN};
    int ready = poll(&ended, 1, timeout_ms);
    close(fd);
    if (ready <= 0) return false;
  } else if (timeout_ms >= 0 && !ends_until(pid, clock_mono_ms() + timeout_ms)) {
    return false;
  }
  while (waitpid(pid, ret_status, 0) < 0) {
    if (errno == EINTR) continue;
    *ret_status = 0;
    return true;
  }
  return true;
}

int spawn_kill(pid_t pid) {
  int status = 0;
  kill(pid, SIGKILL);
  spawn_wait(pid, -1, &status);
  return status;
}

/* Returns whether it has read to the end. */
static bool read_until(int fd, int64_t until_ms, char *buffer, size_t size, size_t *ret_len) {
  size_t len = 0;
  bool ended = false;
  while (!ended && len < size && clock_mono_ms() < until_ms) {
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    if (poll(&ready, 1, clock_ms_until(until_ms)) <= 0) continue;
    ssize_t got = read(fd, buffer + len, size - len);
    if (got > 0) len += (size_t)got;
    else ended = true;
  }
  *ret_len = len;
  return ended;
}

int spawn_capture(const char *const argv[], int timeout_ms, char *buffer, size_t size,
                  size_t *ret_len, int *ret_status) {
  int ends[2];
  pid_t pid = -1;
  if (pipe2(ends, O_CLOEXEC)) return errno;
  const struct spawn spawn = {.argv = argv, .in = SPAWN_NULL, .out = ends[1], .err = SPAWN_NULL};
  int reason = spawn_start(&spawn, &pid);
  close(ends[1]);
  if (!reason) {
    int64_t until_ms = clock_mono_ms() + timeout_ms;
    bool ended = read_until(ends[0], until_ms, buffer, size, ret_len);
    if (!ended || !spawn_wait(pid, clock_ms_until(until_ms), ret_status))
      *ret_status = spawn_kill(pid);
  }
  close(ends[0]);
  return reason;
}
