/* SPDX-License-Identifier: MIT
 *
 * criterion.c: runs the registered cases one after the other, see criterion/criterion.h.
 */
#include "criterion/criterion.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PASSED = 0, FAILED = 1, SKIPPED = 77, REASON_BYTES = 512 };

static struct cr_case *cases, **cases_end = &cases;
static struct cr_case *suites;
static pid_t case_pid; /* the process of the case; it may have forked others */
static bool failed;
static jmp_buf end_of_case;
static int reason_pipe;

void cr_register(struct cr_case *one) {
  if (one->run) {
    *cases_end = one;
    cases_end = &one->next;
  } else {
    one->next = suites;
    suites = one;
  }
}

static const struct cr_case *suite_of(const struct cr_case *one) {
  static const struct cr_case nothing;
  for (const struct cr_case *suite = suites; suite; suite = suite->next) {
    if (strcmp(suite->suite, one->suite) == 0) return suite;
  }
  return &nothing;
}

void cr_failed(bool fatal, const char *file, int line, const char *text, const char *format, ...) {
  va_list args;
  va_start(args, format);
  flockfile(stderr);
  (void)fprintf(stderr, "# %s:%d: %s\n", file, line, text);
  if (format && *format) {
    (void)fputs("#   ", stderr);
    (void)vfprintf(stderr, format, args);
    (void)fputc('\n', stderr);
  }
  funlockfile(stderr);
  va_end(args);
  if (getpid() != case_pid) _exit(FAILED); /* whoever waits for it sees that */
  failed = true;
  if (fatal) longjmp(end_of_case, 1);
}

void cr_skip(const char *format, ...) {
  char reason[REASON_BYTES];
  va_list args;
  va_start(args, format);
  int len = vsnprintf(reason, sizeof reason, format, args);
  va_end(args);
  if (len > 0 && write(reason_pipe, reason, strlen(reason)) < 0) _exit(FAILED);
  _exit(SKIPPED);
}

static void call(void (*function)(void)) {
  if (function) function();
}

/* Returns when the case ends, or when it fails. */
static void run_body(const struct cr_case *suite, const struct cr_case *one) {
  if (setjmp(end_of_case)) return;
  call(suite->init);
  call(one->init);
  one->run();
}

static int run_case(const struct cr_case *one) {
  const struct cr_case *suite = suite_of(one);
  case_pid = getpid();
  run_body(suite, one);
  /* A failed case leaves its folder as it was. */
  if (!failed) {
    call(one->fini);
    call(suite->fini);
  }
  return failed ? FAILED : PASSED;
}

/* Writes the reason why the case is skipped; false: it is not. */
static bool is_listed(const struct cr_case *one, char *reason, size_t size) {
  const char *path = getenv("TIDINGS_SKIPS");
  char name[256], line[REASON_BYTES];
  bool found = false;
  FILE *file = path && *path ? fopen(path, "re") : NULL;
  if (!file) return false;
  int len = snprintf(name, sizeof name, "%s::%s ", one->suite, one->name);
  while (!found && fgets(line, sizeof line, file)) {
    line[strcspn(line, "\n")] = '\0';
    found = strncmp(line, name, (size_t)len) == 0;
  }
  (void)fclose(file);
  if (found) (void)snprintf(reason, size, "%s", line + len);
  return found;
}

/* Returns PASSED, FAILED or SKIPPED; *ret_status is the wait status. */
static int try_case(const struct cr_case *one, char *reason, size_t size, int *ret_status) {
  int ends[2], status = 0;
  if (pipe(ends)) abort();
  pid_t pid = fork();
  if (pid < 0) abort();
  if (!pid) {
    close(ends[0]);
    reason_pipe = ends[1];
    exit(run_case(one));
  }
  close(ends[1]);
  while (waitpid(pid, &status, 0) != pid) continue;
  *ret_status = status;
  int code = WIFEXITED(status) ? WEXITSTATUS(status) : FAILED;
  if (code == SKIPPED) {
    ssize_t len = read(ends[0], reason, size - 1);
    reason[len > 0 ? len : 0] = '\0';
  }
  close(ends[0]);
  return code == PASSED || code == SKIPPED ? code : FAILED;
}

/* An argument is a case, "suite::name", or a suite: only such are run. */
static bool is_chosen(const struct cr_case *one, int argc, char **argv) {
  char name[256];
  (void)snprintf(name, sizeof name, "%s::%s", one->suite, one->name);
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], name) == 0 || strcmp(argv[i], one->suite) == 0) return true;
  }
  return argc < 2;
}

int main(int argc, char **argv) {
  int failures = 0;
  for (const struct cr_case *one = cases; one; one = one->next) {
    char reason[REASON_BYTES] = "";
    int status = 0, code = SKIPPED;
    if (!is_chosen(one, argc, argv)) continue;
    (void)fflush(NULL);
    if (!is_listed(one, reason, sizeof reason))
      code = try_case(one, reason, sizeof reason, &status);
    printf("%sok - %s::%s", code == FAILED ? "not " : "", one->suite, one->name);
    if (code == SKIPPED) printf(" # SKIP %s", reason);
    if (code == FAILED && WIFSIGNALED(status)) printf(" (signal %d)", WTERMSIG(status));
    printf("\n");
    failures += code == FAILED;
  }
  return failures ? 1 : 0;
}
