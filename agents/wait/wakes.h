/* SPDX-License-Identifier: MIT
 *
 * agents/wait/wakes.h: says why nothing wakes an idle session, to people who would wait in vain.
 */
#ifndef AGENTS_WAIT_WAKES_H
#define AGENTS_WAIT_WAKES_H

#include <jansson.h>

#include "command/kit.h"

/* Returns the reason why nothing wakes the idle session, as the beginning of a sentence: "Gemini
 * CLI cannot be woken while it idles". `status`: the answer to the query `status`. NULL: something
 * wakes it, or it is not idle, or its host is unknown or does not run. Free it. */
char *hook_wakes_not(const struct cli *cli, const char *session, const json_t *status);

/* The same, but asks for the status. Call it before you send something, because the process that
 * waits to wake the agent ends when it wakes it. */
char *hook_wakes_ask(const struct cli *cli, struct hostkit *kit, const char *session);

/* Prints the reason `why` on stderr, and what happens instead. Takes `why` over; NULL: prints
 * nothing. */
void hook_wakes_say(const struct cli *cli, char *why, const char *instead);

/* If the session belongs to `tidings mcp`, says on stderr that a submitted message starts no
 * turn. */
void hook_wakes_say_mcp(const struct cli *cli, struct hostkit *kit, const char *session);

#endif
