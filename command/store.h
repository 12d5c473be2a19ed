/* SPDX-License-Identifier: MIT
 *
 * command/store.h: looking after a store as a whole, through the plugin's extension
 * tidings.store/1. Prints nothing, but for the internal verb.
 */
#ifndef COMMAND_STORE_H
#define COMMAND_STORE_H

#include <jansson.h>
#include <tidings/hostkit.h>

#include "command/cli.h"

/* In this process. `task` is HOSTKIT_STORE_*; `to` is NULL for a check. Errors: hostkit_store's. */
int32_t store_do(uint32_t task, uint32_t flags, const char *from, const char *to,
                 json_t **ret_answer, struct tidings_error *error);

/* Deletes everything of a session, or counts it (TIDINGS_STORE_FLAG_DRY_RUN). Errors:
 * hostkit_store's. */
int32_t store_forget(const char *store, const char *session, uint32_t flags, json_t **ret_answer,
                     struct tidings_error *error);

/* Copies a store that no host uses into a new one, of any kind: a folder, or a schema of a
 * database. The rows go through a file without a name in $TMPDIR, or /tmp. Errors: hostkit_store's;
 * STORE: that file cannot be made. */
int32_t store_copy(const char *from, const char *to, json_t **ret_answer,
                   struct tidings_error *error);

/* A check in a process of its own, which is this program: if a signal ends it, the answer has that
 * as a finding. Errors: those of the check; STORE: it could not be started. */
int32_t store_check(const char *path, json_t **ret_answer, struct tidings_error *error);

/* The verb that this process runs; an internal verb of each program that calls store_check. */
extern const struct cli_verb verb_store_check;

#endif
