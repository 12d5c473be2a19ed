/* SPDX-License-Identifier: MIT
 *
 * command/destination.h: finds where a verb sends things: to a session (session.h), or, with --to,
 * to the mailbox of an address, where they wait until a session collects them (mailbox.h).
 */
#ifndef COMMAND_DESTINATION_H
#define COMMAND_DESTINATION_H

#include "command/address.h"
#include "command/cli.h"
#include "command/kit.h"
#include "command/recipes.h"

struct destination {
  struct hostkit *kit;    /* open as a producer */
  struct kit_place place; /* where the store was opened */
  char *session;          /* the session of the events, or the mailbox */
  char *begun;            /* the session that was chosen; its window may show `session` now */
  struct address address; /* of the mailbox; its name is NULL for a session */
};

/* Chooses by --to, or else like session_open. If the window of the chosen session shows another
 * session by now, chooses that one (session_now.h). Says on stderr what is wrong. Returns 0, or the
 * exit code; on failure nothing is open. */
int destination_open(const struct cli *cli, struct destination *ret_destination);

/* Parses --to. Says on stderr what is wrong. Returns 0, or the exit code. */
int destination_parse(const struct cli *cli, struct address *ret_address);

/* Stores the push (recipes_push) in the store that is in the folder by now (kit_follow_place), for
 * the session that the window shows by now; the session of `notification` is ignored. If the store
 * cannot take it now, warns and tries again until it can, or until a signal asks the program to
 * stop (interrupt.h). While the mailbox is full, makes the address's session collect it before each
 * try. A push with an id is never stored twice. */
int32_t destination_push(const struct cli *cli, struct destination *destination,
                         const struct recipe_push *push,
                         const struct hostkit_notification *notification,
                         enum recipes_outcome *ret_outcome, struct tidings_error *error);

/* To be called after something was sent: if the address leads to a session now, makes this session
 * collect it. Prints on stderr which session has it, or that it waits. Returns 0, or the exit code;
 * in both cases what was sent is stored.
 */
int destination_sent(const struct cli *cli, struct destination *destination);

/* Members may be NULL. */
void destination_close(struct destination *destination);

#endif
