/* SPDX-License-Identifier: MIT
 *
 * command/show.h: prints answers for people: colours by level, local times, short ids. Programs use
 * --json, which has none of these.
 */
#ifndef COMMAND_SHOW_H
#define COMMAND_SHOW_H

#include <stdint.h>

#include "command/cli.h"

/* Decides once for stdout: --color, NO_COLOR, TERM, --utc. cli_next calls it; before that there is
 * no colour, and times are local. */
void show_begin(const char *color, bool utc);

enum show_style { SHOW_DIM, SHOW_GOOD, SHOW_INFO, SHOW_WARNING, SHOW_ERROR, SHOW_CRITICAL };
/* Everything up to show_end has the style, if there are colours. */
void show_start(enum show_style style);
void show_end(void);

void show_level(const char *level, int width);     /* "error   " */
void show_outcome(const char *outcome, int width); /* "delivered" */

/* Prints the part of a notification's or delivery's id that distinguishes it in its session, in at
 * least `width` columns. Every verb accepts this part. */
void show_id(const char *id, int width);

/* Converts a time of an answer (RFC 3339 in UTC) to milliseconds; 0: it is not such a time. */
int64_t show_time_ms(const char *time);
/* For lines that are printed in the order of their times. */
struct show_clock {
  char day[11]; /* of the line before */
};
/* "15:20:03", after a line with the date and the time zone where that is another than before. */
void show_time(struct show_clock *clock, const char *time);
/* "15:20:03", with the date unless that is today. */
void show_moment(int64_t ms);

/* An explanation as people read it: its times ("2026-11-23T15:20:03.120Z") are local, or UTC, to
 * the second, and the ids of notifications and deliveries short. To be freed; NULL: no memory. */
char *show_text(const char *text);

/* "2h" ago, "15:40" today, "2026-11-23" or "2026-11-23 15:40[:03]", in milliseconds since 1970.
 * Returns 0, or -1. */
int show_since(const char *text, int64_t *ret_ms);

#endif
