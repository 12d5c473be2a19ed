/* SPDX-License-Identifier: MIT
 *
 * The command line: verbs, usage errors, numbers. Knows nothing of what the verbs do.
 */
#ifndef HOSTSIM_CLI_H
#define HOSTSIM_CLI_H

#include <stdint.h>

#define EXIT_USAGE 2

/* A verb's words: the usage line (without "usage: ") and the text below it for --help. */
struct cli_verb {
  const char *name;
  const char *usage;
  const char *help;
  int (*run)(const struct cli_verb *verb, int argc,
             char **argv); /* argv[0] is the verb; returns the exit code */
};

/* Says on stderr what is wrong and prints the usage line. Returns EXIT_USAGE. */
int cli_usage_error(const struct cli_verb *verb, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Answers what getopt_long returned for an option it did not accept ('?' or ':'). Returns
 * EXIT_USAGE. */
int cli_bad_option(const struct cli_verb *verb, int answer, char **argv);

/* Prints the verb's help on stdout. Returns 0. */
int cli_help(const struct cli_verb *verb);

/* Reads a whole decimal number of min to max. Returns 0, or -1 when it is none. */
int cli_number(const char *text, uint64_t min, uint64_t max, uint64_t *ret_number);

/* The public verbs, and those that hostsim starts itself with. */
extern const struct cli_verb verb_run;
extern const struct cli_verb verb_conformance;
extern const struct cli_verb verb_sim;
extern const struct cli_verb verb_demo;
extern const struct cli_verb verb_dev;
extern const struct cli_verb verb_internal_agent;
extern const struct cli_verb verb_internal_case;
extern const struct cli_verb verb_internal_demo_host;
extern const struct cli_verb verb_internal_push;
extern const struct cli_verb verb_internal_sim;

#endif
