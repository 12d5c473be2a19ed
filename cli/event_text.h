/* SPDX-License-Identifier: MIT
 *
 * event_text.h: passes a user's CloudEvents object on unchanged, except that it adds a missing
 * session.
 */
#ifndef TIDINGS_CLI_EVENT_TEXT_H
#define TIDINGS_CLI_EVENT_TEXT_H

#include "command/cli.h"
#include "command/kit.h"

/* Reads all of stdin, which must be one JSON object. Returns 0 or the exit code. Free *ret_text.
 * *ret_session is the session that the object names, or NULL; free it too. */
int event_text_read(const struct cli *cli, char **ret_text, char **ret_session);

/* Opens the plugin for the event, as a producer or as a host (of `owner`, see host_open). If the
 * event names no session (NULL), it chooses one and adds it to *text. Returns 0 or the exit code.
 */
int event_text_open(const struct cli *cli, bool as_host, uint32_t owner, char **text,
                    const char *session, struct hostkit **ret_kit);

/* Sends the event. `ret_reply` may be NULL. */
int32_t event_text_send(struct hostkit *kit, const char *text, struct tidings_reply **ret_reply,
                        struct tidings_error *error);

#endif
