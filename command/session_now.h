/* SPDX-License-Identifier: MIT
 *
 * command/session_now.h: the session that a window shows now, for what was begun in another one.
 */
#ifndef COMMAND_SESSION_NOW_H
#define COMMAND_SESSION_NOW_H

#include "command/kit.h"

/* The host of a session that was left: nobody works in it, though its process lives. */
#define SESSION_LEFT "left"

/* A hook that starts a session which follows `session` in the same window takes the folder from
 * that one's attachment, and makes SESSION_LEFT its host. Then the result is the session that the
 * same process used last; else, and where that cannot be asked, `session` itself. Free it; NULL:
 * out of memory. */
char *session_now(struct hostkit *kit, const char *session);

#endif
