/* SPDX-License-Identifier: MIT
 *
 * subscribe/report.h: writes a subscription's state to a file for `tidings doctor` and `tidings
 * stats` (command/subscriptions.h): a new state at once, new events at most once a second.
 */
#ifndef SUBSCRIBE_REPORT_H
#define SUBSCRIBE_REPORT_H

#include "subscribe/options.h"
#include "subscribe/saved.h"
#include "subscribe/sender.h"

enum report_mood {
  REPORT_FOLLOWS,
  REPORT_FAILS,   /* no connection, or errors: it tries again */
  REPORT_REFUSED, /* the server refuses the token */
  REPORT_ENDED,   /* by the server, or because of a mistake */
  REPORT_STOPPED
};

struct report {
  const struct saved *saved; /* NULL: nothing is written */
  const struct sender *sender;
  const char *token_file, *webhook; /* NULL: there is none */
  char *store;                      /* free it */
  char *problem;                    /* the last message about a problem; NULL: none */
  enum report_mood mood;
  int64_t begun_ms, mood_ms, event_ms; /* by the wall clock; event_ms 0: no event has come */
  int64_t written_ms;                  /* by the monotonic clock */
  bool changed;
};

void report_begin(const struct cli *cli, const struct saved *saved, const struct sender *sender,
                  const struct subscribe_options *options, struct report *ret_report);
void report_end(struct report *report);

void report_event(struct report *report);
void report_problem(struct report *report, struct tidings_span text);
/* Sets the mood, and writes the file if it is time. */
void report_mood(struct report *report, enum report_mood mood);
/* Returns in how many milliseconds report_mood has something to write; -1: never. */
int report_due(const struct report *report);

#endif
