/* SPDX-License-Identifier: MIT
 *
 * command/print.h: prints answers on stdout: as JSON, or parts of it as text for people.
 */
#ifndef COMMAND_PRINT_H
#define COMMAND_PRINT_H

#include <jansson.h>
#include <stdio.h>

#include "command/cli.h"
#include "command/json_value.h"
#include "command/show.h"

/* Prints JSON text. Characters that a terminal obeys or hides (DEL, C1, bidi, zero-width) are
 * printed as escapes such as \u009b, which have the same value. */
void print_json_text(FILE *out, const char *json);
/* Prints a JSON value and a line break. Returns 0 or the exit code. */
int print_json(const struct cli *cli, const json_t *value);
/* Prints the JSON form of a reply; NULL counts as an empty reply. */
int print_reply(const struct cli *cli, const struct tidings_reply *reply);

/* The same, with the reply's session, and the id of the message that was sent (NULL: none), as the
 * first members. */
int print_reply_of(const struct cli *cli, const char *session, const char *message,
                   const struct tidings_reply *reply);

/* Prints what a reply asks the host to do: "start_turn ID" for each message, with its content
 * indented and escaped below it; or "abort_stream". The reply's JSON has the content's own bytes.
 */
void print_actions(const struct tidings_reply *reply);

/* Prints the member `kind`, such as "tool.failed". */
void print_kind(const json_t *item);

/* Prints a pending notification: its id, time, level and kind, and its text indented below. */
void print_notification(struct show_clock *clock, const json_t *item);

/* Reads the value of --since, a time or a duration; prints an error if it is neither. Returns 0, or
 * the exit code.
 */
int print_since(const struct cli *cli, const char *text, int64_t *ret_ms);
/* Removes from a list everything whose member `time` is before since_ms. INT64_MIN: removes
 * nothing. */
void print_drop_older(json_t *list, const char *time, int64_t since_ms);
#define SINCE_OPTION(what)                                                                         \
  {                                                                                                \
    .key = OPTION_SINCE, .name = "since", .argument = "TIME",                                      \
    .help =                                                                                        \
        "Only what was " what " since then: 15:40, 2026-11-23, '2026-11-23 15:40', or 2h (ago)."   \
  }

#endif
