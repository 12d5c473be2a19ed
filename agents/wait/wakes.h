/* SPDX-License-Identifier: MIT
 *
 * agents/wait/wakes.h: whether something wakes an idle session, for those who would wait in vain.
 */
#ifndef AGENTS_WAIT_WAKES_H
#define AGENTS_WAIT_WAKES_H

#include <jansson.h>

#include "command/kit.h"

/* `status`: what the query of that name says of the session. Returns why nothing starts a turn in
 * it now, the beginning of a sentence: "Gemini CLI cannot be woken while it idles". Free it. NULL:
 * something does; or it is not idle, has no running host, or one that is not known here. */
char *hook_wakes_not(const struct cli *cli, const char *session, const json_t *status);

/* The same, before something is sent, which ends a process that waits to wake the agent. */
char *hook_wakes_ask(const struct cli *cli, struct hostkit *kit, const char *session);

/* Says it on stderr, with what happens instead. Takes `why` over; NULL: says nothing. */
void hook_wakes_say(const struct cli *cli, char *why, const char *instead);

#endif
