/* SPDX-License-Identifier: MIT
 *
 * command/session_choice.h: which of the store's sessions is meant by the current folder. Asks
 * nobody and prints nothing.
 */
#ifndef COMMAND_SESSION_CHOICE_H
#define COMMAND_SESSION_CHOICE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct session_choice {
  const json_t *session; /* one of the list; NULL: none fits */
  size_t fit;            /* how many of running hosts have a folder that is `folder` or above it */
  size_t nearest;        /* how many of these have the nearest folder */
  bool used;             /* it has begun a turn, as far as is known */
};

/* `sessions` is what the query of that name lists. Chooses among those of running hosts whose
 * folder is `folder` or above it: the nearest folder first, then the last prompt or tool result,
 * then the last attachment. */
struct session_choice session_choice_by_folder(const json_t *sessions, const char *folder);

/* Was `session` used later than `other`, or attached later if neither was used? */
bool session_choice_used_later(const json_t *session, const json_t *other);

/* Half a sentence: why this one. The text is the caller's, `size` bytes are enough for 128. */
void session_choice_why(const struct session_choice *choice, char *text, size_t size);

#endif
