/* SPDX-License-Identifier: MIT
 *
 * store/handle.h: the structs of an open store and a transaction, for the folders inside store/.
 */
#ifndef STORE_HANDLE_H
#define STORE_HANDLE_H

#include "common/error.h"
#include "store/db/remote.h"
#include "store/store.h"

/* The state of a session that a push needs. */
struct push_place {
  uint32_t session;
  bool declares; /* its tools have declared kinds */
  uint64_t last; /* number of the newest item */
  uint64_t live; /* items that have not ended */
  struct owner owner;
};

/* The state of a session after the last push, so that the next one need not look again: it holds as
 * long as nothing else has been committed. */
enum { PUSH_NAME_BYTES = 255 };
struct push_known {
  uint64_t state; /* the state of the rows, as in db_state, for which `place` is true; 0: none */
  struct push_place place;
  size_t name_len; /* of the session's name; 0: none */
  char name[PUSH_NAME_BYTES];
};

/* The folders in order: db, rows, wake, push and forget, open. None uses a later one. */
/* The numbers of a store: copies share the identity, and each copy has an incarnation of its
 * own. */
struct meta_life {
  uint64_t identity, incarnation;
};

struct store {
  struct db *db;
  struct meta_life life; /* as of the opening */
  bool lives;            /* `life` is known */
  int32_t (*random)(void *context, void *buffer, size_t len);
  void *random_context;
  _Atomic uint32_t voided; /* how often a session's number was found to be another one's */
  struct push_known known; /* push/known.c; used by the writer */
};

struct store_txn {
  struct store *store;
  struct db_txn *db; /* points to `own`, or to that of a batch */
  bool writing;
  bool only_names; /* what waits in the inbox stays there */
  uint32_t folded; /* a session whose inbox has become rows, before its head is written; 0: none */
  struct db_txn own;
};

#endif
