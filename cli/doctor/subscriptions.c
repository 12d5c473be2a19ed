/* SPDX-License-Identifier: MIT
 *
 * doctor/subscriptions.c: the subscriptions of `tidings subscribe`: whether each works, when its
 * last event came, and what prevents it from working.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/doctor/doctor.h"
#include "command/json_value.h"
#include "command/subscriptions.h"
#include "common/clock.h"

#define TOPIC "subscribe"
enum { NAME_SIZE = 1024, AGE_SIZE = 32, LAST_SIZE = 2 * AGE_SIZE };

static void name_subscription(const json_t *one, char name[NAME_SIZE]) {
  const char *event = json_value_text(one, "event");
  snprintf(name, NAME_SIZE, "%s%s%.400s for %.200s", event, event[0] ? " of " : "",
           json_value_text(one, "server"), json_value_text(one, "to"));
}

/* Writes an age such as "3 min"; if the clock was set back, it is 0 s. */
static void say_age(const json_t *one, const char *member, char age[AGE_SIZE]) {
  int64_t then = json_integer_value(json_object_get(one, member)), now = clock_wall_ms();
  uint64_t s = then < now ? (uint64_t)(now - then) / 1000 : 0;
  if (s < 120) snprintf(age, AGE_SIZE, "%llu s", (unsigned long long)s);
  else if (s < 7200) snprintf(age, AGE_SIZE, "%llu min", (unsigned long long)s / 60);
  else if (s < 172800) snprintf(age, AGE_SIZE, "%llu h", (unsigned long long)s / 3600);
  else snprintf(age, AGE_SIZE, "%llu days", (unsigned long long)s / 86400);
}

static void say_last(const json_t *one, char last[LAST_SIZE]) {
  char age[AGE_SIZE];
  say_age(one, "event_ms", age);
  if (json_value_text(one, "webhook")[0])
    snprintf(last, LAST_SIZE, "'tidings stats --listen' counts its events");
  else if (json_value_count(one, "event_ms")) snprintf(last, LAST_SIZE, "last event %s ago", age);
  else snprintf(last, LAST_SIZE, "no event since it began");
}

static void examine_living(struct doctor *doctor, const json_t *one, const char *name) {
  const char *state = json_value_text(one, "state"), *problem = json_value_text(one, "problem");
  const char *token = json_value_text(one, "token_file");
  unsigned long long pid = json_value_count(one, "pid");
  char age[AGE_SIZE], last[LAST_SIZE], *remedy = NULL;
  say_age(one, "state_ms", age);
  say_last(one, last);
  if (strcmp(state, "refused") == 0) {
    if (asprintf(&remedy,
                 token[0] ? "Write a new token into %s; it is used at once."
                          : "Start it again with --token-file%s.",
                 token) < 0)
      remedy = NULL;
    doctor_find(doctor, SEVERITY_PROBLEM, TOPIC, remedy,
                "%s: the token is refused for %s; it may have expired (%s)", name, age, last);
    free(remedy);
  } else if (strcmp(state, "fails") == 0) {
    doctor_find(doctor, SEVERITY_WARNING, TOPIC,
                "It is tried again by itself; look at the server and the network.",
                "%s: broken for %s (%s): %s", name, age, last, problem);
  } else {
    doctor_find(doctor, SEVERITY_OK, TOPIC, NULL, "%s: process %llu, %s", name, pid, last);
  }
}

/* Reports a subscription without a process, unless it was stopped on purpose. */
static void examine_gone(struct doctor *doctor, const json_t *one, const char *name) {
  const char *state = json_value_text(one, "state"), *problem = json_value_text(one, "problem");
  char age[AGE_SIZE], last[LAST_SIZE], *remedy = NULL;
  say_age(one, "state_ms", age);
  say_last(one, last);
  if (asprintf(&remedy, "Start it again if it is to go on, or remove %s.*",
               json_value_text(one, "file")) < 0)
    remedy = NULL;
  if (strcmp(state, "ended") == 0)
    doctor_find(doctor, SEVERITY_WARNING, TOPIC, remedy, "%s: ended %s ago: %s", name, age,
                problem[0] ? problem : "its own last words say why");
  else if (strcmp(state, "stopped") == 0)
    doctor_find(doctor, SEVERITY_NOTE, TOPIC, remedy, "%s: stopped %s ago (%s)", name, age, last);
  else
    doctor_find(doctor, SEVERITY_WARNING, TOPIC, remedy, "%s: its process %llu has died (%s)", name,
                (unsigned long long)json_value_count(one, "pid"), last);
  free(remedy);
}

void doctor_subscriptions(struct doctor *doctor) {
  json_t *all = subscriptions_list(doctor->cli);
  const json_t *one = NULL;
  size_t i = 0;
  json_array_foreach(all, i, one) {
    char name[NAME_SIZE];
    name_subscription(one, name);
    if (json_is_true(json_object_get(one, "alive"))) examine_living(doctor, one, name);
    else examine_gone(doctor, one, name);
  }
  json_decref(all);
}
