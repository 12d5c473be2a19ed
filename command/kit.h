/* SPDX-License-Identifier: MIT
 *
 * command/kit.h: opens the plugin through hostkit, as any host does, and sends events and queries
 * as JSON values. Prints nothing.
 */
#ifndef COMMAND_KIT_H
#define COMMAND_KIT_H

#include <jansson.h>
#include <tidings/hostkit.h>

#include "command/cli.h"

/* Opens the store with the user's configuration (project.h lays a project's over it). The plugin is
 * the one that $TIDINGS_PLUGIN names, or else the one beside this program, or else the installed
 * one. `owner_pid` as in struct tidings_open_options. A producer waits 5 s for another writer, a
 * host the default time. Errors: hostkit_open's; SCHEMA and STORE for the configuration's file. */
int32_t kit_open(const struct cli *cli, uint32_t role, uint32_t owner_pid, struct hostkit **ret_kit,
                 struct tidings_error *error);
void kit_close(struct hostkit *kit); /* NULL is allowed */
/* If `ends_after_close` was set, ends the process without closing what is still open. In a build
 * with a leak checker it returns. */
void kit_end_process(int exit_code);

/* Like kit_open, but prints what went wrong. Returns 0, or the exit code. */
int kit_open_or_say(const struct cli *cli, uint32_t role, uint32_t owner_pid,
                    struct hostkit **ret_kit);

/* The file of an open store; zeros for a store in a database. */
struct kit_place {
  uint64_t device, inode;
};

bool kit_place_equal(const struct kit_place *a, const struct kit_place *b);
void kit_note_place(const struct cli *cli, struct kit_place *ret_place); /* after kit_open */
/* For processes that run for long. If the store's folder has another file than at `place`, such as
 * that of a restored backup, opens that one with the configuration in force; no other thread need
 * stop. Errors: STORE (there is no file: the folder was moved or deleted, and a commit would go to
 * a file that no other process finds; or the new one cannot be opened), BUSY, SCHEMA_NEWER; CLOSED:
 * nothing can be opened any more. */
int32_t kit_follow_place(const struct cli *cli, struct hostkit *kit, struct kit_place *place,
                         struct tidings_error *error);

uint32_t kit_flags(void);    /* the HOSTKIT_* flags with which this program loads a plugin */
char *kit_plugin_path(void); /* free it; NULL: out of memory */
char *kit_store_path(const struct cli *cli);  /* the same; NULL too when there is no home */
bool kit_store_is_url(const struct cli *cli); /* is it in a database? */

/* Prints a warning where the plugin's own warnings go. */
void kit_warn(const struct cli *cli, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Makes a CloudEvents object and takes `data` over. Returns NULL if memory has run out, or if
 * `data` is NULL for that reason. */
json_t *kit_new_event(const char *type, const char *session, json_t *data);

/* Each takes the JSON value over; a NULL value means that memory has run out. `ret_reply` may be
 * NULL. */
int32_t kit_event(struct hostkit *kit, json_t *event, struct tidings_reply **ret_reply,
                  struct tidings_error *error);
int32_t kit_query(struct hostkit *kit, json_t *request, json_t **ret_answer,
                  struct tidings_error *error);

/* Settles a delivery; while the store is busy it tries again for `patience_ms`, because an outcome
 * that is only remembered is lost when this process ends. */
int32_t kit_settle(struct hostkit *kit, uint64_t delivery, uint32_t outcome, uint32_t patience_ms,
                   struct tidings_reply **ret_reply, struct tidings_error *error);

/* Fills `error` in the plugin's manner and returns `code`. */
int32_t kit_error(struct tidings_error *error, int32_t code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int32_t kit_no_memory(struct tidings_error *error); /* the same for NOMEM */

#endif
