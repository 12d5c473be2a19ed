/* SPDX-License-Identifier: MIT
 *
 * command/show.h: prints answers for people: colours by level, local times, short ids. Programs use
 * --json, which has none of these.
 */
#ifndef COMMAND_SHOW_H
#define COMMAND_SHOW_H

#include <stdint.h>

#include "command/cli.h"

/* Decides once how stdout is written, by --color, NO_COLOR, TERM and --utc. cli_next calls it;
 * before that there are no colours, and times are local. */
void show_begin(const char *color, bool utc);

enum show_style { SHOW_DIM, SHOW_GOOD, SHOW_INFO, SHOW_WARNING, SHOW_ERROR, SHOW_CRITICAL };
/* Everything that is printed until show_end has the style, if there are colours. */
void show_start(enum show_style style);
void show_end(void);

void show_level(const char *level, int width);     /* "error   " */
void show_outcome(const char *outcome, int width); /* "delivered" */

/* Prints the part of a notification's or delivery's id that distinguishes it in its session, in at
 * least `width` columns. Every verb accepts this part. */
void show_id(const char *id, int width);

/* Converts a time of an answer (RFC 3339 in UTC) to milliseconds; 0: it is not such a time. */
int64_t show_time_ms(const char *time);
/* The state for lines that are printed in the order of their times. */
struct show_clock {
  char day[11]; /* of the line before */
};
/* Prints a time such as "15:20:03". If the date or the time zone has changed since the line before,
 * prints these in a line of their own first. */
void show_time(struct show_clock *clock, const char *time);
/* Prints a time such as "15:20:03", with the date unless it is today. */
void show_moment(int64_t ms);

/* Rewrites an explanation for people: turns its times ("2026-11-23T15:20:03.120Z") into local or
 * UTC times without fractions of a second, and shortens the ids of notifications and deliveries.
 * Free it; NULL: no memory. */
char *show_text(const char *text);

/* Reads "2h" (ago), "15:40" (today), "2026-11-23" or "2026-11-23 15:40[:03]", as milliseconds since
 * 1970. Returns 0, or -1. */
int show_since(const char *text, int64_t *ret_ms);

#endif
