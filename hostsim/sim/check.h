/* SPDX-License-Identifier: MIT
 *
 * sim/check.h: the state of a schedule that is being played, and the comparisons after each step. A
 * model that disagrees with the plugin is dropped. If no model is left, the differences of the
 * first are written.
 */
#ifndef HOSTSIM_SIM_CHECK_H
#define HOSTSIM_SIM_CHECK_H

#include "sim/play.h"
#include "sim/request.h"

enum { MODELS = 12, QUERIES = 4 };

struct play {
  struct processes *processes;
  struct tally *tally;
  struct names names;
  FILE *story, *out;
  bool separate;
  uint32_t serial;
  unsigned model_count;
  struct model models[MODELS];
  struct answer answer; /* the newest answer of a model */
  struct model next[MODELS];
  /* For each query its last answer, and what plain.c made of it. */
  struct {
    json_t *answer, *plain;
  } known[QUERIES];
};

/* Drops the `known` answers: names that the plugin gives have a meaning only in one schedule. */
void check_forget(struct play *play);

/* Applies the act to each model, and compares the answers with the plugin's. */
enum played check_answer(struct play *play, const struct act *act, const json_t *answer);

/* Compares the answers of the queries; the long ones, about the past, only `with_past`. */
enum played check_states(struct play *play, bool with_past);

/* Checks that the child of a fork has a copy of everything pending, and nothing else. */
enum played check_child(struct play *play, const struct act *act);

/* Check that a sleeping host is woken when it has to act: the first takes all rings before the act,
 * the second looks for a new one. Unneeded rings are allowed. */
enum played check_before_ring(struct play *play, const struct act *act);
enum played check_ring(struct play *play, const struct act *act);

#endif
