/* SPDX-License-Identifier: MIT
 *
 * command/store.h: does tasks on a whole store, through the plugin's extension tidings.store/1.
 * Only the internal verb prints anything.
 */
#ifndef COMMAND_STORE_H
#define COMMAND_STORE_H

#include <jansson.h>
#include <tidings/hostkit.h>

#include "command/cli.h"

/* Does a task in this process. `task` is HOSTKIT_STORE_*; `to` is NULL for a check. Errors:
 * hostkit_store's. */
int32_t store_do(uint32_t task, uint32_t flags, const char *from, const char *to,
                 json_t **ret_answer, struct tidings_error *error);

/* Deletes everything of a session, or only counts it (TIDINGS_STORE_FLAG_DRY_RUN). Errors:
 * hostkit_store's. */
int32_t store_forget(const char *store, const char *session, uint32_t flags, json_t **ret_answer,
                     struct tidings_error *error);

/* Copies a store that no host uses into a new store of any kind: a folder, or a schema of a
 * database. The rows go through a file without a name in $TMPDIR, or /tmp. Errors: hostkit_store's;
 * STORE: that file cannot be made. */
int32_t store_copy(const char *from, const char *to, json_t **ret_answer,
                   struct tidings_error *error);

/* Checks a store in another process, which runs this program: if a signal ends it, the answer has
 * that as a finding. Errors: those of the check; STORE: the process could not be started. */
int32_t store_check(const char *path, json_t **ret_answer, struct tidings_error *error);

/* The verb that the other process runs. Each program that calls store_check has it as an internal
 * verb. */
extern const struct cli_verb verb_store_check;

#endif
