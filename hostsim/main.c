/* SPDX-License-Identifier: MIT
 *
 * hostsim: a simulated agent host. This file only finds the verb.
 */
#include "cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct cli_verb *const public_verbs[] = {&verb_run, &verb_conformance, &verb_sim,
                                                      &verb_demo, &verb_dev};
static const struct cli_verb *const internal_verbs[] = {&verb_internal_agent, &verb_internal_case,
                                                        &verb_internal_demo_host,
                                                        &verb_internal_push, &verb_internal_sim};

static const char usage[] = "hostsim run|conformance|sim|demo|dev [OPTION]... [FILE.json]...";

static int print_help(void) {
  printf(
      "usage: %s\n\n"
      "A simulated agent host for tidings plugins.\n\n"
      "  run FILE.json...          play scenario files and print TAP\n"
      "  conformance --plugin PATH check any plugin against the contract\n"
      "  sim                       play random schedules against a plugin and a model of it\n"
      "  demo                      watch an agent session with crashes and a hot swap\n"
      "  dev --plugin PATH         keep a session going, hot-swap whenever the file is rebuilt\n\n"
      "  --help     this text; 'hostsim VERB --help' says more\n"
      "  --version  print the version\n",
      usage);
  return EXIT_SUCCESS;
}

static int usage_error(const char *problem, const char *word) {
  fprintf(stderr, "hostsim: %s%s%s%s\nusage: %s\n", problem, word ? " '" : "", word ? word : "",
          word ? "'" : "", usage);
  return EXIT_USAGE;
}

static const struct cli_verb *find_verb(const struct cli_verb *const *verbs, size_t count,
                                        const char *name) {
  for (size_t i = 0; i < count; i++)
    if (strcmp(verbs[i]->name, name) == 0) return verbs[i];
  return NULL;
}

int main(int argc, char **argv) {
  if (argc < 2) return usage_error("a verb is missing", NULL);
  const char *word = argv[1];
  if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) return print_help();
  if (strcmp(word, "--version") == 0) {
    printf("hostsim %s\n", TIDINGS_VERSION);
    return EXIT_SUCCESS;
  }
  const struct cli_verb *verb =
      find_verb(public_verbs, sizeof public_verbs / sizeof public_verbs[0], word);
  if (!verb)
    verb = find_verb(internal_verbs, sizeof internal_verbs / sizeof internal_verbs[0], word);
  if (!verb) return usage_error(word[0] == '-' ? "unknown option" : "unknown verb", word);
  return verb->run(verb, argc - 1, argv + 1);
}
