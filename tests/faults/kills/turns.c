/* SPDX-License-Identifier: MIT
 */
#include "kills/turns.h"

#include "kit/arguments.h"

static void hear(struct lane *lane, struct heard *heard) {
  if (heard->damaged) die("a message that nobody submitted: %s", heard->sample);
  if (!heard->asked) return;
  if (lane->runs) die("the host of a running turn was asked to start another");
  tokens_free(&lane->offered);
  lane->offered = heard->offered;
  heard->offered = (struct tokens){0};
}

static int32_t check(int32_t code, const struct tidings_error *error, const char *what) {
  if (code != 0 && code != TIDINGS_E_BUSY) die("%s: %s", what, rig_why(code, error));
  return code;
}

static int32_t say(struct lane *lane, struct rig *rig, const char *type) {
  struct tidings_error error = RIG_ERROR;
  struct heard heard = {0};
  char name[8];
  board_session(lane->number, name);
  int32_t code = check(turns_event(rig, name, type, NULL, &heard, &error), &error, type);
  if (code == 0) hear(lane, &heard);
  heard_clear(&heard);
  return code;
}

static int32_t take_offer(struct lane *lane, struct rig *rig, struct lane_step *ret_step) {
  struct tidings_error error = RIG_ERROR;
  struct heard heard = {0};
  char name[8];
  board_session(lane->number, name);
  int32_t code = check(turns_request(rig, name, &lane->offered, &heard, &error), &error,
                       "a request with messages");
  if (code == 0) {
    *ret_step =
        (struct lane_step){.delivery = heard.delivery, .carried = lane->offered, .more = true};
    lane->offered = (struct tokens){0};
    lane->runs = true;
  }
  heard_clear(&heard);
  return code;
}

static int32_t steer(struct lane *lane, struct rig *rig, struct lane_step *ret_step) {
  struct tidings_error error = RIG_ERROR;
  struct heard heard = {0};
  char name[8];
  board_session(lane->number, name);
  int32_t code = check(turns_result(rig, name, &heard, &error), &error, "a tool result");
  if (code == 0) {
    *ret_step =
        (struct lane_step){.delivery = heard.delivery, .carried = heard.steered, .more = true};
    heard.steered = (struct tokens){0};
  }
  heard_clear(&heard);
  return code;
}

int32_t lane_go_on(struct lane *lane, struct rig *rig, struct random *random,
                   struct lane_step *ret_step) {
  *ret_step = (struct lane_step){.more = true};
  if (lane->offered.count) return take_offer(lane, rig, ret_step);
  if (lane->runs && random_chance(random, 50)) return steer(lane, rig, ret_step);
  if (lane->runs) {
    lane->runs = false;
    int32_t code = say(lane, rig, random_chance(random, 80) ? "turn.finished" : "turn.aborted");
    lane->runs = code != 0;
    return code;
  }
  int32_t code = say(lane, rig, random_chance(random, 30) ? "wake" : "turn.resume");
  ret_step->more = lane->offered.count > 0;
  return code;
}

int32_t lane_ask_again(struct lane *lane, struct rig *rig) {
  lane->runs = false;
  lane->offered.count = 0;
  return say(lane, rig, "turn.declined");
}

int32_t lane_roll_back(struct lane *lane, struct rig *rig, uint64_t delivery) {
  struct tidings_error error = RIG_ERROR;
  struct heard heard = {0};
  int32_t code = check(turns_settle(rig, delivery, TIDINGS_ROLLED_BACK, &heard, &error), &error,
                       "rolling a request back");
  if (code == 0) hear(lane, &heard);
  heard_clear(&heard);
  return code;
}
