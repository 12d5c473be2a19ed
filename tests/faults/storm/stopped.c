/* SPDX-License-Identifier: MIT
 *
 * storm/stopped.c: other processes are stopped or killed during a commit, forked from a process
 * with an open instance, or started with its descriptors. The remaining processes must go on, or
 * get BUSY within their budget.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kit/arguments.h"
#include "kit/folder.h"
#include "kit/rig.h"

enum { BUDGET_MS = 300, GIVE_UP_MS = 30000, ROUNDS = 20 };

/* The signal that this process sends itself at its next sync of the store; 0: none. liblmdb's calls
 * come to this definition. */
static volatile sig_atomic_t signal_at_sync;

__attribute__((visibility("default"), noinline)) int fdatasync(int fd) {
  int signal_number = signal_at_sync;
  signal_at_sync = 0;
  if (signal_number) kill(getpid(), signal_number);
  return (int)syscall(SYS_fdatasync, fd);
}

static int64_t now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void open_store(struct rig *rig, const char *store, uint32_t role, uint32_t budget_ms) {
  struct tidings_error error = RIG_ERROR;
  int32_t code = rig_open(
      rig, &(struct rig_open){.store = store, .role = role, .hook_budget_ms = budget_ms}, &error);
  if (code != 0) die("open: %s", rig_why(code, &error));
}

static void expect(int32_t got, int32_t expected, const struct tidings_error *error,
                   const char *what) {
  if (got != expected) fail("%s: %s", what, got == 0 ? "returned OK" : rig_why(got, error));
}

static void push(struct rig *rig, const char *session, uint64_t token, const char *what) {
  struct tidings_error error = RIG_ERROR;
  expect(rig_push(rig, session, token, true, NULL, &error), 0, &error, what);
}

/* Delivers and commits, and checks that exactly these tokens come, in any order. */
static void expect_tokens(struct rig *rig, const char *session, const uint64_t *tokens,
                          size_t count, const char *what) {
  struct tidings_error error = RIG_ERROR;
  struct carried carried = {0};
  expect(rig_deliver(rig, session, RIG_TOOL_RESULT, &carried, &error), 0, &error, what);
  bool same = carried.tokens.count == count && carried.damaged == 0;
  for (size_t i = 0; i < count; i++) {
    bool found = false;
    for (size_t k = 0; k < carried.tokens.count; k++)
      found = found || carried.tokens.at[k] == tokens[i];
    same = same && found;
  }
  if (!same) fail("%s: %zu came, %zu were expected", what, carried.tokens.count, count);
  if (carried.delivery)
    expect(rig_settle(rig, carried.delivery, TIDINGS_COMMITTED, &error), 0, &error, what);
  carried_clear(&carried);
}

/* Starts a process that opens the store, pushes `token` into "s1", and gets the signal during its
 * commit. */
static pid_t writer_hit_by(int signal_number, struct rig *loaded, const char *store,
                           uint64_t token) {
  fflush(NULL);
  pid_t child = fork();
  if (child < 0) die("fork failed");
  if (child > 0) return child;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  static struct rig rig;
  rig.image = loaded->image;
  rig.entry = loaded->entry;
  open_store(&rig, store, TIDINGS_ROLE_PRODUCER, BUDGET_MS);
  push(&rig, "s1", 1000000, "a first push of the writer");
  signal_at_sync = signal_number;
  push(&rig, "s1", token, "the push in which the writer is hit");
  _exit(failures() ? 1 : 0);
}

static void wait_until_stopped(pid_t child) {
  int status;
  if (waitpid(child, &status, WUNTRACED) != child || !WIFSTOPPED(status))
    die("the writer did not stop: 0x%x", (unsigned)status);
}

static void let_it_go_on(pid_t child) {
  int status;
  kill(child, SIGCONT);
  if (waitpid(child, &status, 0) != child || status != 0)
    fail("the writer ended with status 0x%x", (unsigned)status);
}

/* -- stopped ----------------------------------------------------------------------------------- */

