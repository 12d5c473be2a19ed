/* SPDX-License-Identifier: MIT
 *
 * sim/check.h: a schedule that is being played, and what is compared after each step. Models that
 * do not agree with the plugin are dropped; the last one's difference is written.
 */
#ifndef HOSTSIM_SIM_CHECK_H
#define HOSTSIM_SIM_CHECK_H

#include "sim/play.h"
#include "sim/request.h"

enum { MODELS = 12 };

struct play {
  struct processes *processes;
  struct tally *tally;
  struct names names;
  FILE *story, *out;
  bool separate;
  uint32_t serial;
  unsigned model_count;
  struct model models[MODELS];
  struct answer answer; /* of the model that was asked last */
  struct model next[MODELS];
};

/* The plugin's answer to the act, which each model does now. */
enum played check_answer(struct play *play, const struct act *act, const json_t *answer);

/* The answers of the queries; the past is longer than the present and only compared when it is
 * asked for. */
enum played check_states(struct play *play, bool with_past);

/* The child of a fork has a copy of what is pending, and nothing else. */
enum played check_child(struct play *play, const struct act *act);

/* A sleeping host must be woken when it has to act: before the act, what rang until then is
 * taken; after it, the session must be among what rang since. More rings than needed are
 * allowed. */
enum played check_before_ring(struct play *play, const struct act *act);
enum played check_ring(struct play *play, const struct act *act);

#endif
