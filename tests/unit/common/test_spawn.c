/* SPDX-License-Identifier: MIT
 *
 * test_spawn.c: tests what a program gets from common/spawn.c, and how to wait for it.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/libc.h"
#include "common/spawn.h"

/* Compilers for musl come without the kernel's headers. */
#if __has_include(<linux/filter.h>) && __has_include(<linux/seccomp.h>)
#include <linux/filter.h>
#include <linux/seccomp.h>
#define KNOWS_FILTERS 1
#else
#define KNOWS_FILTERS 0
#endif

/* Makes a system call fail for the rest of this process, as if the kernel did not have it yet. */
static bool refuse_call(unsigned number) {
#if KNOWS_FILTERS
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {.len = sizeof filter / sizeof *filter, .filter = filter};
  return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
         !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
#else
  (void)number;
  return false;
#endif
}

/* Runs a line of shell. Returns its wait status. */
static int run_line(const char *line, struct spawn spawn) {
  const char *const argv[] = {"sh", "-c", line, NULL};
  pid_t pid = -1;
  int status = -1;
  spawn.argv = argv;
  cr_assert_eq(spawn_start(&spawn, &pid), 0);
  cr_assert(spawn_wait(pid, -1, &status));
  return status;
}

static void expect_bytes(int fd, const char *expected) {
  char got[64] = "";
  ssize_t len = read(fd, got, sizeof got - 1);
  cr_expect_eq(len, (ssize_t)strlen(expected));
  cr_expect_str_eq(got, expected);
}

Test(spawn, captures_what_a_program_prints) {
  const char *const argv[] = {"sh", "-c", "echo printed; echo noise >&2", NULL};
  char text[64] = "";
  size_t len = 0;
  int status = 0;
  cr_assert_eq(spawn_capture(argv, 60000, text, sizeof text - 1, &len, &status), 0);
  cr_expect_str_eq(text, "printed\n");
}

