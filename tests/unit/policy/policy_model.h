/* SPDX-License-Identifier: MIT
 *
 * tests/unit/policy/policy_model.h: a second plan, naive on purpose, that follows the words of the
 * documentation step by step. It shares nothing with the plugin's but the types.
 */
#ifndef TESTS_UNIT_POLICY_MODEL_H
#define TESTS_UNIT_POLICY_MODEL_H

#include "items.h"

struct model_line {
  size_t items[MOST_ITEMS]; /* indices */
  size_t count;
  uint64_t place, newest;
  uint8_t level;
  bool pinned;
  struct tidings_span message;
  bool shortened;
};

struct model {
  struct fate fates[MOST_ITEMS];
  uint64_t places[MOST_ITEMS];
  struct model_line lines[MOST_ITEMS]; /* what is shown */
  size_t shown, deferred;
  size_t awaited;      /* withdrawn, but pending until no watcher can speak of it any more */
  struct arena *arena; /* of messages */
};

void model_plan(struct model *model, const struct items *items, const struct settings *settings,
                int64_t now_ms, struct arena *arena);

#endif
