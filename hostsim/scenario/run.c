/* SPDX-License-Identifier: MIT
 *
 * scenario/run.c: reads a scenario's text, checks it, plays it, and makes the result.
 */
#include "scenario/scenario.h"

#include <stdlib.h>
#include <string.h>

static enum verdict check_and_play(const char *text, size_t len,
                                   const struct scenario_options *options, char **ret_name,
                                   FILE *out) {
  json_error_t problem;
  json_t *scenario = json_loadb(text, len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &problem);
  if (!scenario) {
    fprintf(out, "not JSON: line %d, column %d: %s\n", problem.line, problem.column, problem.text);
    return VERDICT_FAILED;
  }
  const char *name = json_string_value(json_object_get(scenario, "name"));
  if (name) {
    free(*ret_name);
    *ret_name = strdup(name);
  }
  bool sound = scenario_check(scenario, out) && scenario_check_presence(scenario, out);
  enum verdict verdict = sound ? scenario_play(scenario, options, out) : VERDICT_FAILED;
  json_decref(scenario);
  return verdict;
}

void scenario_run(const char *label, const char *text, size_t len,
                  const struct scenario_options *options, struct scenario_result *ret_result) {
  struct scenario_result result = {.verdict = VERDICT_FAILED, .name = strdup(label)};
  size_t details_len = 0;
  FILE *out = open_memstream(&result.details, &details_len);
  if (out) {
    result.verdict = check_and_play(text, len, options, &result.name, out);
    fclose(out);
  }
  *ret_result = result;
}

void scenario_result_finish(struct scenario_result *result) {
  free(result->name);
  free(result->details);
  result->name = NULL;
  result->details = NULL;
}
