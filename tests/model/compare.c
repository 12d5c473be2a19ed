/* SPDX-License-Identifier: MIT
 *
 * tests/model/compare.c: makes views of worlds, and an act of a move.
 */
#include "compare.h"

#include "oracle.h"

/* -- views ------------------------------------------------------------------------------------- */

static bool runs(const struct run *run) {
  return run->state == RUN_BUSY || run->state == RUN_RETRYING || run->state == RUN_WAITING;
}

static void view_run(const struct world *world, struct view_run *view) {
  const struct run *run = &world->run;
  *view = (struct view_run){.state = run->state,
                            .phase = run->phase,
                            .turn = run->kind == TURN_OF_SYSTEM ? VIEW_SYSTEM : 0,
                            .orphaned = run->orphaned ? VIEW_SYSTEM : 0,
                            .started_ms = run->started_ms,
                            .offer_known = run->offer_known,
                            .aborted = runs(run) && run->aborted,
                            .stop = run->stop,
                            .compacting = run->compacting,
                            .settling = run->settling,
                            .settle_since_ms = run->settling ? run->settle_since_ms : 0,
                            .settle_last = run->settling ? (int64_t)run->settle_last : 0,
                            .system_turns = (int64_t)run->system_turns,
                            .auto_turns = run->auto_turns,
                            .abort_count = run->abort_count};
  for (unsigned i = 0; i < world->submitted; i++) {
    view->turn |= world->messages[i].of_turn << i;
    view->orphaned |= world->messages[i].orphaned << i;
  }
  for (unsigned i = 0; i < run->abort_count && i < VIEW_ABORTS; i++)
    view->aborts_ms[i] = run->aborts_ms[i];
}

static void view_world(const struct world *world, struct view *view) {
  struct world at = *world;
  memset(view, 0, sizeof *view);
  view_run(world, &view->run);
  world_order(&at);
  for (unsigned i = 0; i < world->submitted; i++) {
    const struct message *message = &world->messages[i];
    view->messages[i] =
        (struct view_message){.stamp_ms = message->stamp_ms,
                              .state = message->state,
                              .waited = message->waited,
                              .steered = message->state == MESSAGE_LEASED && message->steer,
                              .delivered = message->state == MESSAGE_FIRED && message->delivery};
    view->order[i] = at.order[i];
  }
  for (unsigned i = 0; i < MOST_CARRIERS; i++)
    view->carriers[i] = (struct view_carrier){world->carriers[i].out, world->carriers[i].item,
                                              world->carriers[i].row};
  view->now_ms = world->now_ms;
  view->last_stamp_ms = world->run.last_stamp_ms;
  view->submitted = (int64_t)world->submitted;
  view->item = world->item;
  view->has_asked = world->item == ITEM_PENDING && world->run.newest_asking;
  view->known = world->known;
  view->alive = world->alive;
}

static struct view_setup view_setup(const struct setup *setup) {
  const struct settings *settings = &setup->settings;
  return (struct view_setup){
      .settings = {.coalescing = settings->discipline == DISCIPLINE_COALESCING,
                   .hold = settings->restart_hold,
                   .force = settings->critical_force,
                   .settle_delay_ms = settings->settle_delay_ms,
                   .max_auto_turns = settings->max_auto_turns,
                   .max_aborts = settings->max_aborts,
                   .abort_window_ms = settings->abort_window_ms,
                   .pending_limit = 100},
      .one_phase = setup->fires_at_once,
      .item_urgent = setup->item_urgent,
      .item_asks = setup->item_asks};
}

/* -- acts -------------------------------------------------------------------------------------- */

static const uint8_t kinds[TURNS_EVENT_COUNT] = {
    [TURNS_SUBMIT] = ACT_SUBMIT,
    [TURNS_CANCEL] = ACT_CANCEL,
    [TURNS_EDIT] = ACT_EDIT,
    [TURNS_MOVE] = ACT_MOVE,
    [TURNS_REDIRECT] = ACT_REDIRECT,
    [TURNS_STOP] = ACT_STOP,
    [TURNS_STARTED] = ACT_STARTED,
    [TURNS_STARTED_OWN] = ACT_STARTED,
    [TURNS_DECLINED] = ACT_DECLINED,
    [TURNS_FINISHED] = ACT_FINISHED,
    [TURNS_ABORTED] = ACT_ABORTED,
    [TURNS_FAILED] = ACT_FAILED,
    [TURNS_RETRYING] = ACT_RETRYING,
    [TURNS_WAITING] = ACT_WAITING,
    [TURNS_RESUME] = ACT_RESUME,
    [TURNS_STREAM_STARTED] = ACT_STREAM_STARTED,
    [TURNS_STREAM_FINISHED] = ACT_STREAM_FINISHED,
    [TURNS_TOOLS_STARTED] = ACT_TOOLS_STARTED,
    [TURNS_TOOLS_FINISHED] = ACT_TOOLS_FINISHED,
    [TURNS_OPENED] = ACT_OPENED,
    [TURNS_COMPACTING] = ACT_COMPACTING,
    [TURNS_COMPACTED] = ACT_COMPACTED,
    [TURNS_CLOSED] = ACT_CLOSED,
    [TURNS_LOOK] = ACT_WAKE,
};

