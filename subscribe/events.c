/* SPDX-License-Identifier: MIT
 *
 * subscribe/events.c: decides the next step of a subscription, the delay after a failure, and the
 * notices to the session.
 */
#include <stdio.h>
#include <stdlib.h>

#include "common/fnv.h"
#include "subscribe/events_inner.h"

enum { CLOCKS_DIFFER_MS = 3000 };

struct events *events_new(const struct events_wish *wish) {
  struct events *events = calloc(1, sizeof *events);
  if (!events) return NULL;
  events->wish = *wish;
  events->state = STATE_WAIT;
  events->due_ms = INT64_MAX;
  events->retry.random = wish->random;
  events->cursor = wish->cursor && wish->cursor[0] ? strdup(wish->cursor) : NULL;
  events->stamp = strdup("");
  if (!events->stamp || (wish->cursor && wish->cursor[0] && !events->cursor)) {
    events_free(events);
    return NULL;
  }
  return events;
}

void events_free(struct events *events) {
  if (!events) return;
  outputs_free(&events->outputs);
  buffer_free(&events->names);
  free(events->cursor);
  free(events->stamp);
  free(events->subscription);
  free(events->page);
  free(events);
}

struct outputs *events_outputs(struct events *events) {
  return &events->outputs;
}

int64_t events_due_ms(const struct events *events) { return events->due_ms; }

void events_note_wall(struct events *events, int64_t wall_ms) {
  bool over = events->state == STATE_WAIT && events->due_wall_ms && wall_ms >= events->due_wall_ms;
  if (over && events->due_ms > events->now_ms) events->due_ms = events->now_ms;
}

/* The date is up to a second old. A small difference shows no wrong clock. */
void events_note_date(struct events *events, int64_t date_ms, int64_t wall_ms) {
  int64_t ahead = date_ms + 1000 - wall_ms;
  events->ahead_ms = ahead > -CLOCKS_DIFFER_MS && ahead < CLOCKS_DIFFER_MS ? 0 : ahead;
}

bool events_wants_token(const struct events *events) {
  return events->refused && events->state == STATE_WAIT;
}

bool events_fails(const struct events *events) { return events->retry.failures > 0; }

void events_keep(struct events *events, char **text, struct tidings_span value) {
  char *copy = strndup(value.ptr ? value.ptr : "", value.len);
  if (!copy) {
    events->outputs.failed = true;
    return;
  }
  free(*text);
  *text = copy;
}

/* -- messages to the session and to stderr ----------------------------------------------------- */

void events_end(struct events *events, int code, struct tidings_span text) {
  struct output *output = outputs_add(&events->outputs, OUTPUT_END);
  output->code = code;
  output->text = text;
  events->state = STATE_ENDED;
  events->request = events->list_request = 0;
  events->due_ms = INT64_MAX;
}

/* Returns a number that distinguishes one gap from the next. If a gap is reported again after a
 * crash, the report has the same id, and is stored once. */
static uint64_t place_of(const struct events *events) {
  return fnv_span(FNV_START, span_text(events->cursor ? events->cursor : ""));
}

void events_notice(struct events *events, const char *kind, const char *mark,
                   struct tidings_span text) {
  struct tidings_span id = mark ? outputs_format(&events->outputs, "%s %s", kind, mark)
                                : outputs_format(&events->outputs, "%s %016llx", kind,
                                                 (unsigned long long)place_of(events));
  struct output *output = outputs_add(&events->outputs, OUTPUT_NOTICE);
  output->kind_name = kind;
  output->notice = id;
  output->text = text;
}

void events_say_gap(struct events *events) {
  events_notice(events, "events.gap", NULL,
                outputs_format(&events->outputs,
                               "Some events `%s` of %s were missed: the server no longer has them. "
                               "What they were about has to be looked up there.",
                               events->wish.name, events->wish.server));
}

void events_accept(struct events *events) {
  if (events->owes_gap) events_say_gap(events);
  events->owes_gap = false;
  events->refused = false;
}

void events_thrive(struct events *events) {
  events_accept(events);
  events->well = true;
  events->retry.failures = 0;
}

