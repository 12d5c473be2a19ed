/* SPDX-License-Identifier: MIT
 *
 * command/destination.h: where a verb sends what it was given: to a session (session.h), or with
 * --to to an address, whose mailbox it waits in until a session collects it (mailbox.h).
 */
#ifndef COMMAND_DESTINATION_H
#define COMMAND_DESTINATION_H

#include "command/address.h"
#include "command/cli.h"
#include "command/kit.h"

struct destination {
  struct hostkit *kit;    /* open as a producer */
  char *session;          /* what events name: a session, or the mailbox */
  struct address address; /* of the mailbox; its name is NULL if it is a session */
};

/* Chooses by --to, or else as session_open does; if that session was left in its window, chooses
 * the session that followed it there (session_now.h). Says on stderr what is wrong. Returns 0, or
 * the exit code; on failure nothing is open. */
int destination_open(const struct cli *cli, struct destination *ret_destination);

/* Parses --to. Says on stderr what is wrong. Returns 0, or the exit code. */
int destination_parse(const struct cli *cli, struct address *ret_address);

/* To be called after something was sent: makes the session that the address means now collect it.
 * Prints on stderr which session has it, or that it waits. Returns 0, or the exit code; what was
 * sent is stored in either case.
 */
int destination_sent(const struct cli *cli, struct destination *destination);

/* NULL members are allowed. */
void destination_close(struct destination *destination);

#endif
