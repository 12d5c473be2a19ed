/* SPDX-License-Identifier: MIT
 *
 * delivery/events.c: what each event does to the store: a notification is pushed; a session is opened, resumed or closed; the
 * rest is for reports.c.
 */
#include "base/error.h"
#include "delivery/attach.h"
#include "delivery/deliver.h"
#include "delivery/ledger.h"
#include "delivery/reply.h"
#include "delivery/reports.h"

struct happening { /* one event being handled */
  struct instance *instance;
  const struct settings *settings;
  const struct event *event;
  int64_t now_ms;
  store_deadline deadline;
  bool duplicate;
};

/* -- notification ------------------------------------------------------------------------------------------------------------------------------ */

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
  };
  return store_push(happening->instance->store, &push, happening->deadline, &happening->duplicate, error);
}

/* -- the session's life -------------------------------------------------------------------------------------------------------------------------- */

/* The host's last word: all that is leased or pending has ended. */
static int close_session(struct happening *happening, struct store_txn *txn, uint32_t session, struct head *head, struct arena *arena,
                         struct tidings_error *error) {
  struct delivery closing = {.carrier = CARRIER_CLOSED,
                             .state = DELIVERY_COMMITTED,
                             .settled_by = SETTLED_BY_HOST,
                             .epoch = head->epoch,
                             .n = head->last_delivery + 1,
                             .leased_ms = happening->now_ms,
                             .settled_ms = happening->now_ms};
  const uint64_t *leased = head->leased;
  size_t leased_count = head->leased_count;
  const struct item *items;
  size_t count;
  int code = 0;
  if (!owner_equal(&head->owner, &happening->instance->owner) && owner_alive(&head->owner)) {
    return fail(error, TIDINGS_E_BUSY, "the session is owned by a running host, pid %u, and only that may close it", head->owner.pid);
  }
  for (size_t i = 0; !code && i < leased_count; i++) {
    struct delivery delivery;
    code = delivery_get_leased(txn, session, head, leased[i], arena, &delivery, error);
    if (code) break;
    delivery.state = DELIVERY_ROLLED_BACK;
    delivery.settled_by = SETTLED_BY_RECOVERY;
    delivery.settled_ms = happening->now_ms;
    if (ledger_roll_back(head, &delivery, arena)) code = fail(error, TIDINGS_E_NOMEM, "no memory to close the session");
    else code = delivery_put(txn, session, &delivery, error);
  }
  if (!code) code = item_last(txn, session, head, &closing.after, error);
  if (!code) code = item_pending(txn, session, head, arena, &items, &count, error);
  if (code) return code;
  struct fate *fates = arena_zalloc(arena, count, sizeof *fates);
  if (!fates) return fail(error, TIDINGS_E_NOMEM, "no memory to close the session");
  for (size_t i = 0; i < count; i++) fates[i] = (struct fate){.n = items[i].n, .outcome = OUTCOME_CLOSED, .reason = REASON_SESSION_CLOSED};
  if (ledger_ranges(fates, count, arena, &closing.fates, &closing.fate_count) || ledger_lease(head, &closing, arena) ||
      ledger_commit(head, &closing, arena)) {
    return fail(error, TIDINGS_E_NOMEM, "no memory to close the session");
  }
  static const struct memory nothing = {0};
  code = memory_put(txn, session, &nothing, error);
  if (code) return code;
  head->last_delivery = closing.n;
  memset(&head->owner, 0, sizeof head->owner);
  head->cwd = head->host = span_of(NULL, 0);
  head->closed_ms = happening->now_ms ? happening->now_ms : 1;
  head->floor = closing.after; /* no number is given out again when all items are forgotten */
  head->watermark = closing.after + 1;
  head->taken_count = 0;
  return delivery_put(txn, session, &closing, error);
}

/* Closing is the way out for a session whose head is damaged. */
static int get_head(const struct event *event, struct store_txn *txn, uint32_t session, struct arena *arena, struct head *head,
                    struct tidings_error *error) {
  if (event->type != EVENT_SESSION_CLOSED) return head_get(txn, session, arena, head, error);
  int code = head_get(txn, session, arena, head, NULL);
  if (code == TIDINGS_E_STORE) return head_anew(txn, session, head, error);
  return code ? fail(error, code, "no memory to close the session") : 0;
}

