/* SPDX-License-Identifier: MIT
 *
 * flow/step.c: an event that steps the session's run: one write transaction from the decision of
 * the table to the reply.
 */
#include "common/error.h"
#include "flow/internal.h"
#include "session/attach.h"
#include "session/publish.h"

struct event_step {
  const struct event *event;
  struct decision decision;
  bool duplicate;
  bool changed; /* there is something to commit */
  struct rewound rewound;
  struct collected collected;
  struct memory calls; /* the calls in the snapshot */
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

static int step_run_by_event(struct op *op, struct event_step *step, const struct naming *naming,
                             struct tidings_error *error) {
  const struct event *event = step->event;
  struct decision *decision = &step->decision;
  struct turns_input input = decision_input(op, decision, turn_event_of(event));
  input.ids = naming->ids;
  input.named = naming->named;
  input.named_count = naming->count;
  int code = 0;
  if (event_is_message(event->type))
    code = message_prepare(op, decision, event, naming, &input, error);
  if (!code) code = turn_prepare(op, event, &input, error);
  input.rewound = event->opening.rewound;
  input.returned = step->rewound.newest;
  return code ? code : turns_step(&decision->stored.turns, &input, error);
}

static int decide_event(struct op *op, struct event_step *step, struct tidings_error *error) {
  const struct event *event = step->event;
  struct decision *decision = &step->decision;
  struct naming naming = {.ids = NULL};
  int code = name_ids(event, &op->arena, &naming, error);
  if (!code) code = decision_load(op, decision, naming.ids, naming.count, naming.named, error);
  if (!code) code = step_run_by_event(op, step, &naming, error);
  return code ? code : decision_look(op, decision, error);
}

/* A duplicate does what `wake` does: the host may not have received the first reply. */
static int decide_again(struct op *op, struct event_step *step, struct tidings_error *error) {
  struct decision *decision = &step->decision;
  decision->answers = decision->owned = op_hosts_session(op);
  int code = decision_load(op, decision, NULL, 0, NULL, error);
  if (!code && decision->answers) code = decision_look(op, decision, error);
  return code ? code : decision_save(op, decision, TURNS_LOOK, &step->changed, error);
}

/* Writes everything that the event changes in the store. */
static int write_event_rows(struct op *op, struct event_step *step, struct tidings_error *error) {
  const struct event *event = step->event;
  struct decision *decision = &step->decision;
  int code = life_get_head(op, event, error);
  if (!code) code = op_see_event(op, step->event, &step->duplicate, error);
  if (!code && step->duplicate) return decide_again(op, step, error);
  if (!code) code = life_attach(op, event, decision, error);
  if (!code && event->type == EVENT_SESSION_CLOSED) {
    code = life_close(op, error);
    decision->head_changed = true;
  }
  if (!code && event->opening.rewound) {
    code = rewind_session(op, &event->opening, &step->rewound, error);
    if (!code) code = calls_forget_edits(op, error);
    decision->head_changed = true;
  }
  if (!code && event->type == EVENT_SESSION_COMPACTED && op->head.preamble) {
    op->head.preamble = 0; /* a summary may lack the preamble */
    decision->head_changed = true;
  }
  if (!code && event->type == EVENT_SESSION_FORKED)
    code = fork_session(op, event->opening.child, error);
  if (!code && event->type == EVENT_SESSION_COLLECTED)
    code = collect_sessions(op, &event->opening, decision, &step->collected, error);
  else if (!code) code = decide_event(op, step, error);
  if (!code) code = decision_save(op, decision, turn_event_of(event), &step->changed, error);
  step->changed =
      step->changed || event->id.len || event->type == EVENT_SESSION_FORKED || step->collected.any;
  return code ? code : calls_write_row(op, event, &step->changed, error);
}

static int answer_event(struct op *op, const struct event_step *step,
                        struct tidings_reply **ret_reply, struct tidings_error *error) {
  const struct turns *turns = &step->decision.stored.turns;
  int code = decision_reply(op, &step->decision, ret_reply, error);
  if (code) return code;
  if (step->duplicate) (*ret_reply)->flags |= TIDINGS_REPLY_DUPLICATE;
  if (step->event->type == EVENT_SESSION_COMPACTED && !step->duplicate)
    return compact_ledger(op, turns, &(*ret_reply)->ledger, error);
  if (step->event->opening.rewound && !step->duplicate)
    return rewind_answer(op, &step->rewound, &(*ret_reply)->ledger, error);
  if (step->event->type == EVENT_SESSION_COLLECTED && !step->duplicate)
    return collect_answer(op, &step->collected, &(*ret_reply)->ledger, error);
  return 0;
}

/* Wakes the owner if another process's event has made an offer, asks for the turn to end, or makes
 * something due before the owner would wake. Also wakes it if the event took an offer away, because
 * the notifications that were to go with that offer may now ask for a turn. */
static void ring_owner(struct op *op, const struct event *event, const struct decision *decision) {
  const struct stored_run *stored = &decision->stored;
  const struct run *run = &stored->turns.run;
  bool offered = run->state == RUN_STARTING && !run->offer_known,
       gone = stored->from == RUN_STARTING && run->state == RUN_IDLE,
       stopped = event->type == EVENT_TURN_STOP && run->stop == STOP_ASKED,
       sent = event->type == EVENT_MESSAGE_SUBMITTED || event->type == EVENT_SESSION_COLLECTED,
       later = sent && turns_due_ms(&stored->turns, op->settings);
  if (!decision->answers && decision->owned && (offered || gone || stopped || later))
    store_ring(op->txn, op->session, &op->head.owner);
}

static int commit_event(struct op *op, const struct event_step *step, struct tidings_error *error) {
  if (!step->changed) return 0;
  ring_owner(op, step->event, &step->decision);
  int code = store_sweep(op->txn, op->session, op->now_ms, error);
  return code ? code : op_commit(op, error);
}

static int write_event(struct op *op, const struct event *event,
                       const struct tidings_reply **ret_reply, struct tidings_error *error) {
  struct event_step step = {.event = event};
  struct tidings_reply *reply = NULL;
  int code = op_write_event(op, event, error);
  if (!code) code = session_add(op->txn, op->name, &op->session, error);
  if (!code) code = write_event_rows(op, &step, error);
  if (!code) code = answer_event(op, &step, &reply, error);
  if (!code) code = commit_event(op, &step, error);
  decision_done(op, &step.decision, code);
  if (!code && !step.duplicate) calls_share_ends(op, event);
  op_give_up(op);
  if (!code) *ret_reply = reply_hand_out(reply, op);
  return code;
}

/* -- without a write --------------------------------------------------------------------------- */

/* *ret_changes: the event has to be written. */
static int decide_in_snapshot(struct op *op, struct event_step *step, bool *ret_changes,
                              struct tidings_error *error) {
  struct decision *decision = &step->decision;
  int code = op_get_head(op, error);
  if (!code) code = calls_row_changes(op, step->event, &step->calls, ret_changes, error);
  if (code || *ret_changes) return code;
  *ret_changes = !op_owns_session(op);
  if (*ret_changes) return 0;
  decision->answers = decision->owned = true;
  code = decide_event(op, step, error);
  *ret_changes = decision_acts(decision) || !stored_run_changes_only_phase(op, &decision->stored);
  return code;
}

/* Most reports of a phase, and calls that find nothing to do, change nothing worth a commit: a
 * snapshot answers them. Without a reply the event has to be written. */
static int answer_from_snapshot(struct op *op, const struct event *event,
                                struct tidings_reply **ret_reply, struct tidings_error *error) {
  struct event_step step = {.event = event};
  struct tidings_reply *reply = NULL;
  bool changes = false;
  int code = op_read(op, error);
  if (!code) code = decide_in_snapshot(op, &step, &changes, error);
  if (!code && !changes) code = answer_event(op, &step, &reply, error);
  op_give_up(op);
  if (!code && !changes && calls_share(op, event) &&
      op_set_phase(op, step.decision.stored.turns.run.phase)) {
    publish_event(op, &step.calls);
    decision_done(op, &step.decision, 0);
    *ret_reply = reply;
  }
  return code;
}

static bool may_need_no_write(const struct op *op, const struct event *event) {
  return op->known && !event->id.len && (event_is_phase(event->type) || event->type == EVENT_WAKE);
}

static int take_event(struct op *op, const struct event *event,
                      const struct tidings_reply **ret_reply, struct tidings_error *error) {
  struct tidings_reply *reply = NULL;
  int code = may_need_no_write(op, event) ? answer_from_snapshot(op, event, &reply, error) : 0;
  if (code) return code;
  if (reply) {
    *ret_reply = reply_hand_out(reply, op);
    return 0;
  }
  arena_free(&op->arena); /* the memory of the snapshot's answer */
  return write_event(op, event, ret_reply, error);
}

/* May the event skip reading the session, because a carrier has just read it? True for the end of a
 * call whose tool result found nothing, in a turn that does not stream. Then only a request to stop
 * the turn, or a takeover, could change the answer, and the next call sees those. */
static bool may_go_by_look(const struct op *op, const struct event *event) {
  enum { LOOK_HOLDS_MS = 1000 };
  _Atomic int64_t *looked_ms = &op->known->looked_ms;
  if (event->type != EVENT_TOOLS_FINISHED) {
    atomic_store_explicit(looked_ms, 0, memory_order_relaxed);
    return false;
  }
  int64_t at_ms = atomic_load_explicit(looked_ms, memory_order_relaxed);
  return at_ms && store_uptime_ms() - at_ms < LOOK_HOLDS_MS;
}

int step_take(struct op *op, const struct event *event, const struct tidings_reply **ret_reply,
              struct tidings_error *error) {
  if (op->instance->role == TIDINGS_ROLE_PRODUCER && !event_is_for_all(event->type)) {
    return fail(error, TIDINGS_E_UNSUPPORTED,
                "only a host may send %s events; this instance was opened with role "
                "producer",
                event_is_session(event->type) ? "session" : "turn");
  }
  int code = attach_look_up(op, error);
  if (!code && op->known) op->goes_by_look = may_go_by_look(op, event);
  if (!code && op->known) code = op_lock(op, error);
  if (!code && event->type == EVENT_SESSION_COLLECTED)
    code = collect_prepare(op, &event->opening, error);
  return code ? code : take_event(op, event, ret_reply, error);
}