static int id_of(const struct world *world, uint8_t name) {
  int newest = (int)world->run.system_turns;
  if (name < MOST_MESSAGES) return name + 1;
  if (name == NAME_SYSTEM) return SYSTEM_ID + (newest ? newest - 1 : 0);
  if (name == NAME_OLD_SYSTEM) return SYSTEM_ID + (newest > 1 ? newest - 2 : 8); /* 8: none */
  return UNKNOWN_ID;
}

/* An act's ids are distinct. */
static void add_id(struct act *act, int id) {
  for (unsigned i = 0; i < act->id_count; i++)
    if (act->ids[i] == id) return;
  act->ids[act->id_count++] = id;
}

static void act_of_event(const struct world *world, const struct move *move, struct act *act) {
  act->kind = (enum act_kind)kinds[move->event];
  act->peer = move->foreign ? PEER_PRODUCER : PEER_HOST;
  act->steer = move->steer;
  act->resume = move->resume;
  if (move->event == TURNS_SUBMIT) act->id = (int)world->submitted + 1;
  if (act_is_message(act->kind) && move->name_count) act->id = id_of(world, move->names[0]);
  if (move->event == TURNS_MOVE && move->name_count > 1) act->before = id_of(world, move->names[1]);
}

/* Sets everything except the names. */
static void act_of(const struct world *world, const struct move *move, struct act *act) {
  act->peer = PEER_HOST;
  switch (move->kind) {
  case MOVE_EVENT: act_of_event(world, move, act); break;
  case MOVE_TOOL_RESULT:
  case MOVE_ATTACH: act->kind = ACT_TOOL_RESULT; break;
  case MOVE_CHAT_REQUEST: act->kind = ACT_CHAT_REQUEST; break;
  case MOVE_SETTLE:
    act->kind = ACT_SETTLE;
    act->delivery = move->carrier + 1U;
    act->committed = move->committed;
    act->no_reply = !move->listens;
    break;
  default:
    act->kind = move->kind == MOVE_REWIND ? ACT_REWOUND : ACT_RESUMED;
    act->peer = move->other_host ? PEER_RIVAL : PEER_HOST;
    act->takeover = move->kind == MOVE_OPEN;
    act->has_deliveries = true;
    for (unsigned i = 0; i < MOST_CARRIERS; i++)
      if (move->carrier & 1u << i) act->deliveries[act->delivery_count++] = i + 1;
  }
}

/* -- both -------------------------------------------------------------------------------------- */

/* The place of a message matters only while it can still be offered again. */
static void drop_forgotten(struct view *view) {
  int64_t kept[VIEW_MESSAGES] = {0};
  for (unsigned i = 0, at = 0; i < view->submitted; i++) {
    int64_t number = view->order[i];
    bool is_over = message_is_over((unsigned)view->messages[number].state);
    if (!is_over || (view->run.turn | view->run.orphaned) >> number & 1) kept[at++] = number;
  }
  memcpy(view->order, kept, sizeof kept);
}

#define DIFFERS(field) (memcmp(&expected.field, &got.field, sizeof got.field) != 0)

const char *compare_with_oracle(const struct world *before, const struct world *after,
                                const struct setup *setup, const struct move *move,
                                const struct view_answer *answer) {
  static struct view from, expected, got;
  struct view_setup under = view_setup(setup);
  struct view_answer expected_answer;
  struct act act = {.kind = ACT_WAKE};
  if (move->kind >= MOVE_CRASH) return NULL; /* the machine has no part in these moves */
  act_of(before, move, &act);
  act.has_ids = !act_is_message(act.kind) && move->name_count;
  for (size_t i = 0; act.has_ids && i < move->name_count; i++)
    add_id(&act, id_of(before, move->names[i]));
  view_world(before, &from);
  view_world(after, &got);
  oracle_play(&from, &under, &act, &expected, &expected_answer);
  if (answer->error != expected_answer.error)
    return "the oracle answers with another error or none";
  if (answer->offer != expected_answer.offer)
    return "the oracle has an offer where there is none, or none";
  if (answer->abort != expected_answer.abort)
    return "the oracle stops a stream that goes on, or lets it go on";
  if (answer->stop != expected_answer.stop)
    return "the oracle ends a turn that goes on, or lets it go on";
  if (DIFFERS(run)) return "the oracle's run is another";
  if (DIFFERS(messages)) return "the oracle's messages are others";
  drop_forgotten(&got);
  drop_forgotten(&expected);
  if (DIFFERS(order)) return "the oracle's queue has another order";
  return memcmp(&expected, &got, sizeof got) != 0
             ? "the oracle's carriers, notification or host are others"
             : NULL;
}
