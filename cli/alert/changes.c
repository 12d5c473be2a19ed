/* SPDX-License-Identifier: MIT
 */
#include "cli/alert/changes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/json_value.h"

enum { SETTLED_MS = 1500, QUIET_MS = 5000 };

const char *alert_after(const struct alert_watch *watch) {
#define PAST_ALL "9999999999999999999"
  return watch->begun ? watch->end : PAST_ALL "." PAST_ALL "." PAST_ALL "." PAST_ALL;
#undef PAST_ALL
}

/* Counts the new critical items. An item's id ends with its number in the session; the end of the
 * answer begins with the newest number. */
static void count_criticals(struct alert_watch *watch, const json_t *timeline) {
  uint64_t last = strtoull(watch->end, NULL, 10);
  json_t *item = NULL;
  size_t i = 0;
  json_array_foreach(json_object_get(timeline, "items"), i, item) {
    uint64_t number = (uint32_t)strtoull(json_value_text(item, "id"), NULL, 10);
    if (number <= last || strcmp(json_value_text(item, "level"), "critical") != 0) continue;
    if (!watch->next.criticals++) watch->next.first = json_incref(item);
  }
}

/* Has a turn run, even for a short time? A declined offer is no turn. */
static bool a_turn_ran(const json_t *timeline, const char *state) {
  const json_t *transition = NULL;
  size_t i = 0;
  if (strcmp(state, "busy") == 0 || strcmp(state, "retrying") == 0) return true;
  json_array_foreach(json_object_get(timeline, "transitions"), i, transition) {
    if (strcmp(json_value_text(transition, "to"), "busy") == 0) return true;
  }
  return false;
}

void alert_look(struct alert_watch *watch, const json_t *timeline, const json_t *status,
                int64_t now_ms) {
  const char *state = json_value_text(status, "state");
  bool moved = json_array_size(json_object_get(timeline, "transitions")) > 0;
  if (!watch->begun) {
    watch->changed_ms = now_ms - SETTLED_MS;
    if (watch->goes_on && strcmp(state, "idle") == 0) watch->said = ALERT_SAID_IDLE;
  } else {
    if (watch->settings.critical) count_criticals(watch, timeline);
    if (moved || strcmp(state, watch->state) != 0) watch->changed_ms = now_ms;
    if (a_turn_ran(timeline, state)) watch->said = ALERT_SAID_NOTHING;
  }
  watch->begun = true;
  (void)snprintf(watch->state, sizeof watch->state, "%s", state);
  (void)snprintf(watch->end, sizeof watch->end, "%s", json_value_text(timeline, "end"));
}

/* Returns the alert to send; ALERT_SAID_NOTHING: there is none, or it was sent already. */
static enum alert_said to_say(const struct alert_watch *watch) {
  enum alert_said now = ALERT_SAID_NOTHING;
  if (watch->settings.idle && strcmp(watch->state, "idle") == 0) now = ALERT_SAID_IDLE;
  if (watch->settings.waiting && strcmp(watch->state, "waiting") == 0) now = ALERT_SAID_WAITING;
  return now == watch->said ? ALERT_SAID_NOTHING : now;
}

bool alert_take(struct alert_watch *watch, int64_t now_ms, struct alert *ret_alert) {
  enum alert_said said = to_say(watch);
  if (now_ms - watch->changed_ms < SETTLED_MS) said = ALERT_SAID_NOTHING;
  if (now_ms < watch->quiet_until_ms || (!said && !watch->next.criticals)) return false;
  if (said) watch->said = said;
  *ret_alert = watch->next;
  ret_alert->idle = said == ALERT_SAID_IDLE;
  ret_alert->waiting = said == ALERT_SAID_WAITING;
  watch->next = (struct alert){.criticals = 0};
  watch->quiet_until_ms = now_ms + QUIET_MS;
  return true;
}

int64_t alert_due_ms(const struct alert_watch *watch) {
  int64_t due_ms = watch->changed_ms + SETTLED_MS;
  if (!watch->begun || (!to_say(watch) && !watch->next.criticals)) return -1;
  if (watch->next.criticals) due_ms = 0;
  return due_ms > watch->quiet_until_ms ? due_ms : watch->quiet_until_ms;
}

void alert_finish(struct alert *alert) {
  json_decref(alert->first);
  *alert = (struct alert){.criticals = 0};
}
