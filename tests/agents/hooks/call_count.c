/* SPDX-License-Identifier: MIT
 *
 * tests/agents/hooks/call_count.c: counts the system calls of `tidings hook` at a tool's result
 * when nothing is pending, which is the most frequent case in an agent's turn. Counts do not depend
 * on how busy the machine is. Exit status 77: nothing can be traced.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_CALLS = 204, MOST_OPENED = 22, SKIPPED = 77 };

struct counts {
  unsigned calls, opened, synced, started;
};

static char place[] = "/tmp/tidings-call-count-XXXXXX", program[4096];

static void die(const char *what) {
  printf("not ok 1 - %s: %s\n", what, strerror(errno));
  exit(EXIT_FAILURE);
}

/* Runs in the child: executes the hook for a session of this process, with the call on stdin. */
static void become_hook(const char *call) {
  char owner[32], name[sizeof place + 16];
  int in[2];
  snprintf(name, sizeof name, "%s/log", place);
  snprintf(owner, sizeof owner, "%d", (int)getppid());
  if (pipe(in) || write(in[1], call, strlen(call)) < 0 || dup2(in[0], STDIN_FILENO) < 0) _exit(99);
  close(in[0]);
  close(in[1]);
  if (!freopen(name, "w", stdout)) _exit(99);
  execl(program, program, "hook", "--owner", owner, "claude", (char *)NULL);
  _exit(99);
}

static void note(struct counts *counts, pid_t pid) {
  struct __ptrace_syscall_info info;
  if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof info, &info) < 0 ||
      info.op != PTRACE_SYSCALL_INFO_ENTRY)
    return;
  long number = (long)info.entry.nr;
  counts->calls++;
  counts->opened += number == SYS_openat;
  counts->synced += number == SYS_fsync || number == SYS_fdatasync || number == SYS_msync;
  counts->started += number == SYS_clone || number == SYS_clone3;
}

/* Follows the process, and all processes that it starts, to their ends. */
static struct counts follow(pid_t child) {
  const long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK |
                       PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
  struct counts counts = {0};
  int status;
  if (waitpid(child, &status, 0) < 0 || !WIFSTOPPED(status)) exit(SKIPPED);
  if (ptrace(PTRACE_SETOPTIONS, child, NULL, (void *)options)) die("PTRACE_SETOPTIONS");
  for (pid_t pid = child; pid > 0; pid = waitpid(-1, &status, __WALL)) {
    int passed_on = 0;
    if (!WIFSTOPPED(status)) {
      if (pid == child && status) die("the hook has failed");
      continue;
    }
    if (WSTOPSIG(status) == (SIGTRAP | 0x80)) note(&counts, pid);
    else if (WSTOPSIG(status) != SIGTRAP && WSTOPSIG(status) != SIGSTOP)
      passed_on = WSTOPSIG(status);
    if (ptrace(PTRACE_SYSCALL, pid, NULL, (void *)(intptr_t)passed_on) && errno != ESRCH)
      die("PTRACE_SYSCALL");
  }
  return counts;
}

static struct counts hook(const char *event, const char *more) {
  char call[8192];
  snprintf(
      call, sizeof call,
      "{\"session_id\":\"s\",\"hook_event_name\":\"%s\",\"cwd\":\"%s\",\"transcript_path\":\"%s/"
      "projects/x/s.jsonl\"%s}",
      event, place, place, more);
  fflush(NULL);
  pid_t child = fork();
  if (child < 0) die("fork");
  if (child == 0) {
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL)) _exit(SKIPPED);
    raise(SIGSTOP);
    become_hook(call);
  }
  return follow(child);
}

int main(void) {
  const char *build = getenv("TIDINGS_BUILD_DIR"), *sanitizer = getenv("TIDINGS_SANITIZE");
  if (!build || (sanitizer && sanitizer[0]))
    return SKIPPED; /* a sanitizer makes system calls of its own */
  if (!mkdtemp(place)) die("mkdtemp");
  snprintf(program, sizeof program, "%s/tidings", build);
  setenv("XDG_STATE_HOME", place, 1);
  setenv("HOME", place, 1);
  hook("SessionStart", ",\"source\":\"startup\"");
  hook("UserPromptSubmit", ",\"prompt\":\"x\"");
  static const char tool[] =
      ",\"tool_name\":\"Bash\",\"tool_use_id\":\"c\",\"tool_input\":{},\"tool_response\":\"x\"";
  hook("PostToolUse", tool);
  struct counts counts = hook("PostToolUse", tool);
  bool good = counts.calls && counts.calls <= MOST_CALLS && counts.opened <= MOST_OPENED &&
              !counts.synced && !counts.started;
  printf("# sum: %u calls of the system, %u of them open a file, %u wait for the disk, %u start a "
         "process or a thread\n",
         counts.calls, counts.opened, counts.synced, counts.started);
  printf("%s 1 - a tool's result with nothing pending: at most %d calls, %d files, no flush, and "
         "nothing is started\n1..1\n",
         good ? "ok" : "not ok", MOST_CALLS, MOST_OPENED);
  fflush(stdout);
  if (good) execlp("rm", "rm", "-rf", place, (char *)NULL);
  return EXIT_FAILURE;
}
