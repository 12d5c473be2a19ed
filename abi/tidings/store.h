/* SPDX-License-Identifier: MIT
 *
 * tidings/store.h: the extension tidings.store/1: looking after a store as a whole: checking it,
 * copying it while it is in use, saving what is left of a damaged one, and making a new one from
 * one of an older layout; and forgetting a session.
 *
 * It needs no instance: its functions take the paths of folders. Each may take seconds to minutes,
 * and reads files that may be damaged: a host that must not crash calls it in another process, as
 * the command `tidings store` does. Only `upgrade`, `drop` and `forget` change the store `from`;
 * but `backup`, and `check` of a store in use, open it as every host does.
 */
#ifndef TIDINGS_STORE_H
#define TIDINGS_STORE_H

#include <tidings/query.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The id for get_extension. Since 1.1. */
#define TIDINGS_EXT_STORE "tidings.store/1"

/* Flags of struct tidings_store_request. A plugin answers INVAL to one that it does not know. Their
 * names are new in 1.2, their numbers are those of 1.1. */
/* salvage: also take the rows of pages that are no longer in use. They may have been deleted or
 * replaced, and may be delivered again. */
#define TIDINGS_STORE_FLAG_ALSO_STALE 1u
/* init, upgrade, drop: do nothing; the answer has the SQL in "sql". forget: do nothing; the answer
 * counts what would go. */
#define TIDINGS_STORE_FLAG_DRY_RUN 2u
/* drop: delete everything that is in the store, but keep its tables, roles and rights. */
#define TIDINGS_STORE_FLAG_KEEP_TABLES 4u

/* The names of 1.1, without FLAG_. Deprecated since 1.2. */
#define TIDINGS_STORE_ALSO_STALE TIDINGS_STORE_FLAG_ALSO_STALE
#define TIDINGS_STORE_DRY_RUN TIDINGS_STORE_FLAG_DRY_RUN
#define TIDINGS_STORE_KEEP_TABLES TIDINGS_STORE_FLAG_KEEP_TABLES

/* The store to read and the store to make. Since 1.1. */
struct tidings_store_request {
  uint32_t size;
  uint32_t flags;           /* TIDINGS_STORE_FLAG_* */
  struct tidings_span from; /* required: the folder of a store, or its URL; load: a file */
  /* The folder to make: it is missing or empty. dump makes a file instead; load also fills a
   * store in a database. check, init, upgrade, drop and forget do not use it. */
  struct tidings_span to;
  struct tidings_span session; /* forget: required, its id. Not used by the others. Since 1.2. */
};
#define TIDINGS_STORE_REQUEST_SIZE_1_1 TIDINGS_SIZE_TO(struct tidings_store_request, to)
#define TIDINGS_STORE_REQUEST_SIZE_1_2 TIDINGS_SIZE_TO(struct tidings_store_request, session)

/* The functions of the extension. Since 1.1.
 *
 * All borrow the request until they return. On success *ret_answer is the answer, one JSON object
 * (schema/store.schema.json), to be released with release_answer. On an error it is not written,
 * and nothing is left of `to`.
 *
 * Errors of all:
 *   - INVAL: a null pointer, a short struct, an unknown flag, a path that is empty or has a NUL
 *   - TOO_BIG: a path or a session of more than 4,096 bytes
 *   - NOT_FOUND: there is no store at `from`
 *   - BUSY: another process is just opening the store; try again
 *   - STORE, NOMEM: as in abi.h
 * Errors of those that make a folder:
 *   - STATE: `to` is there and is not empty; or `from` is in use, and the text names the process
 *   - FULL: the new store is full */
struct tidings_store {
  uint32_t size;
  uint32_t reserved; /* 0 */

  /* Checks the structure of every page and the checksum of every row. [any thread]
   * [never from a callback] A store that is not sound is no error: the answer has "findings". Other
   * processes may use it; this process must not have it open: STORE. Since 1.1. */
  int32_t (*check)(const struct tidings_store_request *request,
                   const struct tidings_answer **ret_answer, struct tidings_error *error);