static void part_stopped(const struct arguments *arguments, const char *store) {
  static struct rig rig, loaded;
  struct tidings_error error = RIG_ERROR;
  struct carried leased = {0}, carried = {0};
  /* This process only loads the plugin; the children open it. */
  rig_load(&loaded, arguments->plugin);
  pid_t child = writer_hit_by(SIGSTOP, &loaded, store, 10);
  wait_until_stopped(child);
  kill(child, SIGCONT); /* a rehearsal: it makes the store */
  int status;
  if (waitpid(child, &status, 0) != child || status != 0)
    die("the writer ended with status 0x%x", (unsigned)status);

  rig_load(&rig, arguments->plugin);
  open_store(&rig, store, TIDINGS_ROLE_HOST, BUDGET_MS);
  expect_tokens(&rig, "s1", (const uint64_t[]){10, 1000000}, 2, "before");
  push(&rig, "s2", 20, "before");
  push(&rig, "s3", 30, "before");
  expect(rig_deliver(&rig, "s2", RIG_TOOL_RESULT, &leased, &error), 0, &error, "before");

  child = writer_hit_by(SIGSTOP, &loaded, store, 11);
  wait_until_stopped(child);
  int64_t began = now_ms();
  expect(rig_push(&rig, "s1", 12, true, NULL, &error), TIDINGS_E_BUSY, &error,
         "a push while a writer is stopped");
  printf("while a writer is stopped a push says: %s\n", error.text);
  expect(rig_deliver(&rig, "s3", RIG_TOOL_RESULT, &carried, &error), TIDINGS_E_BUSY, &error,
         "a hook while a writer is stopped");
  expect(rig_settle(&rig, leased.delivery, TIDINGS_COMMITTED, &error), TIDINGS_E_BUSY, &error,
         "a settle while a writer is stopped");
  expect(rig_query(&rig, "{\"name\":\"pending\",\"session\":\"s3\"}", NULL, &error), 0, &error,
         "a query while a writer is stopped");
  expect(rig_deliver(&rig, "s1", RIG_TOOL_RESULT, &carried, &error), 0, &error,
         "a hook with nothing pending");
  if (now_ms() - began > GIVE_UP_MS) fail("a stopped writer holds everybody up");

  let_it_go_on(child);
  push(&rig, "s1", 13, "a push after the writer went on");
  /* Push 12 was withdrawn. The settle was remembered, and takes effect at the next call. */
  expect_tokens(&rig, "s1", (const uint64_t[]){11, 13}, 2, "after the writer went on");
  expect_tokens(&rig, "s2", NULL, 0, "what was settled with BUSY");
  expect_tokens(&rig, "s3", (const uint64_t[]){30}, 1, "what a hook had said BUSY about");
  carried_clear(&leased);
  carried_clear(&carried);
  rig_unload(&rig);
  rig_unload(&loaded);
}

/* -- killed ------------------------------------------------------------------------------------ */

static void part_killed(const struct arguments *arguments, const char *store) {
  static struct rig rig, loaded;
  rig_load(&loaded, arguments->plugin);
  rig_load(&rig, arguments->plugin);
  open_store(&rig, store, TIDINGS_ROLE_HOST, GIVE_UP_MS);
  for (uint64_t round = 0; round < ROUNDS; round++) {
    struct tidings_error error = RIG_ERROR;
    struct carried carried = {0};
    int status;
    bool stop_first = round % 2;
    pid_t child = writer_hit_by(stop_first ? SIGSTOP : SIGKILL, &loaded, store, 100 + 2 * round);
    if (stop_first) {
      wait_until_stopped(child);
      kill(child, SIGKILL);
    }
    if (waitpid(child, &status, 0) != child || !WIFSIGNALED(status))
      die("the writer was not killed: 0x%x", (unsigned)status);
    push(&rig, "s1", 101 + 2 * round, "a push after a writer was killed");
    expect(rig_deliver(&rig, "s1", RIG_TOOL_RESULT, &carried, &error), 0, &error,
           "a hook after a writer was killed");
    bool mine = false;
    for (size_t i = 0; i < carried.tokens.count; i++)
      mine = mine || carried.tokens.at[i] == 101 + 2 * round;
    if (!mine) fail("the push after a writer was killed is not there");
    expect(rig_settle(&rig, carried.delivery, TIDINGS_COMMITTED, &error), 0, &error,
           "settle after a writer was killed");
    carried_clear(&carried);
  }
  printf("%d writers killed in the midst of a commit\n", ROUNDS);
  rig_unload(&rig);
  rig_unload(&loaded);
}

/* -- forked ------------------------------------------------------------------------------------ */

