/* SPDX-License-Identifier: MIT
 *
 * alert/changes.h: compares the answers to a session's queries, and decides what to alert a person
 * about. It prints and starts nothing, and uses no store and no clock.
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
  json_t *first;      /* the first of them, an item of the query `timeline`; NULL: none */
};

enum alert_said { ALERT_SAID_NOTHING, ALERT_SAID_IDLE, ALERT_SAID_WAITING };

/* Zero it, except the first two members. */
struct alert_watch {
  struct alert_settings settings;
  bool goes_on; /* the session was watched before, so its idling at the first look is no alert */
  bool begun;
  char end[96]; /* the end of the newest answer of `timeline` */
  char state[16];
  enum alert_said said;   /* the newest alert since a turn last ran */
  int64_t changed_ms;     /* when the state was last seen to change */
  int64_t quiet_until_ms; /* until then no further alert is sent */
  struct alert next;      /* the next alert, with the critical items that wait for it */
};

/* Returns the value for `after` of the query `timeline`. With its first value, the answer has no
 * past events, only its end. */
const char *alert_after(const struct alert_watch *watch);
/* Takes the answers to `timeline` and `status`. Times are of a clock that never goes back. */
void alert_look(struct alert_watch *watch, const json_t *timeline, const json_t *status,
                int64_t now_ms);
/* Is there an alert? Then *ret_alert has it, the caller finishes it, and it does not come again. A
 * state counts only after it has lasted for a while, so that steps of a turn alert nobody. */
bool alert_take(struct alert_watch *watch, int64_t now_ms, struct alert *ret_alert);
/* Returns when to call alert_take again even without new answers; -1: only after new answers. */
int64_t alert_due_ms(const struct alert_watch *watch);

void alert_finish(struct alert *alert);

#endif
