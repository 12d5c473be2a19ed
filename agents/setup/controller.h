/* SPDX-License-Identifier: MIT
 *
 * agents/setup/controller.h: the token with which the inbox of an agent's window (struct
 * host_inbox) takes a text as the person's own words. The agent's command makes it once and shows
 * it once; it is kept in a file beside our configuration.
 */
#ifndef AGENTS_SETUP_CONTROLLER_H
#define AGENTS_SETUP_CONTROLLER_H

#include "agents/hosts/hosts.h"
#include "command/cli.h"

/* Free it. NULL: there is none, or the agent does not know it any more. */
char *setup_controller_token(const struct host *host);

/* Has the agent such a command? `version`: of the program; NULL: not known. */
bool setup_controller_can(const struct host *host, const char *version);

/* Lets the agent's command make the token, if there is none, or revoke it, if there is one, and
 * says so. A failure is a warning: without the token everything else works. */
/* Says what one of these would do; `can`: it is to be made. */
void setup_controller_announce(const struct host *host, bool remove, bool can);
void setup_controller_make(const struct cli *cli, const struct host *host, const char *program);
void setup_controller_revoke(const struct cli *cli, const struct host *host, const char *program);

#endif
