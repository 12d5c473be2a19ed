/* SPDX-License-Identifier: MIT
 *
 * tests/agents/hooks/race.h: functions for test programs in which another process acts at a given
 * moment.
 */
#ifndef TESTS_AGENTS_HOOKS_RACE_H
#define TESTS_AGENTS_HOOKS_RACE_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "agents/hook/hook.h"
#include "command/kit.h"
#include "common/folder.h"

#define MUST(condition)                                                                            \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      printf("not ok - %s:%d: %s\n", __FILE__, __LINE__, #condition);                              \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)

static char *race_folder; /* removed when the program ends */

static inline void race_remove_folder(void) {
  (void)folder_remove_all(race_folder);
  free(race_folder);
}

static inline void race_make_folder(const char *name) {
  race_folder = folder_make_temporary(NULL, name);
  MUST(race_folder && atexit(race_remove_folder) == 0);
}

/* Opens a store in that folder like a hook, but with a large budget. */
static inline struct hostkit *race_open_kit(struct tidings_error *error) {
  static const struct cli_program program = {.name = "test"};
  static char store[4096];
  struct hostkit *kit = NULL;
  (void)snprintf(store, sizeof store, "%s/store", race_folder);
  const struct cli cli = {.verb = &verb_hook,
                          .program = &program,
                          .store = store,
                          .no_config = true,
                          .budget_ms = 60000};
  MUST(kit_open(&cli, TIDINGS_ROLE_HOST, (uint32_t)getpid(), &kit, error) == TIDINGS_OK);
  return kit;
}

#endif
