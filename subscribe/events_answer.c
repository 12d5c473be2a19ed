/* SPDX-License-Identifier: MIT
 *
 * subscribe/events_answer.c: interprets the answers of the server.
 */
#include <stdio.h>
#include <time.h>

#include "common/utf8.h"
#include "subscribe/events_inner.h"

enum { MOST_PAGES = 100, MOST_NAMES = 400, LONGEST_MESSAGE = 300, DEFAULT_POLL_MS = 5000 };
enum { LAPSED_MS = 60000 }; /* before a webhook's subscription is made again */

/* -- the handshake ----------------------------------------------------------------------------- */

/* Do the capabilities name events? Servers do so in one of two places, or in both. */
static bool has_events(const struct json *capabilities) {
  return json_member(json_member(capabilities, "extensions"), EVENTS_EXTENSION) ||
         json_member(capabilities, "events");
}

static bool check_capabilities(struct events *events, const struct json *result) {
  if (has_events(json_member(result, "capabilities"))) return true;
  events_end_for(events, outputs_format(&events->outputs, "%s does not offer MCP Events",
                                        events->wish.server));
  return false;
}

static void take_discovery(struct events *events, const struct json *result) {
  const struct json *versions = json_member(result, "supportedVersions");
  events->era = ERA_LEGACY;
  for (const struct json *one = versions ? versions->members : NULL; one; one = one->next) {
    if (one->kind == JSON_IS_STRING && span_is(one->text, EVENTS_MODERN)) events->era = ERA_MODERN;
  }
  if (events->era == ERA_LEGACY || check_capabilities(events, result)) events_go_on(events);
}

static void take_initialize(struct events *events, const struct json *result) {
  static const char *const known[] = {EVENTS_LEGACY, "2025-06-18", "2025-03-26", "2024-11-05"};
  const struct json *version = json_member(result, "protocolVersion");
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    if (version && version->kind == JSON_IS_STRING && span_is(version->text, known[i]))
      events->protocol = known[i];
  }
  if (!events->protocol) {
    events_end_for(events, outputs_format(&events->outputs,
                                          "%s speaks no version of MCP that tidings knows",
                                          events->wish.server));
    return;
  }
  if (!check_capabilities(events, result)) return;
  events->greeted = true;
  events_send_initialized(events);
  events_go_on(events);
}

/* -- the list ---------------------------------------------------------------------------------- */

void events_begin_list(struct events *events, bool beside) {
  events->pages = 0;
  events->names.len = 0;
  if (!beside) events->found = false;
  events_keep(events, &events->page, span_of("", 0));
  events_send_list(events, beside);
}

void events_list_changed(struct events *events) {
  bool waits = events->list_request && events->now_ms < events->list_due_ms;
  events->list_again = waits;
  if (waits) return;
  if (events->list_request) outputs_add(&events->outputs, OUTPUT_CANCEL)->id = events->list_request;
  events_begin_list(events, true);
}

void events_list_done(struct events *events) {
  events->list_request = 0;
  if (!events->list_again) return;
  events->list_again = false;
  events_begin_list(events, true);
}

static unsigned read_offers(const struct json *event) {
  const struct json *delivery = json_member(event, "delivery");
  unsigned offers = 0;
  for (const struct json *one = delivery ? delivery->members : NULL; one; one = one->next) {
    if (one->kind != JSON_IS_STRING) continue;
    if (span_is(one->text, "poll")) offers |= 1U << EVENTS_POLL;
    if (span_is(one->text, "push")) offers |= 1U << EVENTS_PUSH;
    if (span_is(one->text, "webhook")) offers |= 1U << EVENTS_WEBHOOK;
  }
  return offers;
}

static void read_events(struct events *events, const struct json *result) {
  const struct json *list = json_member(result, "events");
  for (const struct json *one = list ? list->members : NULL; one; one = one->next) {
    const struct json *name = json_member(one, "name");
    if (!name || name->kind != JSON_IS_STRING) continue;
    if (events->names.len < MOST_NAMES)
      buffer_format(&events->names, "%s%.*s", events->names.len ? ", " : "",
                    SPAN_FORMAT(name->text));
    if (!span_is(name->text, events->wish.name)) continue;
    events->found = true;
    events->offers = read_offers(one);
  }
}

/* Does the event offer the requested delivery or, if none was requested, the one in use? */
static bool is_offered(const struct events *events) {
  enum events_delivery wanted =
      events->wish.delivery == EVENTS_ANY ? events->delivery : events->wish.delivery;
  return wanted == EVENTS_ANY || events->offers & 1U << wanted;
}

static void end_for_name(struct events *events) {
  struct tidings_span names = events->names.len ? buffer_view(&events->names) : span_text("none");
  events_end_for(events,
                 outputs_format(&events->outputs, "%s has no event '%s'; it has %.*s",
                                events->wish.server, events->wish.name, SPAN_FORMAT(names)));
}

