/* SPDX-License-Identifier: MIT
 *
 * flow/run_events.c: see run_events.h.
 */
#include "flow/run_events.h"

#include "common/error.h"
#include "common/utf8.h"
#include "flow/lifecycle.h"
#include "session/attach.h"
#include "session/stage.h"
#include "session/urging.h"

/* -- what the machine is told ------------------------------------------------------------------ */

static enum turns_event turns_event_of(const struct event *event) {
  switch (event->type) {
  case EVENT_MESSAGE_SUBMITTED: return TURNS_SUBMIT;
  case EVENT_MESSAGE_CANCELLED: return TURNS_CANCEL;
  case EVENT_MESSAGE_EDITED: return TURNS_EDIT;
  case EVENT_MESSAGE_MOVED: return TURNS_MOVE;
  case EVENT_TURN_STARTED: return event->turn.has_messages ? TURNS_STARTED : TURNS_STARTED_OWN;
  case EVENT_TURN_DECLINED: return TURNS_DECLINED;
  case EVENT_TURN_FINISHED: return TURNS_FINISHED;
  case EVENT_TURN_ABORTED: return TURNS_ABORTED;
  case EVENT_TURN_FAILED: return TURNS_FAILED;
  case EVENT_TURN_RETRYING: return TURNS_RETRYING;
  case EVENT_TURN_WAITING: return TURNS_WAITING;
  case EVENT_TURN_RESUME: return TURNS_RESUME;
  case EVENT_STREAM_STARTED: return TURNS_STREAM_STARTED;
  case EVENT_STREAM_FINISHED: return TURNS_STREAM_FINISHED;
  case EVENT_TOOLS_STARTED: return TURNS_TOOLS_STARTED;
  case EVENT_TOOLS_FINISHED: return TURNS_TOOLS_FINISHED;
  case EVENT_SESSION_OPENED: return TURNS_OPENED;
  case EVENT_SESSION_RESUMED: return TURNS_RESUMED;
  case EVENT_SESSION_FORKED: return TURNS_FORKED;
  case EVENT_SESSION_COMPACTING: return TURNS_COMPACTING;
  case EVENT_SESSION_COMPACTED: return TURNS_COMPACTED;
  case EVENT_SESSION_CLOSED: return TURNS_CLOSED;
  default: return TURNS_LOOK;
  }
}

/* The ids that an event names: of messages, or of a message and the one that it goes before. */
struct naming {
  struct tidings_span pair[2];
  const struct tidings_span *ids;
  size_t count;
  ptrdiff_t *named;
};

static int name_ids(const struct event *event, struct arena *arena, struct naming *naming,
                    struct tidings_error *error) {
  naming->ids = event->turn.messages;
  naming->count = event->turn.message_count;
  if (event_is_message(event->type)) {
    naming->pair[0] = event->message.id;
    naming->pair[1] = event->message.before;
    naming->ids = naming->pair;
    naming->count = event->type == EVENT_MESSAGE_MOVED && !event->message.last ? 2 : 1;
  }
  naming->named = arena_zalloc(arena, naming->count + 1, sizeof *naming->named);
  return naming->named ? 0 : fail(error, TIDINGS_E_NOMEM, "no memory for the ids of an event");
}

/* What the host says of a turn is kept with the session's head: not at any length. */
static struct tidings_span words_of(const struct turn_event *turn) {
  enum { WORDS_BYTES = 1024 };
  struct tidings_span words = turn->message.len  ? turn->message
                              : turn->reason.len ? turn->reason
                                                 : turn->kind;
  return span_of(words.ptr, utf8_prefix(words, WORDS_BYTES));
}

/* -- messages ---------------------------------------------------------------------------------- */

static int refuse_known(const struct message *message, struct tidings_error *error) {
  struct quoted id = quote(message->id);
  const char *state = message_state_name(message->state);
  switch (message->state) {
  case MESSAGE_LEASED:
  case MESSAGE_FIRED:
    return fail(error, TIDINGS_E_FIRED,
                "message %s was submitted before and has fired; use an id of its own for each",
                id.text);
  case MESSAGE_CANCELLED:
  case MESSAGE_CLOSED:
    return fail(error, TIDINGS_E_STATE,
                "message %s was submitted before and was %s; use an id of its own for each",
                id.text, state);
  default:
    return fail(error, TIDINGS_E_STATE, "message %s was submitted before and is still waiting (%s)",
                id.text, state);
  }
}