  /* Copies the store as it is at one moment, while other processes may use it. [any thread]
   * [never from a callback] This process must not have it open: STORE. Errors: also those of open
   * for the store's folder (entry.h). Since 1.1. */
  int32_t (*backup)(const struct tidings_store_request *request,
                    const struct tidings_answer **ret_answer, struct tidings_error *error);

  /* Makes a new store from the whole rows of a damaged one. [any thread] [never from a callback] A
   * session whose own row is lost gets a new one; its notifications are pending again, unless the
   * row of a delivery says that they have ended. Errors: also SCHEMA_NEWER. Since 1.1. */
  int32_t (*salvage)(const struct tidings_store_request *request,
                     const struct tidings_answer **ret_answer, struct tidings_error *error);

  /* Makes a new store from one of an older layout. [any thread] [never from a callback] Errors:
   * also STATE (it has this build's layout) and SCHEMA_NEWER. Since 1.1. */
  int32_t (*migrate)(const struct tidings_store_request *request,
                     const struct tidings_answer **ret_answer, struct tidings_error *error);

  /* Gives an answer of this extension back, once. [any thread] NULL is allowed. Since 1.1. */
  void (*release_answer)(const struct tidings_answer *answer);

  /* Makes a schema with the tables of a store in a database, at the URL `from`. [any thread]
   * [never from a callback] Errors: also STATE (the schema exists), INVAL (`from` is a folder: a
   * store in a folder is made when it is first opened). Since 1.1. */
  int32_t (*init)(const struct tidings_store_request *request,
                  const struct tidings_answer **ret_answer, struct tidings_error *error);

  /* Brings an older schema to this build's number; nothing to do is no error. [any thread]
   * [never from a callback] Errors: also SCHEMA_NEWER, INVAL. Since 1.1. */
  int32_t (*upgrade)(const struct tidings_store_request *request,
                     const struct tidings_answer **ret_answer, struct tidings_error *error);

  /* Removes a store from its database with all that is in it. [any thread] [never from a callback]
   * Errors: also NOT_FOUND (there is no such schema, or it is not a store's), STATE (a host of one
   * of its sessions lives), SCHEMA_NEWER, INVAL. Since 1.1. */
  int32_t (*drop)(const struct tidings_store_request *request,
                  const struct tidings_answer **ret_answer, struct tidings_error *error);

  /* Writes every row of a store to the file `to`, which is made, or emptied first. No host may use
   * the store. [any thread] [never from a callback] A plugin for any kind of store makes a store of
   * it again: see load. The file is as secret as the store. Errors: also STATE (`from` is in use).
   * Since 1.1. */
  int32_t (*dump)(const struct tidings_store_request *request,
                  const struct tidings_answer **ret_answer, struct tidings_error *error);

  /* Makes the store `to` from the file `from`, which dump has written, and reads every row back
   * before the store can be used. [any thread] [never from a callback] In a database, `to` may also
   * be a schema that does not exist yet, or a store without a session. Errors: also STATE (`to` has
   * a session, or is in use), STORE (`from` is no such file, or is not whole; or a row that was
   * read back differs). Since 1.1. */
  int32_t (*load)(const struct tidings_store_request *request,
                  const struct tidings_answer **ret_answer, struct tidings_error *error);

  /* Deletes everything that the store `from` has of `session`: its name, what is pending, its
   * history, the ids of events that it has seen. [any thread] [never from a callback] The store may
   * be in use. The history is deleted in portions, so that no other process waits for long, and the
   * rest in one commit. A later session of the same name begins with nothing. The bytes stay in the
   * files until other data overwrites them. This process must not have the store open: STORE.
   * Errors: also NOT_FOUND (the store has nothing of such a session), STATE (its host runs; some of
   * its history may be gone), INVAL. Since 1.2. */
  int32_t (*forget)(const struct tidings_store_request *request,
                    const struct tidings_answer **ret_answer, struct tidings_error *error);
};
#define TIDINGS_STORE_SIZE_1_1 TIDINGS_SIZE_TO(struct tidings_store, load)

#ifdef __cplusplus
}
#endif

#endif
