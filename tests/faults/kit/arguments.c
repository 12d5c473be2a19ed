/* SPDX-License-Identifier: MIT
 */
#include "kit/arguments.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif

static atomic_uint failed;

static _Noreturn void usage(const char *program) {
  fprintf(stderr,
          "usage: %s --plugin PATH [--count N] [--seed N] [--only N] [--workers N] [--part NAME] "
          "[--scratch DIR] [--trace FILE] [--patience MS]\n",
          program);
  exit(2);
}

static uint64_t number(const char *program, const char *text) {
  char *end = NULL;
  errno = 0;
  unsigned long long value = strtoull(text, &end, 0);
  if (errno != 0 || end == text || *end != 0 || text[0] == '-') {
    fprintf(stderr, "%s: \"%s\" is not a number\n", program, text);
    usage(program);
  }
  return value;
}

void arguments_read(struct arguments *arguments, int argc, char **argv) {
  arguments->plugin = getenv("TIDINGS_PLUGIN");
  arguments->only = UINT64_MAX;
  arguments->patience_ms = 60000;
  for (int i = 1; i < argc; i += 2) {
    if (i + 1 == argc) usage(argv[0]);
    const char *name = argv[i], *value = argv[i + 1];
    if (strcmp(name, "--plugin") == 0) arguments->plugin = value;
    else if (strcmp(name, "--scratch") == 0) arguments->scratch = value;
    else if (strcmp(name, "--trace") == 0) arguments->trace = value;
    else if (strcmp(name, "--part") == 0) arguments->part = value;
    else if (strcmp(name, "--seed") == 0) arguments->seed = number(argv[0], value);
    else if (strcmp(name, "--count") == 0) arguments->count = number(argv[0], value);
    else if (strcmp(name, "--only") == 0) arguments->only = number(argv[0], value);
    else if (strcmp(name, "--workers") == 0) arguments->workers = number(argv[0], value);
    else if (strcmp(name, "--patience") == 0) arguments->patience_ms = number(argv[0], value);
    else usage(argv[0]);
  }
  if (!arguments->plugin) usage(argv[0]);
  if (!arguments->scratch) {
    const char *temporary = getenv("TMPDIR");
    arguments->scratch = access("/dev/shm", W_OK | X_OK) == 0 ? "/dev/shm"
                         : temporary                          ? temporary
                                                              : "/tmp";
  }
  if (arguments->workers == 0) {
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    arguments->workers = processors > 0 ? (uint64_t)processors : 1;
  }
  setvbuf(stdout, NULL, _IOLBF, 0);
}

bool arguments_part(const struct arguments *arguments, const char *name) {
  if (arguments->part && strcmp(arguments->part, name) != 0) return false;
  printf("# %s\n", name);
  return true;
}

void fail(const char *format, ...) {
  char line[2048];
  va_list list;
  va_start(list, format);
  vsnprintf(line, sizeof line, format, list);
  va_end(list);
  /* A broken build must not fill the disk with its failures. */
  if (atomic_fetch_add(&failed, 1) < 50) printf("FAILED: %s\n", line);
}

unsigned failures(void) { return atomic_load(&failed); }

void die(const char *format, ...) {
  va_list list;
  va_start(list, format);
  printf("FAILED: ");
  vprintf(format, list);
  va_end(list);
  printf("\n");
  fflush(NULL);
  exit(1);
}

void result(const struct arguments *arguments, const char *part, uint64_t done, uint64_t violations,
            const char *format, ...) {
  char members[1024];
  va_list list;
  va_start(list, format);
  vsnprintf(members, sizeof members, format, list);
  va_end(list);
  printf("{\"part\":\"%s\",\"seed\":%" PRIu64 ",\"done\":%" PRIu64 ",\"violations\":%" PRIu64
         "%s%s}\n",
         part, arguments->seed, done, violations, members[0] ? "," : "", members);
}

void expect_death(void) {
  static const int fatal[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};
  for (size_t i = 0; i < sizeof fatal / sizeof fatal[0]; i++) (void)signal(fatal[i], SIG_DFL);
  if (!freopen("/dev/null", "w", stderr)) die("/dev/null: %s", strerror(errno));
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_set_report_path("stderr"); /* to stderr, not to the file that fails the test: liblmdb
                                          * may copy beyond a page before it dies */
#endif
}