/* Each end of a subscription that has run is a new one. The end of one that was started again in
 * vain is known if it has the same place and the same reason. */
void events_notice_end(struct events *events, const char *mark, struct tidings_span why,
                       struct tidings_span text) {
  uint64_t place = fnv_span(place_of(events), why) ^ (events->well ? events->wish.random : 0);
  char made[32];
  snprintf(made, sizeof made, "%016llx", (unsigned long long)place);
  events_notice(events, "events.terminated", mark ? mark : made, text);
}

void events_end_for(struct events *events, struct tidings_span text) {
  if (events->well || events->cursor)
    events_notice_end(events, NULL, text,
                      outputs_format(&events->outputs,
                                     "The subscription to `%s` of %s has ended: %.*s.",
                                     events->wish.name, events->wish.server, SPAN_FORMAT(text)));
  events_end(events, 1, text);
}

/* Takes a cursor, after all pushes that it covers. A null cursor changes nothing. */
bool events_take_cursor(struct events *events, const struct json *cursor) {
  if (!cursor || cursor->kind != JSON_IS_STRING || !cursor->text.len) return false;
  if (memchr(cursor->text.ptr, '\0', cursor->text.len)) return false;
  if (events->cursor && span_is(cursor->text, events->cursor)) return false;
  events_keep(events, &events->cursor, cursor->text);
  struct output *output = outputs_add(&events->outputs, OUTPUT_CURSOR);
  output->text = outputs_copy(&events->outputs, cursor->text);
  return true;
}

/* A stream may be silent for two heartbeats, and some time for the network. */
int64_t events_silence_ms(const struct events *events) {
  return 2 * events->wish.heartbeat_ms + events->wish.heartbeat_ms / 10;
}

/* -- steps ------------------------------------------------------------------------------------- */

static void begin_step(struct events *events, int64_t now_ms) {
  outputs_begin(&events->outputs);
  events->now_ms = now_ms;
}

void events_wait(struct events *events, int64_t ms) {
  if (ms > LONGEST_WAIT_MS) ms = LONGEST_WAIT_MS;
  events->state = STATE_WAIT;
  events->request = 0;
  events->due_ms = events->now_ms + ms;
  events->due_wall_ms = 0;
}

void events_wait_asleep(struct events *events, int64_t ms) {
  events_wait(events, ms);
  events->due_wall_ms = events->wall_ms + events->due_ms - events->now_ms;
}

static void choose_delivery(struct events *events) {
  bool push = events->offers & 1U << EVENTS_PUSH && !events->gave_up_push;
  bool poll = events->offers & 1U << EVENTS_POLL;
  events->delivery = events->wish.delivery;
  if (events->delivery == EVENTS_ANY && push) events->delivery = EVENTS_PUSH;
  else if (events->delivery == EVENTS_ANY && poll) events->delivery = EVENTS_POLL;
}

static void send_subscription(struct events *events) {
  choose_delivery(events);
  switch (events->delivery) {
  case EVENTS_POLL: events_send_poll(events); break;
  case EVENTS_PUSH: events_send_stream(events); break;
  case EVENTS_WEBHOOK: events_send_subscribe(events); break;
  default:
    events_end_for(events,
                   outputs_format(&events->outputs,
                                  events->offers & 1U << EVENTS_WEBHOOK
                                      ? "%s delivers the event '%s' by webhook only; see --webhook"
                                      : "%s names no way to deliver the event '%s' that tidings "
                                        "knows",
                                  events->wish.server, events->wish.name));
  }
}

void events_go_on(struct events *events) {
  if (events->era == ERA_UNKNOWN) events_send_discover(events);
  else if (events->era == ERA_LEGACY && !events->greeted) events_send_initialize(events);
  else if (!events->found) events_begin_list(events, false);
  else send_subscription(events);
}

void events_cancel(struct events *events) {
  if (!events->request) return;
  if (events->wish.process) events_send_cancelled(events, events->request);
  struct output *output = outputs_add(&events->outputs, OUTPUT_CANCEL);
  output->id = events->request;
  events->request = 0;
}

