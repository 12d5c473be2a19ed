/* SPDX-License-Identifier: MIT
 *
 * tests/store/kit.h: functions that the tests of the store and of its instances share: a folder for
 * each test, other processes, short ways to push, and a plugin that is called through its table of
 * functions. If a call fails that must succeed, the test ends.
 */
#ifndef TESTS_STORE_KIT_H
#define TESTS_STORE_KIT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

#include <tidings/tidings.h>

#include "store/store.h"

/* -- a folder for each test: use as .init and .fini of a suite --------------------------------- */

extern char kit_folder[256]; /* exists, 0700, empty */
extern char kit_store[300];  /* a path in it, without a store yet */
void kit_begin(void);
void kit_end(void);
const char *kit_path(const char *name); /* kit_folder/name, in one of a few static buffers */

/* Zeroed, with its size set. */
struct tidings_error new_error(void);

/* -- random numbers that repeat ---------------------------------------------------------------- */

struct random {
  uint64_t state;
};
uint64_t random_next(struct random *random);
static inline size_t random_below(struct random *random, size_t end) {
  return (size_t)(random_next(random) % end);
}

/* -- other processes --------------------------------------------------------------------------- */

/* A forked process that runs `work` and exits with its result. The child signals with
 * child_signal_test, and the test waits with child_await; in the other direction, with child_signal
 * and child_await_test. */
struct child {
  pid_t pid;
  int to, from;
};
struct child child_start(int (*work)(struct child *self, void *context), void *context);
void child_signal_test(const struct child *self); /* in the child; ends it when the test has gone */
void child_await_test(const struct child *self);
void child_await(const struct child *child); /* in the test: waits; fails it when the child died */
void child_signal(const struct child *child);
void child_kill(struct child *child);
int child_wait(struct child *child); /* returns the child's result; fails the test if the child was
                                        killed */
/* Starts a process that does nothing, whose pid can be an owner_pid. */
struct child child_living(void);

/* -- the store --------------------------------------------------------------------------------- */

struct store *store_at(const char *path);
/* Starts a process that holds the writer lock of the store until writer_let_go: writes answer BUSY.
 */
struct child writer_holding(char *store);
void writer_let_go(struct child *writer);
#define KIT_BUDGET_MS 20000 /* so that a busy machine fails no test */

struct said { /* what is zero has a default */
  const char *session, *message, *source, *id;
  unsigned level;
  int64_t now_ms;
  uint32_t limit, budget_ms;
};
int say(struct store *store, struct said said, bool *ret_duplicate,
        struct tidings_error *error); /* store_push */
void say_well(struct store *store, const char *session,
              const char *message); /* which must be stored */

struct head head_of(struct store *store, const char *session, struct arena *arena);
uint32_t number_of(struct store *store, const char *session); /* 0: the store does not know it */
uint64_t last_of(struct store *store, const char *session);
size_t pending_in(struct store *store, const char *session);
size_t items_in(struct store *store, const char *session);
size_t deliveries_in(struct store *store, const char *session);

/* -- a plugin ---------------------------------------------------------------------------------- */

extern atomic_llong kit_now_ms;   /* the host's wall clock */
extern atomic_uint kit_log_lines; /* at warning or worse */
struct plugin_words {
  uint32_t role, owner_pid, settle_on_return, budget_ms;
  const char *configuration;
  uint64_t (*count_tokens)(void *context, const struct tidings_span *text);
  int32_t (*random)(void *context, void *buffer, size_t len);
};
int plugin_try(const char *store, struct plugin_words words, struct tidings_plugin **ret_plugin,
               struct tidings_error *error);
struct tidings_plugin *plugin_at(const char *store, struct plugin_words words);
void plugin_end(struct tidings_plugin *plugin); /* close, which must answer 0 */
struct store *store_of(struct tidings_plugin *plugin);

int event(struct tidings_plugin *plugin, struct tidings_error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void push(struct tidings_plugin *plugin, const char *session,
          const char *message); /* which must be stored */

/* The reply to a tool result: 0, with the delivery, the number of notifications, and their messages
 * joined by "|"; or an error. */
struct got {
  int code;
  uint64_t delivery;
  size_t count;
  char messages[512];
  struct tidings_error error;
};
struct got tool_result(struct tidings_plugin *plugin, const char *session);
#define expect_got(result, expected)                                                               \
  do {                                                                                             \
    struct got got_ = (result);                                                                    \
    cr_assert_eq(got_.code, 0, "%d %s", got_.code, got_.error.text);                               \
    cr_assert_str_eq(got_.messages, expected, "got \"%s\", expected \"%s\"", got_.messages,        \
                     expected);                                                                    \
  } while (0)
int settle_as(struct tidings_plugin *plugin, uint64_t delivery, uint32_t outcome,
              struct tidings_error *error);
char *ask(struct tidings_plugin *plugin,
          const char *request); /* returns malloc'ed JSON; the query must be answered */

#endif