static int check_room(const struct stage *stage, struct tidings_error *error) {
  const struct turns *turns = &stage->turning.turns;
  uint32_t limit = stage->settings->pending_per_session;
  size_t alive = 0;
  for (size_t i = 0; i < turns->count; i++) alive += !message_is_over(turns->messages[i].state);
  if (alive < limit) return 0;
  return fail(
      error, TIDINGS_E_FULL,
      "the session has %zu messages that wait; the limit is %u (limits.pending_per_session)", alive,
      limit);
}

static int prepare_submit(struct stage *stage, const struct message_event *message,
                          const struct naming *naming, struct turns_input *input,
                          struct tidings_error *error) {
  struct turning *turning = &stage->turning;
  if (naming->named[0] != NOT_A_MESSAGE)
    return refuse_known(&turning->turns.messages[naming->named[0]], error);
  int code = check_room(stage, error);
  if (code) return code;
  if (arena_copy(&stage->arena, message->id, &input->id) ||
      arena_copy(&stage->arena, message->content, &turning->content) ||
      arena_copy(&stage->arena, message->trigger, &turning->trigger))
    return fail(error, TIDINGS_E_NOMEM, "no memory for a message");
  input->steer = message->steer;
  input->resume = message->resume;
  turning->added = turning->turns.run.last_message + 1;
  return 0;
}

/* Fills what a message event says to the machine. */
static int prepare_message(struct stage *stage, const struct event *event,
                           const struct naming *naming, struct turns_input *input,
                           struct tidings_error *error) {
  const struct message_event *message = &event->message;
  input->named_count = 1;
  if (event->type == EVENT_MESSAGE_SUBMITTED)
    return prepare_submit(stage, message, naming, input, error);
  if (event->type == EVENT_MESSAGE_MOVED) {
    input->to_end = message->last;
    input->before_id = message->before;
    input->before = message->last ? NOT_A_MESSAGE : naming->named[1];
  }
  if (event->type == EVENT_MESSAGE_EDITED && naming->named[0] != NOT_A_MESSAGE) {
    stage->turning.edited = stage->turning.turns.messages[naming->named[0]].n;
    stage->turning.content = message->content;
  }
  return 0;
}

/* -- the step ---------------------------------------------------------------------------------- */

static int step(struct stage *stage, const struct event *event, const struct naming *naming,
                struct tidings_error *error) {
  struct turns_input input = stage_input(stage, turns_event_of(event));
  input.ids = naming->ids;
  input.named = naming->named;
  input.named_count = naming->count;
  int code =
      event_is_message(event->type) ? prepare_message(stage, event, naming, &input, error) : 0;
  if (code) return code;
  input.attempt = event->turn.attempt;
  if (arena_copy(&stage->arena, words_of(&event->turn), &input.words))
    return fail(error, TIDINGS_E_NOMEM, "no memory for an event");
  return turns_step(&stage->turning.turns, &input, error);
}

/* -- whose event it is ------------------------------------------------------------------------- */

/* Messages are taken from everybody, and make a host that could own the session its owner;
 * everything else is the owner's. */
static int find_standing(struct happening *happening, struct stage *stage,
                         struct tidings_error *error) {
  const struct event *event = happening->event;
  const struct owner *self = &happening->instance->owner;
  bool mine = owner_equal(&stage->head.owner, self),
       alive = mine || owner_alive(&stage->head.owner);
  bool producer = happening->instance->role == TIDINGS_ROLE_PRODUCER;
  stage->owned = alive;
  if (event->type == EVENT_SESSION_CLOSED) return 0;
  bool stranger = producer || (alive && !mine) || was_taken_over(&stage->head, self);
  if (event_is_message(event->type) && stranger) return 0;
  bool opens = event->type == EVENT_SESSION_OPENED || event->type == EVENT_SESSION_RESUMED;
  const struct attaching attaching = {.instance = happening->instance,
                                      .settings = happening->settings,
                                      .txn = stage->txn,
                                      .session = stage->session,
                                      .head = &stage->head,
                                      .opening = opens ? &event->opening : NULL,
                                      .now_ms = happening->now_ms,
                                      .arena = &stage->arena};
  int code = attach(&attaching, &stage->head_changed, error);
  if (!code) stage->owned = stage->answers = true;
  return code;
}

