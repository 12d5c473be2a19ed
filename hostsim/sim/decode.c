/* SPDX-License-Identifier: MIT
 *
 * sim/decode.c: decodes a step's bytes in the state in which the step is reached. Byte 0 chooses
 * the act; byte 1 chooses who does it, and whether an event is sent twice; the other bytes choose
 * values.
 */
#include "sim/schedule.h"

#include "sim/model/parts.h"

#include <string.h>

enum { FOLLOW = ACT_KINDS };

/* How many of 256 steps are of each kind. */
static const struct {
  uint8_t kind, weight;
} shares[] = {
    {ACT_NOTE, 35},
    {ACT_POLLED, 4},
    {ACT_SUBAGENT, 5},
    {ACT_SUBMIT, 33},
    {ACT_CANCEL, 8},
    {ACT_EDIT, 4},
    {ACT_MOVE, 5},
    {ACT_REDIRECT, 3},
    {ACT_STARTED, 7},
    {ACT_DECLINED, 6},
    {ACT_FINISHED, 12},
    {ACT_ABORTED, 5},
    {ACT_FAILED, 4},
    {ACT_RETRYING, 3},
    {ACT_WAITING, 3},
    {ACT_RESUME, 5},
    {ACT_STOP, 4},
    {ACT_STREAM_STARTED, 7},
    {ACT_STREAM_FINISHED, 3},
    {ACT_TOOLS_STARTED, 3},
    {ACT_TOOLS_FINISHED, 2},
    {ACT_TOOL_RESULT, 12},
    {ACT_CHAT_REQUEST, 8},
    {ACT_SETTLE, 14},
    {ACT_OPENED, 3},
    {ACT_RESUMED, 4},
    {ACT_REWOUND, 5},
    {ACT_FORKED, 2},
    {ACT_COMPACTING, 2},
    {ACT_COMPACTED, 4},
    {ACT_CLOSED, 1},
    {ACT_WAKE, 5},
    {ACT_CONFIGURE, 2},
    {ACT_CLOCK, 8},
    {ACT_SWAP, 1},
    {ACT_RESTART, 1},
    {ACT_CRASH, 1},
    {FOLLOW, 22},
};

static unsigned kind_of(uint8_t byte) {
  unsigned sum = 0;
  for (size_t i = 0; i < sizeof shares / sizeof shares[0]; i++) {
    sum += shares[i].weight;
    if (byte < sum) return shares[i].kind;
  }
  return FOLLOW;
}

static enum peer owner_or_host(const struct model *model) {
  return model_owner_lives(model) ? model->owner : PEER_HOST;
}

static enum peer who(uint8_t byte, const struct model *model, unsigned kind) {
  switch (byte & 15) {
  case 12: return PEER_HOST;
  case 13: return PEER_RIVAL;
  case 14: return PEER_PRODUCER;
  case 15: return kind <= ACT_STOP ? PEER_PRODUCER : PEER_HOST;
  default: return owner_or_host(model);
  }
}

/* -- ids --------------------------------------------------------------------------------------- */

static int any_message(const struct model *model, uint8_t byte) {
  unsigned pick = byte % (model->message_count + 1);
  return pick < model->message_count ? model->messages[pick].id : UNKNOWN_ID;
}

/* Chooses a message that is not over, if there is one. */
static int living_message(const struct model *model, uint8_t byte) {
  unsigned count = 0;
  for (unsigned pass = 0, seen = 0; pass < 2; pass++) {
    for (unsigned i = 0; i < model->message_count; i++) {
      if (model->messages[i].state > MESSAGE_LEASED) continue;
      if (pass == 0) count++;
      else if (seen++ == byte % count) return model->messages[i].id;
    }
    if (count == 0) break;
  }
  return any_message(model, byte);
}

static int some_message(const struct model *model, uint8_t how, uint8_t byte) {
  return (how & 3) == 0 ? any_message(model, byte) : living_message(model, byte);
}

static void add_id(struct act *act, int id) {
  for (unsigned i = 0; i < act->id_count; i++)
    if (act->ids[i] == id) return;
  if (act->id_count < ACT_IDS) act->ids[act->id_count++] = id;
}

/* Adds the messages of the offered or running turn, from `first` on. */
static void add_turn(struct act *act, const struct model *model, unsigned first, bool backwards) {
  unsigned count = model->run.turn_count;
  for (unsigned i = first; i < count; i++)
    add_id(act, model->messages[model->run.turn[backwards ? count - 1 - i : i]].id);
}

