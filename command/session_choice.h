/* SPDX-License-Identifier: MIT
 *
 * command/session_choice.h: chooses a session by the current folder. It sends no query and prints
 * nothing.
 */
#ifndef COMMAND_SESSION_CHOICE_H
#define COMMAND_SESSION_CHOICE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct session_choice {
  const json_t *session; /* one of the list; NULL: none fits */
  size_t fit;            /* how many sessions of running hosts have `folder` or a folder above it */
  size_t nearest;        /* how many of these have the nearest folder */
  bool used;             /* the session is known to have begun a turn */
};

/* `sessions` is the list of the query of that name. Chooses among the sessions of running hosts
 * whose folder is `folder` or above it: by the nearest folder, then by the last prompt or tool
 * result, then by the last attachment. */
struct session_choice session_choice_by_folder(const json_t *sessions, const char *folder);

/* Was `session` used later than `other`, or attached later if neither was used? */
bool session_choice_used_later(const json_t *session, const json_t *other);

/* Writes half a sentence that says why this session was chosen. 128 bytes are enough for it. */
void session_choice_why(const struct session_choice *choice, char *text, size_t size);

#endif
