/* SPDX-License-Identifier: MIT
 *
 * alert/changes.h: compares the answers of a session's queries, and decides of what a person is
 * alerted. It prints nothing, starts nothing, and uses no store and no clock.
 */
#ifndef TIDINGS_CLI_ALERT_CHANGES_H
#define TIDINGS_CLI_ALERT_CHANGES_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct alert_settings {
  bool idle, waiting, critical;
};

/* The content of an alert. */
struct alert {
  bool idle, waiting;
  uint64_t criticals; /* how many were pushed */
  json_t *first;      /* the first of these, an item of the query `timeline`; NULL: none */
};

enum alert_said { ALERT_SAID_NOTHING, ALERT_SAID_IDLE, ALERT_SAID_WAITING };

/* Zero it, except the first two members. */
struct alert_watch {
  struct alert_settings settings;
  bool goes_on; /* the session's state at the first look is no change */
  bool begun;
  char end[96]; /* of the newest answer of `timeline` */
  char state[16];
  enum alert_said said;   /* since the last turn ran */
  int64_t changed_ms;     /* when the state was last seen to change */
  int64_t quiet_until_ms; /* until then no further alert is sent */
  struct alert next;      /* the next alert, with the critical items that wait for it */
};

/* Returns the value for `after` of the query `timeline`. With the first value, the answer lists
 * nothing of the session's past and only has its end. */
const char *alert_after(const struct alert_watch *watch);
/* Takes the answers to `timeline` and `status`. Times are of any clock that only goes forward. */
void alert_look(struct alert_watch *watch, const json_t *timeline, const json_t *status,
                int64_t now_ms);
/* Is there something to alert of? Then *ret_alert has it, which the caller finishes, and it is not
 * found again. A state counts only after it has lasted for a while, so that the steps of a turn
 * alert no person. */
bool alert_take(struct alert_watch *watch, int64_t now_ms, struct alert *ret_alert);
/* When to try alert_take again without new answers; -1: only after new ones. */
int64_t alert_due_ms(const struct alert_watch *watch);

void alert_finish(struct alert *alert);

#endif