/* Closing is the way out for a session whose head is damaged. */
static int get_head(const struct event *event, struct stage *stage, struct tidings_error *error) {
  if (event->type != EVENT_SESSION_CLOSED)
    return head_get(stage->txn, stage->session, &stage->arena, &stage->head, error);
  int code = head_get(stage->txn, stage->session, &stage->arena, &stage->head, NULL);
  if (code == TIDINGS_E_STORE) return head_anew(stage->txn, stage->session, &stage->head, error);
  return code ? fail(error, code, "no memory to close the session") : 0;
}

static int check_seen(struct happening *happening, struct stage *stage,
                      struct tidings_error *error) {
  const struct event *event = happening->event;
  if (!event->id.len) return 0;
  int64_t since_ms = happening->now_ms - happening->settings->dedup_window_ms;
  int code = dedup_seen(stage->txn, stage->session, event->source, event->id, since_ms,
                        &happening->duplicate, error);
  if (code || happening->duplicate) return code;
  return dedup_put(stage->txn, stage->session, event->source, event->id, happening->now_ms,
                   happening->settings->dedup_window_ms, error);
}

/* -- one event, in a write --------------------------------------------------------------------- */

static int change(struct happening *happening, struct stage *stage, bool *ret_changed,
                  struct tidings_error *error) {
  const struct event *event = happening->event;
  struct naming naming = {.ids = NULL};
  int code = get_head(event, stage, error);
  if (!code) code = check_seen(happening, stage, error);
  if (!code && happening->duplicate) return stage_load(stage, NULL, 0, NULL, error);
  if (!code) code = find_standing(happening, stage, error);
  if (!code) code = name_ids(event, &stage->arena, &naming, error);
  if (!code && event->type == EVENT_SESSION_CLOSED) code = close_session(stage, error);
  if (!code && event->type == EVENT_SESSION_FORKED)
    code = fork_session(stage, event->opening.child, error);
  if (!code) code = stage_load(stage, naming.ids, naming.count, naming.named, error);
  if (!code) code = step(stage, event, &naming, error);
  if (!code) code = stage_look(stage, error);
  if (!code) code = stage_save(stage, turns_event_of(event), ret_changed, error);
  *ret_changed = *ret_changed || event->id.len || event->type == EVENT_SESSION_FORKED;
  return code;
}

static int answer(struct happening *happening, struct stage *stage,
                  struct tidings_reply **ret_reply, struct tidings_error *error) {
  int code = stage_reply(stage, ret_reply, error);
  if (code) return code;
  if (happening->duplicate) (*ret_reply)->flags |= TIDINGS_REPLY_DUPLICATE;
  if (happening->event->type == EVENT_SESSION_COMPACTED && !happening->duplicate)
    return ledger_of_session(stage, &(*ret_reply)->ledger, error);
  return 0;
}

/* Somebody else's event has made an offer: the owner is to come and get it. Or it has taken one
 * away: what was to ride on that may want something. */
static void ring_owner(struct stage *stage) {
  const struct turning *turning = &stage->turning;
  const struct run *run = &turning->turns.run;
  bool offered = run->state == RUN_STARTING && !run->told,
       gone = turning->from == RUN_STARTING && run->state == RUN_IDLE;
  if (!stage->answers && stage->owned && (offered || gone))
    store_ring(stage->txn, stage->session, &stage->head.owner);
}

static int write_event(struct happening *happening, struct stage *stage,
                       const struct tidings_reply **ret_reply, struct tidings_error *error) {
  struct tidings_reply *reply = NULL;
  bool changed = false;
  int code = store_write(happening->instance->store, happening->deadline, &stage->txn, error);
  if (code) return code;
  code = session_add(stage->txn, happening->event->session, &stage->session, error);
  if (!code) code = change(happening, stage, &changed, error);
  if (!code) code = answer(happening, stage, &reply, error);
  bool commits = !code && changed && !happening->duplicate;
  if (commits) ring_owner(stage);
  if (commits) code = store_sweep(stage->txn, stage->session, stage->now_ms, error);
  if (commits && !code) code = store_commit(stage->txn, error);
  else store_end(stage->txn);
  if (!code) *ret_reply = reply_hand_out(reply, happening->instance, &stage->arena);
  return code;
}