static void end_for_delivery(struct events *events) {
  static const char *const names[] = {"", "poll", "push", "webhook"};
  events_end_for(
      events, outputs_format(&events->outputs, "%s does not deliver the event '%s' by %s",
                             events->wish.server, events->wish.name, names[events->wish.delivery]));
}

/* A running subscription does not end because the list lacks its event, only when the server says
 * so. */
void events_take_list(struct events *events, const struct json *result, bool beside) {
  const struct json *next = json_member(result, "nextCursor");
  read_events(events, result);
  if (next && next->kind == JSON_IS_STRING && next->text.len && ++events->pages < MOST_PAGES) {
    events_keep(events, &events->page, next->text);
    events_send_list(events, beside);
    return;
  }
  if (beside && is_offered(events)) {
    events_list_done(events);
    return;
  }
  if (beside) events_cancel(events);
  events->list_again = false;
  if (!events->found) end_for_name(events);
  else if (events->wish.delivery != EVENTS_ANY && !is_offered(events)) end_for_delivery(events);
  else events_go_on(events);
}

/* -- the three deliveries ---------------------------------------------------------------------- */

static bool is_true(const struct json *value) { return value && value->kind == JSON_IS_TRUE; }

static int64_t milliseconds(const struct json *value, int64_t otherwise) {
  int64_t ms = 0;
  return value && json_to_integer(value, &ms) && ms >= 0 ? ms : otherwise;
}

static void take_poll(struct events *events, const struct json *result) {
  const struct json *list = json_member(result, "events"), *cursor = json_member(result, "cursor");
  events_thrive(events);
  if (events->cursor && is_true(json_member(result, "truncated"))) events_say_gap(events);
  for (const struct json *one = list ? list->members : NULL; one; one = one->next)
    events_push(events, one);
  bool moved = events_take_cursor(events, cursor);
  if (is_true(json_member(result, "hasMore")) && moved) {
    events->request = 0;
    events_send_poll(events);
    return;
  }
  int64_t ms = milliseconds(json_member(result, "nextPollMs"), DEFAULT_POLL_MS);
  events_wait_asleep(events, ms < EVENTS_LEAST_POLL_MS ? EVENTS_LEAST_POLL_MS : ms);
}

/* Reads "2026-11-24T10:00:00Z", with a fraction or an offset. -1: it is no time. */
static int64_t read_time_ms(struct tidings_span text) {
  struct tm parts = {0}, zone = {0};
  const char *rest = strptime(text.ptr, "%Y-%m-%dT%H:%M:%S", &parts);
  if (!rest) return -1;
  if (*rest == '.') rest += 1 + strspn(rest + 1, "0123456789");
  if (*rest && *rest != 'Z' && *rest != 'z' && !strptime(rest + 1, "%H:%M", &zone)) return -1;
  int64_t offset = ((int64_t)zone.tm_hour * 60 + zone.tm_min) * 60000;
  return (int64_t)timegm(&parts) * 1000 + (*rest == '-' ? offset : -offset);
}

/* Returns when to refresh: a fifth of the time is reserved for failures. If the time is over
 * already, one of the two clocks is wrong. */
static int64_t refresh_ms(const struct events *events, const struct json *before) {
  int64_t until = before && before->kind == JSON_IS_STRING ? read_time_ms(before->text) : -1;
  if (until < 0) return LONGEST_WAIT_MS;
  int64_t left = until - events->wall_ms - events->ahead_ms;
  if (left <= 0) return LAPSED_MS;
  return left / 5 * 4 < EVENTS_LEAST_POLL_MS ? EVENTS_LEAST_POLL_MS : left / 5 * 4;
}

static void take_subscription(struct events *events, const struct json *result) {
  const struct json *status = json_member(result, "deliveryStatus"),
                    *active = json_member(status, "active"),
                    *error = json_member(status, "lastError"), *id = json_member(result, "id");
  struct tidings_span reason = error && error->kind == JSON_IS_STRING
                                   ? error->text
                                   : span_text("for a reason that it does not say");
  events_thrive(events);
  if (events->cursor && is_true(json_member(result, "truncated"))) events_say_gap(events);
  (void)events_take_cursor(events, json_member(result, "cursor"));
  if (id && id->kind == JSON_IS_STRING) events_keep(events, &events->subscription, id->text);
  if (active && active->kind == JSON_IS_FALSE)
    outputs_add(&events->outputs, OUTPUT_SAY)->text =
        outputs_format(&events->outputs, "%s could not deliver to %s: %.*s", events->wish.server,
                       events->wish.url, SPAN_FORMAT(reason));
  events_wait_asleep(events, refresh_ms(events, json_member(result, "refreshBefore")));
}

void events_take_result(struct events *events, const struct json *result) {
  enum events_state state = events->state;
  events->request = 0;
  switch (state) {
  case STATE_DISCOVER: take_discovery(events, result); break;
  case STATE_INITIALIZE: take_initialize(events, result); break;
  case STATE_LIST: events_take_list(events, result, false); break;
  case STATE_POLL: take_poll(events, result); break;
  case STATE_SUBSCRIBE: take_subscription(events, result); break;
  case STATE_STREAM: events_fail(events, 0); break; /* the server has closed the stream properly */
  default: break;
  }
}