/* After two failures the connection is given up. */
void events_fail(struct events *events, int64_t at_least_ms) {
  int64_t ms = retry_wait_ms(&events->retry);
  if (!events->wish.process || events->retry.failures > 1) {
    outputs_add(&events->outputs, OUTPUT_RESET);
    events->greeted = false;
    events->list_request = 0;
    events->list_again = false;
  }
  events_wait(events, ms > at_least_ms ? ms : at_least_ms);
}

/* -- messages and failures --------------------------------------------------------------------- */

void events_begin(struct events *events, int64_t now_ms) {
  begin_step(events, now_ms);
  events_go_on(events);
}

void events_tick(struct events *events, int64_t now_ms) {
  begin_step(events, now_ms);
  if (now_ms < events->due_ms || events->state == STATE_ENDED) return;
  if (events->state == STATE_WAIT) {
    events_go_on(events);
    return;
  }
  bool probed = events->state == STATE_DISCOVER;
  outputs_add(&events->outputs, OUTPUT_SAY)->text = outputs_format(
      &events->outputs,
      events->state == STATE_STREAM ? "%s has sent nothing for a while; the stream begins anew"
                                    : "%s does not answer",
      events->wish.server);
  events_cancel(events);
  if (probed) { /* a server of the older protocol need not answer a probe */
    events->era = ERA_LEGACY;
    events->guessed = true;
    events_go_on(events);
  } else {
    events_fail(events, 0);
  }
}

/* Reports a refusal once for each token; the stamp of the token's file distinguishes the tokens. */
static void take_refusal(struct events *events, int status) {
  events->refused = true;
  const char *file = events->wish.token_file;
  events_notice(
      events, "events.refused", events->stamp,
      file ? outputs_format(&events->outputs,
                            "%s refuses the token of the subscription to `%s` (HTTP %d): it may "
                            "have expired. The subscription goes on once %s has a new one.",
                            events->wish.server, events->wish.name, status, file)
           : outputs_format(&events->outputs,
                            "%s wants a token for the subscription to `%s` (HTTP %d); it is given "
                            "with --token-file.",
                            events->wish.server, events->wish.name, status));
}

/* Does the failure show a server of the older protocol? Such servers refuse unknown requests in
 * various ways. */
static bool is_of_older_era(const struct events *events, int status) {
  if (events->state != STATE_DISCOVER) return false;
  return status == EVENTS_SERVER_ENDED || (status >= 400 && status < 500 && status != 401 &&
                                           status != 403 && status != 408 && status != 429);
}

void events_failed(struct events *events, uint64_t id, const struct events_failure *failure,
                   int64_t now_ms) {
  begin_step(events, now_ms);
  if (events->state == STATE_ENDED) return;
  if (id && id == events->list_request) events_list_done(events);
  if (id && id != events->request) return;
  if (!id && events->state == STATE_WAIT && failure->status == EVENTS_SERVER_ENDED) {
    events->greeted = false; /* a program that ends between two requests is started again */
    return;
  }
  bool older = is_of_older_era(events, failure->status);
  events->request = 0;
  if (older) {
    events->era = ERA_LEGACY;
    events->guessed = true;
  } else
    outputs_add(&events->outputs, OUTPUT_SAY)->text =
        outputs_format(&events->outputs, "%s: %s", events->wish.server, failure->reason);
  if (failure->status == 401 || failure->status == 403) take_refusal(events, failure->status);
  else if (failure->status > 0) events->refused = false; /* the server has accepted the token */
  if (failure->status == EVENTS_SERVER_ENDED || failure->status == 404) events->greeted = false;
  if (older && failure->status != EVENTS_SERVER_ENDED) events_go_on(events);
  else events_fail(events, failure->retry_after_ms);
}

void events_token_changed(struct events *events, int64_t now_ms) {
  begin_step(events, now_ms);
  if (events->state == STATE_WAIT && events->refused) events_go_on(events);
}

void events_set_token_stamp(struct events *events, const char *stamp) {
  events_keep(events, &events->stamp, span_text(stamp));
}
