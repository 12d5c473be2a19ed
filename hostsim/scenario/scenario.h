/* SPDX-License-Identifier: MIT
 *
 * scenario/scenario.h: scenarios say, step by step, what a host and others do, and what must
 * happen. docs/scenarios.md and `hostsim run --help` describe the format. A scenario is played
 * against a plugin in a child process, on a fresh store, with a clock of its own.
 */
#ifndef HOSTSIM_SCENARIO_H
#define HOSTSIM_SCENARIO_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum verdict {
  VERDICT_PASSED,
  VERDICT_FAILED,
  VERDICT_CRASHED, /* the process with the plugin died unexpectedly */
  VERDICT_HUNG,
  VERDICT_SKIPPED,
  VERDICT_INTERRUPTED,
};

struct scenario_options {
  const char *plugin;
  uint64_t seed;
  int timeout_ms;        /* how long one step may take */
  bool keep;             /* keep the store, and print where it is */
  bool verbose;          /* the plugin's log goes to stderr */
  bool skip_unsupported; /* an unexpected TIDINGS_E_UNSUPPORTED means skipped, not failed: for
                            plugins that need not do everything */
};

struct scenario_result {
  enum verdict verdict;
  char *name;    /* freed by the result's finish; the label if the scenario has no name */
  char *details; /* the same: lines that say what differs, or why it was skipped; "" if there is
                    nothing to say */
};

/* Reads and plays a scenario. `label` names it until its own name is known. Always fills
 * *ret_result. */
void scenario_run(const char *label, const char *text, size_t len,
                  const struct scenario_options *options, struct scenario_result *ret_result);

void scenario_result_finish(struct scenario_result *result);

/* The functions below are in the order in which they are used. */

/* Checks keys and types. Returns true, or writes one line per problem. */
bool scenario_check(json_t *scenario, FILE *out);

/* Call it after scenario_check. Refuses a scenario that only expects things to be absent. Returns
 * true, or writes one line. */
bool scenario_check_presence(json_t *scenario, FILE *out);

/* Returns the key that says what the step does; NULL: none or several do. */
const char *scenario_verb(const json_t *step);

/* Returns a copy of `value` in which `last` replaces each string "$last", and the list `offer` each
 * string "$offer". If a needed one is NULL, returns NULL, and *ret_missing names it. */
json_t *scenario_substitute(json_t *value, const char *last, const json_t *offer,
                            const char **ret_missing);

/* Compares what was expected, which may be only a part, with what came. Writes one line "PREFIX:
 * PATH: expected … got …" per difference and returns their number. */
unsigned scenario_compare(json_t *expected, const json_t *got, const char *prefix, FILE *out);

/* Plays a scenario that was checked. Writes what differs to `out`. */
enum verdict scenario_play(json_t *scenario, const struct scenario_options *options, FILE *out);

#endif
