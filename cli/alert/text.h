/* SPDX-License-Identifier: MIT
 *
 * alert/text.h: the text of an alert, for a desktop and for a terminal. Text may be hostile:
 * unprintable characters are made visible, and long text is cut.
 */
#ifndef TIDINGS_CLI_ALERT_TEXT_H
#define TIDINGS_CLI_ALERT_TEXT_H

#include "cli/alert/changes.h"

/* The caller frees each `char *`; NULL: out of memory. */

/* Returns words such as "The agent is idle", without any untrusted text. */
const char *alert_summary(const struct alert *alert);
/* Returns lines that name the session and the pushed notifications. `status` is the answer to the
 * query `status`. */
char *alert_body(const struct alert *alert, const char *session, const json_t *status);
/* Escapes a text for the body of notify-send, which reads C's escapes in it and then markup. The
 * summary needs no escapes. */
char *alert_markup(const char *text);
/* Returns OSC 9, the sequence that asks a terminal for a notification, on one line. */
char *alert_sequence(const char *summary, const char *body);

#endif
