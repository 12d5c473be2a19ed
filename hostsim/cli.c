/* SPDX-License-Identifier: MIT
 *
 * The command line: usage errors and numbers, said the same way by every verb.
 */
#include "cli.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

int cli_usage_error(const struct cli_verb *verb, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fprintf(stderr, "hostsim %s: ", verb->name);
  vfprintf(stderr, format, arguments);
  fprintf(stderr, "\nusage: %s\n", verb->usage);
  va_end(arguments);
  return EXIT_USAGE;
}

int cli_bad_option(const struct cli_verb *verb, int answer, char **argv) {
  const char *word = argv[optind - 1];
  if (answer == ':') return cli_usage_error(verb, "option '%s' needs an argument", word);
  /* getopt stays at a cluster such as -xy until its last letter; then the word to name is the
   * letter, not what stands before it. */
  if (optopt != 0 && isprint(optopt) && (word[0] != '-' || word[1] != '-'))
    return cli_usage_error(verb, "unknown option '-%c'", optopt);
  return cli_usage_error(verb, "unknown option '%s'", word);
}

int cli_help(const struct cli_verb *verb) {
  printf("usage: %s\n\n%s", verb->usage, verb->help);
  return EXIT_SUCCESS;
}

int cli_number(const char *text, uint64_t min, uint64_t max, uint64_t *ret_number) {
  if (!isdigit((unsigned char)text[0])) return -1;
  char *end = NULL;
  errno = 0;
  unsigned long long number = strtoull(text, &end, 10);
  if (errno != 0 || *end != '\0' || number < min || number > max) return -1;
  *ret_number = number;
  return 0;
}
