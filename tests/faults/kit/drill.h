/* SPDX-License-Identifier: MIT
 *
 * kit/drill.h: every operation of the plugin, done again and again while the first, the second, the
 * third … call of some kind fails, until none is left to fail. After each attempt the fault is
 * lifted and the books are checked: what was acknowledged comes exactly once, what was refused does
 * not come. Must not know what the faults are.
 */
#ifndef KIT_DRILL_H
#define KIT_DRILL_H

#include "kit/folder.h"
#include "kit/rig.h"

/* A way of failing: the n-th call from now on, by the calling thread, within the plugin. */
struct drill_fault {
  const char *name;
  void (*arm)(uint64_t n);
  bool (*disarm)(void);                 /* true if the fault was hit */
  void (*before)(void), (*after)(void); /* around each call into the plugin */
  /* May this be the answer of an operation that was hit? `opening`: of open. */
  bool (*allowed)(int32_t code, const struct tidings_error *error, bool opening);
};

struct drill {
  const struct arguments *arguments;
  const struct drill_fault *fault;
  struct rig rig;
  char folder[FOLDER_PATH_MAX], store[FOLDER_PATH_MAX];
  const char *operation;
  uint64_t attempt; /* n of the fault under way */
  uint64_t next_token;
  struct tokens due;      /* must come, in session "drill" */
  struct tokens in_doubt; /* may come: the text had said that the outcome is unknown */
  bool named;             /* next_session has named a session under a fault */
  uint64_t delivery;      /* handed out by an operation's preparation */
  uint64_t stores;        /* made so far */
  uint64_t attempts, refused, tolerated; /* figures */
};

/* Something that the plugin does. */
struct drill_operation {
  const char *name;
  bool opening;
  void (*prepare)(struct drill *drill); /* without faults; may be NULL */
  int32_t (*attempt)(struct drill *drill, struct tidings_error *error);
  void (*check)(struct drill *drill, int32_t code,
                const struct tidings_error *error); /* without faults; may be NULL */
};

/* Calls that operations need; a failure of these fails the test. */
#define DRILL_SESSION "drill"
/* Reports what is wrong with the operation under way. */
void drill_wrong(const struct drill *drill, const char *what,
                 const char *detail); /* detail may be NULL */
void drill_must(const struct drill *drill, int32_t code, const struct tidings_error *error,
                const char *what);
/* Opens the store unless it is open; without a store the test ends. */
void drill_reopen(struct drill *drill, struct tidings_error *error, const char *what);
/* Pushes `count` notifications without a fault: they are due. */
void drill_push_due(struct drill *drill, size_t count);
/* Removes a token from the list; false: it is not in it. */
bool drill_take(struct tokens *tokens, uint64_t token);
/* Removes what a carrier holds from what is due or unsure; it must have been one of them. */
void drill_strike(struct drill *drill, const struct carried *carried);
/* Did the answer say that it may have happened or not? */
bool drill_outcome_unknown(int32_t code);

/* Loads the plugin and makes a folder for stores. The same drill serves any number of faults. */
void drill_begin(struct drill *drill, const struct arguments *arguments, const char *name);
/* Runs all operations under one fault. */
void drill_run(struct drill *drill, const struct drill_fault *fault);
void drill_end(struct drill *drill);

#endif
