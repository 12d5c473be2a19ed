/* SPDX-License-Identifier: MIT
 *
 * command/program.c: finds the verb, and does what all verbs need.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/cli.h"
#include "command/help.h"
#include "command/near.h"
#include "common/store_url.h"

const struct cli_verb *cli_find_verb(const struct cli_verb *const *verbs, const char *name) {
  for (; verbs && *verbs; verbs++) {
    if (strcmp((*verbs)->name, name) == 0) return *verbs;
  }
  return NULL;
}

/* Opens descriptors 0 to 2 if they are closed, because otherwise a file of the store could become
 * stdout. Using such a replacement fails. */
static void keep_standard_descriptors(void) {
  for (int fd = 0; fd <= 2; fd++) {
    if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
    int stand_in = open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
    if (stand_in != fd) _exit(EXIT_REFUSED);
  }
}

static const char *nearest_verb(const struct cli_program *program, const char *word) {
  const char *names[64];
  size_t count = 0;
  for (; count < sizeof names / sizeof *names && program->verbs[count]; count++)
    names[count] = program->verbs[count]->name;
  return near_find(word, names, count);
}

static int missing_verb(const struct cli_program *program, const char *problem, const char *word) {
  const struct cli_verb nothing = {.name = NULL, .usage = program->usage};
  const struct cli cli = {.program = program, .verb = &nothing};
  const char *near = word ? nearest_verb(program, word) : NULL;
  if (!word) return cli_usage(&cli, "a verb is missing; '%s help' lists them", program->name);
  return near ? cli_usage(&cli, "%s '%s'; did you mean '%s'? '%s help' lists the verbs", problem,
                          word, near, program->name)
              : cli_usage(&cli, "%s '%s'; '%s help' lists the verbs", problem, word, program->name);
}

static int run_verb(const struct cli_program *program, const struct cli_verb *verb, int argc,
                    char **argv, bool pipe_signal_ignored) {
  struct cli cli = {.program = program,
                    .verb = verb,
                    .argc = argc,
                    .argv = argv,
                    .pipe_signal_ignored = pipe_signal_ignored};
  return verb->run(&cli);
}

static int run_program(const struct cli_program *program, int argc, char **argv,
                       bool pipe_signal_ignored) {
  const char *word = argc > 1 ? argv[1] : NULL;
  if (!program->verbs[0]->name)
    return run_verb(program, program->verbs[0], argc, argv, pipe_signal_ignored);
  if (!word && program->overview)
    return run_verb(program, program->overview, argc, argv, pipe_signal_ignored);
  if (!word) return missing_verb(program, NULL, NULL);
  if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) return help_overview(stdout, program);
  if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) word = "version";
  const struct cli_verb *verb = cli_find_verb(program->verbs, word);
  if (!verb) verb = cli_find_verb(program->internal_verbs, word);
  if (!verb) return missing_verb(program, word[0] == '-' ? "unknown option" : "unknown verb", word);
  return run_verb(program, verb, argc - 1, argv + 1, pipe_signal_ignored);
}

/* This can be seen only if stdout is a pipe or a socket. */
static bool reader_is_gone(void) {
  struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
  return poll(&out, 1, 0) == 1 && out.revents & (POLLERR | POLLHUP);
}

/* Overwrites a store's password in the arguments, because everybody on this machine can read
 * them. */
static void hide_password(char **argument) {
  const char *url = strstr(*argument, "postgres");
  if (!url || !store_url_is(url) || !store_url_has_password(url)) return;
  char *copy = strdup(*argument), *shown = store_url_shown(url);
  size_t before = (size_t)(url - *argument), room = strlen(url), len = shown ? strlen(shown) : 0;
  if (copy && shown && len <= room) {
    memset(*argument + before, ' ', room);
    memcpy(*argument + before, shown, len);
    *argument = copy; /* until the process ends */
    copy = NULL;
  }
  free(copy);
  free(shown);
}

int cli_main(const struct cli_program *program, int argc, char **argv) {
  keep_standard_descriptors();
  (void)signal(SIGCHLD, SIG_DFL); /* while it is ignored, nobody learns how a child has ended */
  for (int i = 1; i < argc; i++) hide_password(&argv[i]);
  bool was_ignored = !program->keep_pipe_signal && signal(SIGPIPE, SIG_IGN) == SIG_IGN;
  int code = run_program(program, argc, argv, was_ignored);
  if (!fflush(stdout) && !ferror(stdout)) return code;
  if (reader_is_gone())
    return code ? code : EXIT_PIPE; /* the reader has left, as `head` does: no error is printed */
  fprintf(stderr, "%s: cannot write to stdout: %s\n", program->name, strerror(errno));
  return code ? code : EXIT_REFUSED;
}
