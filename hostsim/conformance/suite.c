/* SPDX-License-Identifier: MIT
 *
 * conformance/suite.c: the suite's C cases, and the process that runs one of them.
 */
#include "conformance/suite.h"

#include "host/process.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct conformance_case *const groups[] = {cases_entry,   cases_open,  cases_growth,
                                                        cases_call,    cases_event, cases_delivery,
                                                        cases_process, cases_wake};

const struct conformance_case *suite_case(size_t number) {
  for (size_t group = 0; group < sizeof groups / sizeof groups[0]; group++) {
    for (const struct conformance_case *one = groups[group]; one->name; one++)
      if (number-- == 0) return one;
  }
  return NULL;
}

/* NULL: there is none. */
static const struct conformance_case *find_case(const char *name) {
  const struct conformance_case *one = NULL;
  for (size_t i = 0; (one = suite_case(i)) && strcmp(one->name, name) != 0; i++) {}
  return one;
}

/* Reports on the channel that the case has reached its end, so that a plugin that exits the process
 * cannot pass. */
static int case_verb(struct cli *cli) {
  const struct conformance_case *one = cli->argc == 5 ? find_case(cli->argv[1]) : NULL;
  if (!one) return cli_usage(cli, "internal; not for use by hand");
  process_become_child();
  struct trial trial = {.plugin_path = cli->argv[2], .dir = cli->argv[3], .store = cli->argv[4]};
  simhost_init(&trial.simhost, 1, false);
  one->run(&trial);
  simhost_finish(&trial.simhost);
  ssize_t written = write(PROCESS_CHANNEL_FD, TRIAL_PASSED, sizeof TRIAL_PASSED - 1);
  return written > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

const struct cli_verb verb_internal_case = {
    .name = "internal-case", .usage = "NAME PLUGIN DIR STORE", .run = case_verb};
