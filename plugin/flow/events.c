/* SPDX-License-Identifier: MIT
 *
 * flow/events.c: each event to whom it concerns: a notification is pushed; reports are for
 * reports.c, everything that steps the run for run_events.c.
 */
#include "common/error.h"
#include "flow/deliver.h"
#include "flow/reports.h"
#include "flow/run_events.h"
#include "session/reply.h"
#include "session/stage.h"
#include "session/urging.h"

/* -- notification ------------------------------------------------------------------------------ */

static int push(struct happening *happening, struct tidings_error *error) {
  const struct event *event = happening->event;
  const struct push push = {
      .session = event->session,
      .note = &event->notification,
      .source = event->source,
      .id = event->id,
      .now_ms = happening->now_ms,
      .dedup_window_ms = happening->settings->dedup_window_ms,
      .pending_limit = happening->settings->pending_per_session,
      .rings = notification_rings(&event->notification),
  };
  return store_push(happening->instance->store, &push, happening->deadline, &happening->duplicate,
                    error);
}

/* -- the answer -------------------------------------------------------------------------------- */

/* A duplicate is answered by a reply that says so. */
static int tell_duplicate(struct happening *happening, const struct tidings_reply **ret_reply,
                          struct tidings_error *error) {
  struct stage stage = {.instance = happening->instance,
                        .settings = happening->settings,
                        .now_ms = happening->now_ms,
                        .arena = ARENA_EMPTY};
  struct tidings_reply *reply;
  int code = stage_stand(&stage, happening->event->session, &reply, error);
  if (!code) {
    reply->flags |= TIDINGS_REPLY_DUPLICATE;
    *ret_reply = reply_hand_out(reply, happening->instance, &stage.arena);
  }
  arena_free(&stage.arena);
  return code;
}

/* News that needs no action is answered by NULL, everything else by a reply. */
static int handle(struct happening *happening, const struct tidings_reply **ret_reply,
                  struct tidings_error *error) {
  const struct event *event = happening->event;
  bool is_news = event->type == EVENT_NOTIFICATION || event_is_report(event->type);
  bool asks = event->type == EVENT_NOTIFICATION && notification_rings(&event->notification);
  if (!is_news) return take_run_event(happening, ret_reply, error);
  int code = event->type == EVENT_NOTIFICATION
                 ? push(happening, error)
                 : take_report(happening->instance, happening->settings, event, happening->now_ms,
                               happening->deadline, &happening->duplicate, &asks, error);
  if (code) return code;
  if (happening->duplicate) return tell_duplicate(happening, ret_reply, error);
  if (asks) look_after_news(happening, ret_reply);
  return 0;
}

int handle_event(struct instance *instance, struct tidings_span bytes,
                 const struct tidings_reply **ret_reply, struct tidings_error *error) {
  struct configuration *configuration = configuration_use(instance);
  struct arena arena = ARENA_EMPTY;
  struct event event;
  const struct tidings_reply *reply = NULL;
  store_deadline deadline = store_deadline_in(instance->budget_ms);
  (void)settle_remembered(instance, deadline, NULL);
  int code = event_parse(bytes, &configuration->settings, &arena, &event, error);
  if (!code) {
    struct happening happening = {.instance = instance,
                                  .settings = &configuration->settings,
                                  .event = &event,
                                  .now_ms = instance_now(instance),
                                  .deadline = deadline};
    code = handle(&happening, &reply, error);
  }
  arena_free(&arena);
  configuration_done(configuration);
  if (!code) *ret_reply = reply;
  return code;
}