static int change_session(struct happening *happening, struct store_txn *txn, uint32_t session, struct arena *arena,
                          struct tidings_error *error) {
  const struct event *event = happening->event;
  struct head head;
  bool changed = true;
  int code = 0;
  if (event->id.len) {
    code = dedup_seen(txn, session, event->source, event->id, happening->now_ms - happening->settings->dedup_window_ms,
                      &happening->duplicate, error);
    if (code || happening->duplicate) return code;
    code = dedup_put(txn, session, event->source, event->id, happening->now_ms, happening->settings->dedup_window_ms, error);
  }
  if (!code) code = get_head(event, txn, session, arena, &head, error);
  if (!code && event->type == EVENT_SESSION_CLOSED) code = close_session(happening, txn, session, &head, arena, error);
  else if (!code) code = attach(happening->instance, txn, session, &head, &event->opening, happening->now_ms, arena, &changed, error);
  if (!code && changed) code = head_put(txn, session, &head, error);
  return code;
}

static int handle_session(struct happening *happening, struct tidings_error *error) {
  struct instance *instance = happening->instance;
  struct session *session;
  struct arena arena = ARENA_EMPTY;
  struct store_txn *txn;
  uint32_t number;
  if (instance->role == TIDINGS_ROLE_PRODUCER) {
    return fail(error, TIDINGS_E_UNSUPPORTED, "session events are the host's; this instance was opened with role producer");
  }
  int code = session_known(instance, happening->event->session, &session, error);
  if (code) return code;
  if (session && (code = decision_begin(instance, session->number, happening->deadline, error))) return code;
  code = store_write(instance->store, happening->deadline, &txn, error);
  if (code) goto out;
  code = session_add(txn, happening->event->session, &number, error);
  if (!code) code = change_session(happening, txn, number, &arena, error);
  if (!code && !happening->duplicate) code = store_sweep(txn, number, happening->now_ms, error);
  if (!code && !happening->duplicate) code = store_commit(txn, error);
  else store_end(txn);
out:
  if (session) decision_end(instance, session->number);
  arena_free(&arena);
  return code;
}

/* -- the answer ------------------------------------------------------------------------------------------------------------------------------------ */

static bool is_built(enum event_type type) {
  return type == EVENT_NOTIFICATION || event_is_report(type) || type == EVENT_SESSION_OPENED || type == EVENT_SESSION_RESUMED ||
         type == EVENT_SESSION_CLOSED;
}

/* A notification or report that needs no action is answered by NULL, everything else by a reply. Made before anything is stored, so that it cannot
 * fail afterwards. */
static int handle(struct happening *happening, const struct tidings_reply **ret_reply, struct tidings_error *error) {
  enum event_type type = happening->event->type;
  struct arena for_reply = ARENA_EMPTY;
  if (!is_built(type)) return fail(error, TIDINGS_E_UNSUPPORTED, "event type \"%s\" is not built in this version", event_type_name(type));
  struct tidings_reply *reply = reply_make(&for_reply);
  if (!reply) return fail(error, TIDINGS_E_NOMEM, "no memory for a reply");
  bool is_report = event_is_report(type);
  int code = type == EVENT_NOTIFICATION ? push(happening, error)
             : is_report ? take_report(happening->instance, happening->settings, happening->event, happening->now_ms, happening->deadline,
                                       &happening->duplicate, error)
                         : handle_session(happening, error);
  if (!code && happening->duplicate) reply->flags |= TIDINGS_REPLY_DUPLICATE;
  if (!code && (happening->duplicate || (type != EVENT_NOTIFICATION && !is_report)))
    *ret_reply = reply_hand_out(reply, happening->instance, &for_reply);
  arena_free(&for_reply);
  return code;
}

int handle_event(struct instance *instance, struct tidings_span bytes, const struct tidings_reply **ret_reply,
                 struct tidings_error *error) {
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
