/* SPDX-License-Identifier: MIT
 *
 * sim/check.h: a schedule that is being played, and the comparisons after each step. A model that
 * does not agree with the plugin is dropped; when the last one is dropped, its difference is
 * written.
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
  struct answer answer; /* the answer of the model that was asked last */
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

/* Compares the answers of the queries. Those about the past are long, and are compared only
 * `with_past`. */
enum played check_states(struct play *play, bool with_past);

/* Checks that the child of a fork has a copy of everything pending, and nothing else. */
enum played check_child(struct play *play, const struct act *act);

/* These check that a sleeping host is woken when it has to act. The first takes all rings before
 * the act; the second checks that the session has rung since. Unneeded rings are allowed. */
enum played check_before_ring(struct play *play, const struct act *act);
enum played check_ring(struct play *play, const struct act *act);

#endif