/* -- errors ------------------------------------------------------------------------------------ */

enum { NOT_FOUND, FORBIDDEN, EXHAUSTED, UNSUPPORTED, BAD_CALLBACK, INVALID, NO_METHOD, OTHER };

/* Translates error codes of the extension's draft into those of its final version. */
static int meaning_of(const struct json *error) {
  int64_t code = 0;
  const struct json *number = json_member(error, "code");
  if (!number || !json_to_integer(number, &code)) return OTHER;
  if (code <= -32011 && code >= -32015) return NOT_FOUND + (int)(-32011 - code);
  if (code <= -32023 && code >= -32027) return NOT_FOUND + (int)(-32023 - code);
  return code == -32602 ? INVALID : code == -32601 ? NO_METHOD : OTHER;
}

static struct tidings_span message_of(const struct json *error) {
  const struct json *message = json_member(error, "message");
  struct tidings_span text = message && message->kind == JSON_IS_STRING && message->text.len
                                 ? message->text
                                 : span_text("no reason was given");
  return span_of(text.ptr, utf8_prefix(text, LONGEST_MESSAGE));
}

/* Was the event replaced by a new one of the same name? */
static bool has_changed(const struct json *error) {
  const struct json *reason = json_member(json_member(error, "data"), "reason");
  return meaning_of(error) == UNSUPPORTED && reason && reason->kind == JSON_IS_STRING &&
         span_is(reason->text, "schema_changed");
}

void events_take_termination(struct events *events, const struct json *error) {
  bool changed = has_changed(error);
  struct tidings_span why = message_of(error);
  struct tidings_span text =
      outputs_format(&events->outputs,
                     changed ? "The event `%s` of %s has changed: %.*s. The subscription goes on."
                             : "The subscription to `%s` of %s has ended: %.*s.",
                     events->wish.name, events->wish.server, SPAN_FORMAT(why));
  const char *mark = events->delivery == EVENTS_WEBHOOK ? events->subscription : NULL;
  if (changed) events_notice(events, "events.changed", mark, text);
  else events_notice_end(events, mark, why, text);
  events->request = 0;
  events->found = false;
  if (changed) events_wait(events, retry_wait_ms(&events->retry));
  else events_end(events, 1, text);
}

/* Takes an error. In the handshake it means the older era. Otherwise it ends the subscription,
 * unless it may be temporary. */
static void refuse_subscription(struct events *events, const struct json *error) {
  int meaning = meaning_of(error);
  struct tidings_span why = message_of(error);
  bool other_way = events->wish.delivery == EVENTS_ANY && events->delivery == EVENTS_PUSH &&
                   events->offers & 1U << EVENTS_POLL;
  if ((meaning == UNSUPPORTED || meaning == NO_METHOD) && other_way && !has_changed(error)) {
    events->gave_up_push = true;
    events_go_on(events);
  } else if (meaning == NOT_FOUND || meaning == FORBIDDEN || meaning == UNSUPPORTED) {
    events_take_termination(events, error);
  } else if (meaning == INVALID && events->state != STATE_LIST && events->cursor && !events->anew) {
    outputs_add(&events->outputs, OUTPUT_SAY)->text =
        outputs_format(&events->outputs, "%s: %.*s; it is asked again without a cursor",
                       events->wish.server, SPAN_FORMAT(why));
    events->begins_anew = true; /* it may not know the cursor any more */
    events_go_on(events);
  } else if (meaning == INVALID || meaning == NO_METHOD) {
    events_end_for(events,
                   outputs_format(&events->outputs, "%s refuses the subscription to '%s': %.*s",
                                  events->wish.server, events->wish.name, SPAN_FORMAT(why)));
  } else {
    int64_t ms = milliseconds(json_member(json_member(error, "data"), "retryAfterMs"), 0);
    outputs_add(&events->outputs, OUTPUT_SAY)->text =
        outputs_format(&events->outputs, "%s: %.*s", events->wish.server, SPAN_FORMAT(why));
    events_fail(events, ms);
  }
}

void events_take_error(struct events *events, const struct json *error) {
  events->request = 0;
  switch (events->state) {
  case STATE_DISCOVER:
    events->era = ERA_LEGACY;
    events->guessed = false;
    events_go_on(events);
    break;
  case STATE_INITIALIZE:
    if (events->guessed && !events->probed_again) { /* the server may only have started slowly */
      events->probed_again = true;
      events->era = ERA_UNKNOWN;
      events_fail(events, 0);
      break;
    }
    events_end_for(events, outputs_format(&events->outputs, "%s refuses to begin: %.*s",
                                          events->wish.server, SPAN_FORMAT(message_of(error))));
    break;
  default: refuse_subscription(events, error);
  }
}