/* Adds messages that fired together, in a turn that may be over. */
static void add_past_turn(struct act *act, const struct model *model, uint8_t byte) {
  unsigned turn = 0;
  for (unsigned i = 0; i < model->message_count; i++) {
    const struct model_message *message = &model->messages[(i + byte) % model->message_count];
    bool fired = message->state == MESSAGE_FIRED && (turn == 0 || message->turn == turn);
    if (fired) {
      turn = message->turn;
      add_id(act, message->id);
    }
  }
}

static void choose_ids(struct act *act, const struct model *model, uint8_t how, uint8_t byte) {
  act->has_ids = true;
  switch (how & 15) {
  case 0:
  case 1:
  case 2:
  case 3: act->has_ids = false; return;
  case 10: add_turn(act, model, 0, true); break;
  case 11: add_turn(act, model, 1, false); break;
  case 12:
    add_turn(act, model, 0, false);
    add_id(act, any_message(model, byte));
    break;
  case 13: add_past_turn(act, model, byte); break;
  case 14: add_id(act, any_message(model, byte)); break;
  case 15:
    add_id(act, any_message(model, byte));
    add_id(act, living_message(model, (uint8_t)(byte >> 3)));
    break;
  default: add_turn(act, model, 0, false);
  }
  act->has_ids = act->id_count > 0;
}

/* -- deliveries -------------------------------------------------------------------------------- */

static uint64_t leased_delivery(const struct model *model, bool oldest) {
  uint64_t found = 0;
  for (unsigned i = 0; i < model->delivery_count; i++)
    if (model->deliveries[i].state == DELIVERY_LEASED && model->deliveries[i].public_id != 0 &&
        (found == 0 || !oldest))
      found = model->deliveries[i].public_id;
  return found;
}

/* Chooses a delivery that has existed at some time, or one that never existed. */
static uint64_t any_delivery(const struct model *model, uint8_t byte) {
  unsigned pick = byte % (model->delivery_count + 1);
  uint64_t id = pick < model->delivery_count ? model->deliveries[pick].public_id : 0;
  return id != 0 ? id : UINT64_MAX >> 8;
}

static void choose_delivery(struct act *act, const struct model *model, uint8_t how, uint8_t byte) {
  uint64_t leased = leased_delivery(model, (how & 3) == 1);
  act->delivery = (how & 3) == 0 || leased == 0 ? any_delivery(model, byte) : leased;
  act->committed = (how >> 2 & 3) != 0;
}

static void choose_deliveries(struct act *act, const struct model *model, uint8_t how,
                              uint8_t byte) {
  act->has_deliveries = (how & 3) != 0 || act->kind == ACT_REWOUND;
  act->rewound = act->kind == ACT_RESUMED && act->has_deliveries && (how >> 4) < 6;
  unsigned first = model->delivery_count > 8 ? model->delivery_count - 8 : 0;
  for (unsigned i = first; act->has_deliveries && i < model->delivery_count; i++)
    if ((byte >> (i - first) & 1) != 0 && model->deliveries[i].public_id != 0)
      act->deliveries[act->delivery_count++] = model->deliveries[i].public_id;
  if (act->has_deliveries && (how & 12) == 12)
    act->deliveries[act->delivery_count++] = UINT64_MAX >> 8;
}

/* -- acts -------------------------------------------------------------------------------------- */

static void decode_note(struct act *act, const struct model *model, const uint8_t *step) {
  static const int64_t lifetimes[] = {1, 1000, 60000, 3600000},
                       delays[] = {-1000, 999, 5000, 60000};
  act->note = step[2] % NOTE_KINDS;
  act->level = (step[3] & 7) < 3 ? 0 : (step[3] & 7) < 5 ? 1 : (step[3] & 7) == 5 ? 2 : 3;
  act->activation = (step[3] >> 4) < 11 ? PASSIVE : (step[3] >> 4) < 14 ? ASKS_IDLE : INTERRUPTS;
  act->key = (step[4] & 3) == 0 ? (uint8_t)(1 + (step[4] >> 2 & 1)) : 0;
  act->handle = (step[4] >> 4 & 3) == 0 ? (uint8_t)(1 + (step[4] >> 6 & 1)) : 0;
  if ((step[3] >> 4) == 10 && act->key != 0) act->activation = SILENT;
  if ((step[6] >> 3 & 7) == 0) act->due_ms = model->now_ms + delays[step[6] >> 6];
  act->ttl_ms = (step[5] & 7) == 0 ? lifetimes[step[5] >> 3 & 3] : 0;
  act->caused_by = (step[5] >> 5) == 0;
}