/* Many programs close their stdout at their end, to see whether all was written. */
Test(spawn, captures_the_status_of_a_program_that_closes_its_stdout_first) {
  const char *const argv[] = {"sh", "-c", "echo printed; exec >&-; sleep 0.3; exit 7", NULL};
  char text[64] = "";
  size_t len = 0;
  int status = 0;
  cr_assert_eq(spawn_capture(argv, 60000, text, sizeof text - 1, &len, &status), 0);
  cr_expect_str_eq(text, "printed\n");
  cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

Test(spawn, stops_a_program_that_prints_too_much) {
  const char *const argv[] = {"yes", NULL};
  char text[10];
  size_t len = 0;
  int status = 0;
  cr_assert_eq(spawn_capture(argv, 60000, text, sizeof text, &len, &status), 0);
  cr_expect_eq(len, sizeof text);
  cr_expect(WIFSIGNALED(status));
}

Test(spawn, says_that_there_is_no_such_program) {
  const char *const argv[] = {"/no/such/program", NULL};
  const struct spawn spawn = {.argv = argv};
  pid_t pid = -1;
  cr_expect_eq(spawn_start(&spawn, &pid), ENOENT);
}

/* Its stderr is our stdout, and that is where its own stdout goes. */
Test(spawn, streams_may_lie_at_each_others_places) {
  int out[2], channel[2], ours[2], kept = dup(STDOUT_FILENO);
  cr_assert(!pipe2(out, O_CLOEXEC | O_NONBLOCK) && !pipe2(channel, O_CLOEXEC | O_NONBLOCK) &&
            !pipe2(ours, O_CLOEXEC | O_NONBLOCK));
  cr_assert_eq(dup2(ours[1], STDOUT_FILENO), STDOUT_FILENO);
  int status = run_line(
      "echo out; echo err >&2; echo channel >&3",
      (struct spawn){.in = SPAWN_NULL, .out = out[1], .err = STDOUT_FILENO, .channel = channel[1]});
  cr_assert_eq(dup2(kept, STDOUT_FILENO), STDOUT_FILENO);
  cr_expect(WIFEXITED(status) && !WEXITSTATUS(status));
  expect_bytes(out[0], "out\n");
  expect_bytes(ours[0], "err\n");
  expect_bytes(channel[0], "channel\n");
}

Test(spawn, closes_other_descriptors_if_asked) {
  char line[64];
  int open_fd = open("/dev/null", O_RDONLY); /* stays open on exec */
  snprintf(line, sizeof line, "test -e /proc/$$/fd/%d", open_fd);
  cr_assert_eq(WEXITSTATUS(run_line(line, (struct spawn){.in = SPAWN_NULL})), 0);
  cr_expect_eq(WEXITSTATUS(run_line(line, (struct spawn){.in = SPAWN_NULL, .close_others = true})),
               1);
  close(open_fd);
}

Test(spawn, resets_signals_if_asked) {
  const char *line = "kill -PIPE $$; exit 7";
  signal(SIGPIPE, SIG_IGN);
  cr_assert_eq(WEXITSTATUS(run_line(line, (struct spawn){.in = SPAWN_NULL})), 7);
  cr_expect(WIFSIGNALED(run_line(line, (struct spawn){.pipe_signal = true})));
  cr_expect(WIFSIGNALED(run_line(line, (struct spawn){.fresh_signals = true})));
}

Test(spawn, has_the_folder_and_the_environment_given) {
  const char *const environment[] = {"GIVEN=yes", NULL};
  cr_expect_eq(run_line("test \"$(pwd -P)\" = /usr && test \"$GIVEN\" = yes",
                        (struct spawn){.folder = "/usr", .environment = environment}),
               0);
}

static void expect_waits_no_longer(int timeout_ms) {
  const char *const argv[] = {"cat", NULL};
  int in[2], status = 0;
  pid_t pid = -1;
  cr_assert(!pipe2(in, O_CLOEXEC));
  const struct spawn spawn = {.argv = argv, .in = in[0], .out = SPAWN_NULL, .own_group = true};
  cr_assert_eq(spawn_start(&spawn, &pid), 0);
  cr_expect(!spawn_wait(pid, timeout_ms, &status));
  cr_expect_eq(getpgid(pid), pid);
  status = spawn_kill(pid);
  cr_expect(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

Test(spawn, waits_no_longer_than_asked) { expect_waits_no_longer(0); }

Test(spawn, waits_no_longer_on_an_old_kernel_too) {
  if (!refuse_call(SYS_pidfd_open)) cr_skip_test("this machine takes no filter of system calls");
  expect_waits_no_longer(0);
  expect_waits_no_longer(20);
  cr_expect(WIFEXITED(run_line("exit 0", (struct spawn){.argv = NULL})));
}

/* -- closing ----------------------------------------------------------------------------------- */

static void expect_closed_between(int below, int above) {
  for (int fd = below; fd <= above; fd += fd == below ? 1 : 10) {
    int copy = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, fd);
    cr_assert_eq(copy, fd);
  }
  libc_close_range((unsigned)below + 1, (unsigned)above - 1);
  cr_expect_geq(fcntl(below, F_GETFD), 0);
  cr_expect_geq(fcntl(above, F_GETFD), 0);
  for (int fd = below + 1; fd < above; fd++) cr_expect_lt(fcntl(fd, F_GETFD), 0, "%d", fd);
  libc_close_range((unsigned)below, ~0u);
  cr_expect_lt(fcntl(below, F_GETFD), 0);
  cr_expect_lt(fcntl(above, F_GETFD), 0);
}

Test(spawn, a_range_of_descriptors_is_closed) { expect_closed_between(500, 551); }

Test(spawn, a_range_is_closed_on_an_old_kernel_too) {
  if (!refuse_call(SYS_close_range)) cr_skip_test("this machine takes no filter of system calls");
  cr_assert_lt(syscall(SYS_close_range, 500, 500, 0u), 0);
  cr_assert_eq(errno, ENOSYS);
  expect_closed_between(500, 551);
}
