/* SPDX-License-Identifier: MIT
 *
 * main.c: finds the verb, and sees to what holds for all of them: descriptors 0 to 2 are open, a
 * reader that has gone away is an error and no signal, and what was printed has really been written
 * when the exit code says so.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/verbs.h"
#include "command/help.h"

/* Otherwise the store's files could become our stdout. What stands in for a closed descriptor fails
 * when it is used. */
static void keep_standard_descriptors(void) {
  for (int fd = 0; fd <= 2; fd++) {
    if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
    int stand_in = open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
    if (stand_in != fd) _exit(EXIT_REFUSED);
  }
}

static int missing_verb(const char *problem, const char *word) {
  static const struct cli_verb nothing = {.name = NULL, .usage = "VERB [OPTION]..."};
  const struct cli cli = {.verb = &nothing};
  return word ? cli_usage(&cli, "%s '%s'; 'tidings help' lists the verbs", problem, word)
              : cli_usage(&cli, "%s", problem);
}

static int run(int argc, char **argv, bool pipe_signal_ignored) {
  const char *word = argc > 1 ? argv[1] : NULL;
  if (!word) return missing_verb("a verb is missing; 'tidings help' lists them", NULL);
  if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) return help_overview(stdout);
  if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) word = "version";
  const struct cli_verb *verb = cli_find_verb(word);
  if (!verb) return missing_verb(word[0] == '-' ? "unknown option" : "unknown verb", word);
  struct cli cli = {
      .verb = verb, .argc = argc - 1, .argv = argv + 1, .pipe_signal_ignored = pipe_signal_ignored};
  return verb->run(&cli);
}

int main(int argc, char **argv) {
  keep_standard_descriptors();
  bool was_ignored = signal(SIGPIPE, SIG_IGN) == SIG_IGN;
  int code = run(argc, argv, was_ignored);
  if (!fflush(stdout) && !ferror(stdout)) return code;
  fprintf(stderr, "tidings: cannot write to stdout: %s\n", strerror(errno));
  return code ? code : EXIT_REFUSED;
}