static void decode_message(struct act *act, const struct model *model, const uint8_t *step) {
  act->id = some_message(model, step[2], step[3]);
  if (act->kind == ACT_SUBMIT) {
    act->id = (step[2] & 7) != 0 ? (int)act->serial : act->id >= SYSTEM_ID ? UNKNOWN_ID : act->id;
    act->steer = (step[4] & 3) == 0;
    act->resume = (step[4] >> 2 & 3) == 0;
    act->trigger = (step[4] >> 4 & 3) == 0;
  } else if (act->kind == ACT_REDIRECT) {
    act->steer = (step[4] & 3) != 0;
  } else if (act->kind == ACT_MOVE && (step[4] & 3) != 0) {
    act->before = some_message(model, step[4] >> 2, step[5]);
    act->before = act->before == act->id ? 0 : act->before;
  }
}

/* Is there an item for later? If the clock is set back, its time may be in the future although it
 * was shown, and then it is not defined which of two items is newer. */
static bool has_due(const struct model *model) {
  for (unsigned i = 0; i < model->item_count; i++)
    if (model->items[i].due_ms != 0) return true;
  return false;
}

static void decode_clock(struct act *act, const struct model *model, const uint8_t *step,
                         int64_t start_ms) {
  static const int64_t jumps[] = {1,     10,    999,    1000,    5000,     59999, 60000, -1,
                                  -1000, -5000, -60000, 3600000, -3600000, 1,     1000,  20};
  enum { FARTHEST_MS = 36000000 }; /* less than the time for which the store remembers event ids */
  act->clock_ms = jumps[step[2] & 15];
  if (act->clock_ms < 0 && has_due(model)) act->clock_ms = -act->clock_ms;
  int64_t then = model->now_ms + act->clock_ms - start_ms;
  if (then > FARTHEST_MS || then < -FARTHEST_MS)
    act->clock_ms = has_due(model) ? 0 : start_ms - model->now_ms;
}

/* Never kills this process itself. */
static void decode_fault(struct act *act, const uint8_t *step, bool separate) {
  act->peer = (step[2] & 3) == 0                ? PEER_PRODUCER
              : (step[2] & 3) == 1 || !separate ? PEER_RIVAL
                                                : PEER_HOST;
  if (act->kind != ACT_CRASH && (step[2] & 4) != 0) act->peer = PEER_HOST;
  act->in_place = act->kind == ACT_RESTART && act->peer == PEER_HOST && !separate;
}

static void follow(struct act *act, const struct model *model, const uint8_t *step) {
  enum act_kind when_busy[] = {ACT_TOOL_RESULT, ACT_FINISHED, ACT_STREAM_STARTED, ACT_TOOL_RESULT};
  const struct model_run *run = &model->run;
  uint64_t leased = leased_delivery(model, true);
  act->peer = owner_or_host(model);
  if (!model_owner_lives(model)) {
    act->kind = ACT_OPENED;
  } else if (run->compacting && (step[2] & 1) != 0) {
    act->kind = ACT_COMPACTED;
  } else if (leased != 0 && (step[2] & 6) == 6) {
    act->kind = ACT_SETTLE;
    act->delivery = leased;
    act->committed = true;
  } else if (run->state == STARTING && run->offer_known) {
    act->kind = (step[2] & 24) == 0 ? ACT_STARTED : ACT_CHAT_REQUEST;
    add_turn(act, model, 0, false);
    act->has_ids = act->id_count > 0;
  } else if (run->state == BUSY) {
    act->kind = (run->aborted && run->phase == PHASE_STREAMING) || run->stop == STOP_GIVEN
                    ? ACT_ABORTED
                    : when_busy[step[3] & 3];
  } else {
    act->kind = run->state == RETRYING || run->state == WAITING ? ACT_STREAM_STARTED
                : run->state == FAILED                          ? ACT_RESUME
                                                                : ACT_WAKE;
  }
}

/* Chooses the time of an event: about the start of the running turn, or now. 0: the event states no
 * time. */
static int64_t time_of(const struct model *model, uint8_t byte) {
  bool running = model->run.started_ms != 0 && (byte & 4) == 0;
  int64_t at_ms = (running ? model->run.started_ms : model->now_ms) + (byte >> 3 & 3) - 2;
  return (byte & 3) == 0 && at_ms > 0 ? at_ms : 0;
}

