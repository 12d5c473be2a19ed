/* SPDX-License-Identifier: MIT
 *
 * command/session_now.h: finds the session that a window shows now, for something that was begun in
 * an earlier session of it.
 */
#ifndef COMMAND_SESSION_NOW_H
#define COMMAND_SESSION_NOW_H

#include "command/kit.h"

/* The host of a session that was left: nobody works in it, though its process lives. */
#define SESSION_LEFT "left"

/* When a session follows `session` in the same window, the hook that starts it removes the folder
 * from the attachment of `session` and makes SESSION_LEFT its host. In that case the result is the
 * session with a folder that the same process used last. Otherwise, or if the store cannot be
 * asked, it is `session` itself. Free it; NULL: out of memory. */
char *session_now(struct hostkit *kit, const char *session);

#endif
