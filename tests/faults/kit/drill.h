/* SPDX-License-Identifier: MIT
 *
 * kit/drill.h: repeats every operation of the plugin while the first, the second, the third … call
 * of some kind fails, until the operation has no further such call. After each attempt the fault is
 * removed and the results are checked: what was acknowledged comes exactly once, and what was
 * refused does not come. This code does not depend on the kind of fault.
 */
#ifndef KIT_DRILL_H
#define KIT_DRILL_H

#include "kit/folder.h"
#include "kit/rig.h"

/* A fault: it hits the n-th call that the calling thread makes inside the plugin. */
struct drill_fault {
  const char *name;
  void (*arm)(uint64_t n);
  bool (*disarm)(void);                 /* true if the fault was hit */
  void (*before)(void), (*after)(void); /* called before and after each call of the plugin */
  /* May an operation that was hit return this? `opening`: the operation is open. */
  bool (*allowed)(int32_t code, const struct tidings_error *error, bool opening);
};

struct drill {
  const struct arguments *arguments;
  const struct drill_fault *fault;
  struct rig rig;
  char folder[FOLDER_PATH_MAX], store[FOLDER_PATH_MAX];
  const char *operation;
  uint64_t attempt; /* the n of the present fault */
  uint64_t next_token;
  struct tokens due;      /* must be delivered in session "drill" */
  struct tokens in_doubt; /* may be delivered: the error said that the outcome is unknown */
  bool named;             /* next_session has named a session during a fault */
  uint64_t delivery;      /* the delivery that prepare has handed out */
  uint64_t stores;        /* how many stores were made so far */
  uint64_t attempts, refused, tolerated; /* counted for the report */
};

/* An operation of the plugin. */
struct drill_operation {
  const char *name;
  bool opening;
  void (*prepare)(struct drill *drill); /* without faults; may be NULL */
  int32_t (*attempt)(struct drill *drill, struct tidings_error *error);
  void (*check)(struct drill *drill, int32_t code,
                const struct tidings_error *error); /* without faults; may be NULL */
};

/* Calls that operations need. If one fails, so does the test. */
#define DRILL_SESSION "drill"
/* Reports what is wrong with the present operation. */
void drill_wrong(const struct drill *drill, const char *what,
                 const char *detail); /* detail may be NULL */
void drill_must(const struct drill *drill, int32_t code, const struct tidings_error *error,
                const char *what);
/* Opens the store unless it is open; without a store the test ends. */
void drill_reopen(struct drill *drill, struct tidings_error *error, const char *what);
/* Pushes `count` notifications without a fault, and adds them to `due`. */
void drill_push_due(struct drill *drill, size_t count);
/* Removes a token from the list; false: the list lacks it. */
bool drill_take(struct tokens *tokens, uint64_t token);
/* Removes a delivery's notifications from `due` or `in_doubt`, one of which must have each. */
void drill_strike(struct drill *drill, const struct carried *carried);
/* Did the answer say that the outcome is unknown? */
bool drill_outcome_unknown(int32_t code);

/* Loads the plugin and makes a folder for stores. The same drill serves any number of faults. */
void drill_begin(struct drill *drill, const struct arguments *arguments, const char *name);
/* Runs all operations under one fault. */
void drill_run(struct drill *drill, const struct drill_fault *fault);
void drill_end(struct drill *drill);

#endif
