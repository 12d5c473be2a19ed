/* SPDX-License-Identifier: MIT
 *
 * command/session.h: finds the session that the user means.
 */
#ifndef COMMAND_SESSION_H
#define COMMAND_SESSION_H

#include <jansson.h>
#include <stdbool.h>

#include "command/cli.h"
#include "command/kit.h"

/* Chooses the session: the one given with -s, else $TIDINGS_SESSION, else the one that
 * session_choice.h finds by the current folder. Says on stderr what is wrong, with a list of the
 * sessions; verbs with WITH_CREATE also say which session was found. It is an error if the store
 * does not know a session given with -s, unless the session is to be created. Returns 0, or the
 * exit code. Free *ret_session. */
int session_choose(const struct cli *cli, struct hostkit *kit, char **ret_session);

/* Returns the session given with -s, else $TIDINGS_SESSION; NULL: neither is set. */
const char *session_named(const struct cli *cli);

/* Completes the beginning of a name, if only one session's name begins so: *name becomes that name,
 * and the old text is freed. Refuses a name that the store does not know, with a list of the
 * sessions, the nearest names first. Returns 0, or the exit code. */
int session_complete(const struct cli *cli, struct hostkit *kit, char **name);

/* The same for hosts, whose first call creates their session: a name that cannot be completed stays
 * as it is, with a warning if it is close to the name of another session. Returns 0, or the exit
 * code. */
int session_complete_or_new(const struct cli *cli, struct hostkit *kit, char **name);

/* May the name be the beginning of the random id of an agent's session? */
bool session_may_be_short(const char *name);

/* Refuses a text that cannot be a session's id: more than 255 bytes, not UTF-8, control characters.
 * Returns 0, or the exit code. */
int session_check(const struct cli *cli, const char *session);

/* Finds a session by the current folder (session_choice.h); *ret_session stays NULL if there is
 * none. Returns 0, or the exit code. */
int session_used_last_here(const struct cli *cli, struct hostkit *kit, char **ret_session);

/* Returns a word that says whether a session in a query's answer runs. */
const char *session_life(const json_t *session);

/* --print-session: prints what session_choose finds, and why. Returns the exit code. */
int session_print(const struct cli *cli);

/* Opens the store as a producer and chooses a session. On failure nothing is open. */
int session_open(const struct cli *cli, struct hostkit **ret_kit, char **ret_session);

#endif