static void in_forked_child(struct rig *rig, uint64_t delivery) {
  struct tidings_error error = RIG_ERROR;
  struct carried carried = {0};
  expect(rig_push(rig, "s1", 2, true, NULL, &error), TIDINGS_E_CLOSED, &error,
         "a push in a forked child");
  expect(rig_deliver(rig, "s1", RIG_TOOL_RESULT, &carried, &error), TIDINGS_E_CLOSED, &error,
         "a hook in a forked child");
  expect(rig_deliver(rig, "nothing", RIG_CHAT_REQUEST, &carried, &error), TIDINGS_E_CLOSED, &error,
         "an idle hook in a forked child");
  expect(rig_settle(rig, delivery, TIDINGS_COMMITTED, &error), TIDINGS_E_CLOSED, &error,
         "a settle in a forked child");
  expect(rig_query(rig, "{\"name\":\"status\",\"session\":\"s1\"}", NULL, &error), TIDINGS_E_CLOSED,
         &error, "a query in a forked child");
  exit(failures() ? 1 : 0); /* with all that runs at exit */
}

static void part_forked(const struct arguments *arguments, const char *store) {
  static struct rig rig;
  struct tidings_error error = RIG_ERROR;
  struct carried leased = {0};
  int status;
  rig_load(&rig, arguments->plugin);
  open_store(&rig, store, TIDINGS_ROLE_HOST, BUDGET_MS);
  push(&rig, "s4", 40, "before the fork");
  expect(rig_deliver(&rig, "s4", RIG_TOOL_RESULT, &leased, &error), 0, &error, "before the fork");
  push(&rig, "s4", 41, "before the fork");
  fflush(NULL);
  pid_t child = fork();
  if (child < 0) die("fork failed");
  if (child == 0) in_forked_child(&rig, leased.delivery);
  if (waitpid(child, &status, 0) != child || status != 0)
    fail("the forked child ended with status 0x%x", (unsigned)status);
  push(&rig, "s4", 42, "after the fork");
  expect(rig_settle(&rig, leased.delivery, TIDINGS_COMMITTED, &error), 0, &error,
         "settle after the fork");
  expect_tokens(&rig, "s4", (const uint64_t[]){41, 42}, 2, "after the fork");
  carried_clear(&leased);
  rig_unload(&rig);
}

/* -- descriptors ------------------------------------------------------------------------------- */

static void part_descriptors(const struct arguments *arguments, const char *store) {
  static struct rig rig;
  struct dirent *entry;
  unsigned of_store = 0;
  rig_load(&rig, arguments->plugin);
  open_store(&rig, store, TIDINGS_ROLE_HOST, BUDGET_MS);
  push(&rig, "s5", 50, "a push");
  expect_tokens(&rig, "s5", (const uint64_t[]){50}, 1, "delivering");
  DIR *folder = opendir("/proc/self/fd");
  if (!folder) die("/proc/self/fd: %s", strerror(errno));
  while ((entry = readdir(folder))) {
    char target[FOLDER_PATH_MAX];
    ssize_t length = readlinkat(dirfd(folder), entry->d_name, target, sizeof target - 1);
    if (length < 0) continue;
    target[length] = 0;
    if (strncmp(target, store, strlen(store)) != 0) continue;
    of_store++;
    if (!(fcntl((int)strtol(entry->d_name, NULL, 10), F_GETFD) & FD_CLOEXEC))
      fail("%s is inherited by programs that the host starts", target);
  }
  closedir(folder);
  if (of_store < 2) fail("only %u descriptors of the store were seen", of_store);
  printf("%u descriptors of the store, all close-on-exec\n", of_store);
  rig_unload(&rig);
}

int main(int argc, char **argv) {
  struct arguments arguments = {0};
  char folder[FOLDER_PATH_MAX], store[FOLDER_PATH_MAX];
  arguments_read(&arguments, argc, argv);
  folder_make(arguments.scratch, "stopped", folder);
  folder_join(store, folder, "store");
  if (arguments_part(&arguments, "stopped")) part_stopped(&arguments, store);
  if (arguments_part(&arguments, "killed")) part_killed(&arguments, store);
  if (arguments_part(&arguments, "forked")) part_forked(&arguments, store);
  if (arguments_part(&arguments, "descriptors")) part_descriptors(&arguments, store);
  if (failures() == 0) folder_remove(folder);
  return failures() == 0 ? 0 : 1;
}