static void decode_kind(struct act *act, const struct model *model, const uint8_t *step,
                        bool separate) {
  uint8_t head[SCHEDULE_HEAD] = {0, step[2], step[3], step[4], 0, step[5], step[6], 0};
  switch (act->kind) {
  case ACT_NOTE: decode_note(act, model, step); break;
  case ACT_POLLED: act->handle = (uint8_t)(1 + (step[2] & 1)); break;
  case ACT_SUBMIT:
  case ACT_CANCEL:
  case ACT_EDIT:
  case ACT_MOVE:
  case ACT_REDIRECT: decode_message(act, model, step); break;
  case ACT_STOP:
  case ACT_STARTED:
  case ACT_DECLINED:
  case ACT_FINISHED:
  case ACT_ABORTED:
  case ACT_FAILED:
  case ACT_RETRYING:
  case ACT_WAITING:
  case ACT_CHAT_REQUEST: choose_ids(act, model, step[2], step[3]); break;
  case ACT_SETTLE: choose_delivery(act, model, step[2], step[3]); break;
  case ACT_RESUMED:
  case ACT_REWOUND: choose_deliveries(act, model, step[2], step[3]); break;
  case ACT_CONFIGURE: schedule_settings(head, &act->settings); break;
  case ACT_CLOCK: decode_clock(act, model, step, model->start_ms); break;
  case ACT_SWAP:
  case ACT_RESTART:
  case ACT_CRASH: decode_fault(act, step, separate); break;
  default: break;
  }
  if (act->kind == ACT_OPENED || act->kind == ACT_RESUMED) act->takeover = (step[4] & 3) == 0;
  if (act->kind == ACT_STARTED || act->kind == ACT_ABORTED) act->at_ms = time_of(model, step[5]);
  act->attempt = 1u + (step[4] & 3);
  act->has_words = (step[5] & 1) != 0;
}

/* Chooses the room: unlimited, any number, exactly the bytes of some of the lines, or one byte
 * less. If the host becomes the owner by this call, it may find more pending items than there are
 * now. */
static uint32_t room_of(const struct model *model, enum peer peer, uint8_t byte) {
  uint32_t any = ROOM_FOR_ONE + byte, room = 0;
  if ((byte & 1) == 0) return 0;
  if ((byte & 7) == 1) return ROOM_FOR_NONE;
  if ((byte & 7) != 3 && model_owner_is(model, peer))
    room = items_room(model, &model->peers[peer].settings, 1u + (byte >> 4), byte >> 3 & 1);
  return room > 0 ? room : any;
}

void schedule_decode(const uint8_t step[SCHEDULE_STEP], uint32_t serial, const struct model *model,
                     bool separate, struct act *ret_act) {
  unsigned kind = kind_of(step[0]);
  struct act *act = ret_act;
  memset(act, 0, sizeof *act);
  act->serial = serial;
  if (kind == FOLLOW) {
    follow(act, model, step);
    return;
  }
  act->kind = (enum act_kind)kind;
  act->peer = who(step[1], model, kind);
  decode_kind(act, model, step, separate);
  /* It is not defined whether a repeated event of a host that is not the owner is refused or a
   * duplicate. */
  bool counts = act_is_notification(act->kind) || act_is_message(act->kind) ||
                act->kind == ACT_STOP ||
                (act_is_event(act->kind) && model_owner_is(model, act->peer));
  act->seen = counts && (step[1] >> 4) < 3 ? (uint8_t)(1 + (step[6] & 7)) : 0;
  /* About one such call in 43 is killed in its first or second commit. */
  bool can_die = act->kind < ACT_CONFIGURE && (separate || act->peer != PEER_HOST);
  act->dies_in = can_die && step[7] >= 250 ? 1 + (step[7] & 1) : 0;
  if (act_is_hook(act->kind)) act->room = room_of(model, act->peer, step[6]);
}

bool schedule_follow(const struct model *model, uint32_t serial, struct act *ret_act) {
  static const uint8_t settles[SCHEDULE_STEP] = {0, 0, 31, 1},
                       goes_on[SCHEDULE_STEP] = {0, 0, 25, 1};
  memset(ret_act, 0, sizeof *ret_act);
  ret_act->serial = serial;
  const struct model_run *run = &model->run;
  bool leased = leased_delivery(model, true) != 0;
  follow(ret_act, model, leased ? settles : goes_on);
  if (ret_act->kind != ACT_WAKE) return true;
  if (run->state == IDLE && message_waiting(model, MESSAGE_QUEUED, NULL) > 0) {
    ret_act->kind = ACT_RESUME;
    return true;
  }
  return run->state == STARTING;
}

bool schedule_deliver(const struct model *model, uint32_t serial, struct act *ret_act) {
  bool pending = false;
  for (unsigned i = 0; i < model->item_count; i++)
    pending = pending || (model->items[i].held == PENDING && items_is_due(model, &model->items[i]));
  memset(ret_act, 0, sizeof *ret_act);
  ret_act->serial = serial;
  ret_act->kind = ACT_TOOL_RESULT;
  ret_act->peer = owner_or_host(model);
  return pending && model_owner_lives(model);
}