int take_run_event(struct happening *happening, const struct tidings_reply **ret_reply,
                   struct tidings_error *error) {
  struct instance *instance = happening->instance;
  const struct event *event = happening->event;
  struct stage stage = {.instance = instance,
                        .settings = happening->settings,
                        .now_ms = happening->now_ms,
                        .arena = ARENA_EMPTY};
  struct session *session;
  if (instance->role == TIDINGS_ROLE_PRODUCER && !event_is_message(event->type)) {
    return fail(error, TIDINGS_E_UNSUPPORTED,
                "%s events are the host's; this instance was opened with role producer",
                event_is_session(event->type) ? "session" : "turn");
  }
  int code = session_known(instance, event->session, &session, error);
  if (code) return code;
  if (session &&
      (code = instance_lock_session(instance, session->number, happening->deadline, error)))
    return code;
  code = write_event(happening, &stage, ret_reply, error);
  if (session) instance_unlock_session(instance, session->number);
  arena_free(&stage.arena);
  return code;
}

/* -- news that asks for something -------------------------------------------------------------- */

/* Would a look change anything? In a snapshot, so that news of a session that runs or is somebody
 * else's costs no write. */
static int is_worth_a_look(struct happening *happening, struct session *session, bool *ret_worth) {
  struct arena arena = ARENA_EMPTY;
  struct store_txn *txn;
  struct head head;
  int code = store_read(happening->instance->store, &txn, NULL);
  if (code) return code;
  code = head_get(txn, session->number, &arena, &head, NULL);
  store_end(txn);
  bool minds = !code && (turns_minds_urgency(&head.run) || turns_has_untold_offer(&head.run));
  if (!code) *ret_worth = minds && owner_equal(&head.owner, &happening->instance->owner);
  arena_free(&arena);
  return code;
}

static int look(struct happening *happening, struct session *session, struct stage *stage,
                struct tidings_reply **ret_reply) {
  bool changed = false;
  int code = store_write(happening->instance->store, happening->deadline, &stage->txn, NULL);
  if (code) return code;
  stage->session = session->number;
  stage->owned = stage->answers = true;
  code = head_get(stage->txn, stage->session, &stage->arena, &stage->head, NULL);
  if (!code && !owner_equal(&stage->head.owner, &happening->instance->owner)) {
    store_end(stage->txn);
    return 0;
  }
  if (!code) code = stage_load(stage, NULL, 0, NULL, NULL);
  if (!code) code = stage_look(stage, NULL);
  bool acts = stage->result.offer || stage->result.abort;
  if (!code) code = stage_save(stage, TURNS_NEWS, &changed, NULL);
  if (!code && acts) code = stage_reply(stage, ret_reply, NULL);
  if (!code && changed) return store_commit(stage->txn, NULL);
  store_end(stage->txn);
  return code;
}

/* What could not be decided now is decided soon. NULL: not even that can be said; the next event
 * looks again. */
static struct tidings_reply *ask_again(struct happening *happening, struct stage *stage) {
  enum { SOON_MS = 250 };
  struct tidings_reply *reply = NULL;
  *stage = (struct stage){.instance = stage->instance,
                          .settings = stage->settings,
                          .now_ms = stage->now_ms,
                          .arena = stage->arena};
  if (stage_stand(stage, happening->event->session, &reply, NULL)) return NULL;
  reply->wake_at_ms = happening->now_ms + SOON_MS;
  return reply;
}

void look_after_news(struct happening *happening, const struct tidings_reply **ret_reply) {
  struct instance *instance = happening->instance;
  struct stage stage = {.instance = instance,
                        .settings = happening->settings,
                        .now_ms = happening->now_ms,
                        .arena = ARENA_EMPTY};
  struct tidings_reply *reply = NULL;
  struct session *session;
  bool worth = false;
  if (instance->role == TIDINGS_ROLE_PRODUCER) return;
  int code = session_known(instance, happening->event->session, &session, NULL);
  if (!code && session) code = is_worth_a_look(happening, session, &worth);
  if (!code && worth) {
    code = instance_lock_session(instance, session->number, happening->deadline, NULL);
    if (!code) {
      code = look(happening, session, &stage, &reply);
      instance_unlock_session(instance, session->number);
    }
  }
  if (code) reply = ask_again(happening, &stage);
  if (reply) *ret_reply = reply_hand_out(reply, instance, &stage.arena);
  arena_free(&stage.arena);
}
