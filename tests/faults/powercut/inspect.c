/* SPDX-License-Identifier: MIT
 */
#include "powercut/inspect.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "kit/arguments.h"
#include "powercut/lanes.h"
#include "powercut/workload.h"

enum { DELIVERIES_MAX = 1024, NEW_TOKENS = 1000000, PUSHED_AGAIN = 4 };

enum due { NEVER_PUSHED, MAY_COME, MUST_COME, MUST_NOT_COME };

struct leased {
  uint64_t id, session;
  const uint64_t *tokens;
  size_t token_count;
  bool settling, settled,
      named; /* named: the host finds it in its transcript and names it on resuming */
  uint64_t outcome;
};

struct promises {
  uint8_t due[WORKLOAD_TOKENS]; /* by token: enum due */
  uint8_t session[WORKLOAD_TOKENS];
  uint8_t seen[WORKLOAD_TOKENS];
  bool identified[WORKLOAD_TOKENS];
  bool settling_now[WORKLOAD_TOKENS]; /* its delivery was being committed */
  uint8_t ended[WORKLOAD_TOKENS];     /* for a message without a carrier: MAY_COME while it ended,
                                       * MUST_NOT_COME afterwards */
  uint64_t last_token;
  struct leased leased[DELIVERIES_MAX];
  size_t leased_count;
};

struct inspection {
  struct rig *rig;
  struct promises *promises;
  struct random *random;
  struct tidings_error error;
  char *why;
};

static bool broken(struct inspection *inspection, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static bool broken(struct inspection *inspection, const char *format, ...) {
  va_list list;
  va_start(list, format);
  vsnprintf(inspection->why, 512, format, list);
  va_end(list);
  return false;
}

static struct leased *find_leased(struct promises *promises, uint64_t id) {
  for (size_t i = promises->leased_count; i > 0; i--) {
    if (promises->leased[i - 1].id == id) return &promises->leased[i - 1];
  }
  die("a settled delivery %" PRIu64 " that was never handed out", id);
}

static void read_mark(struct promises *promises, const struct trace *trace,
                      const struct trace_event *event) {
  switch ((enum mark)event->mark) {
  case MARK_PUSH:
    promises->due[event->inode] = MAY_COME;
    promises->session[event->inode] = (uint8_t)event->other;
    promises->identified[event->inode] = event->folder;
    if (promises->last_token < event->inode) promises->last_token = event->inode;
    break;
  case MARK_PUSHED: promises->due[event->inode] = MUST_COME; break;
  case MARK_LEASED:
    if (promises->leased_count == DELIVERIES_MAX) die("more than %d deliveries", DELIVERIES_MAX);
    promises->leased[promises->leased_count++] = (struct leased){
        .id = event->inode,
        .session = event->other,
        .tokens = (const uint64_t *)(const void *)(trace->arena + event->data),
        .token_count = event->length / sizeof(uint64_t),
    };
    break;
  case MARK_SETTLE:
    find_leased(promises, event->inode)->settling = true;
    find_leased(promises, event->inode)->outcome = event->other;
    break;
  case MARK_SETTLED: find_leased(promises, event->inode)->settled = true; break;
  case MARK_END: promises->ended[event->inode] = MAY_COME; break;
  case MARK_ENDED: promises->ended[event->inode] = MUST_NOT_COME; break;
  }
}

/* A notification that was handed out is durable, whatever its push returned. How its delivery ended
 * decides whether it comes again. */
static enum due due_of(const struct leased *leased) {
  if (leased->settled) return leased->outcome == TIDINGS_COMMITTED ? MUST_NOT_COME : MUST_COME;
  if (leased->named) return MUST_NOT_COME;
  return leased->settling && leased->outcome == TIDINGS_COMMITTED ? MAY_COME : MUST_COME;
}

static void read_promises(struct promises *promises, const struct trace *trace, size_t cut,
                          struct random *random) {
  for (size_t i = 0; i < cut; i++) {
    if (trace->events[i].kind == TRACE_MARK) read_mark(promises, trace, &trace->events[i]);
  }
  for (size_t i = 0; i < promises->leased_count; i++) {
    struct leased *leased = &promises->leased[i];
    bool in_transcript = leased->settling ? leased->outcome == TIDINGS_COMMITTED : true;
    leased->named = in_transcript && random_chance(random, 50);
    for (size_t k = 0; k < leased->token_count; k++) {
      promises->due[leased->tokens[k]] = (uint8_t)due_of(leased);
      promises->settling_now[leased->tokens[k]] = due_of(leased) == MAY_COME;
    }
  }
  for (size_t token = 0; token < WORKLOAD_TOKENS; token++) {
    if (promises->ended[token]) promises->due[token] = promises->ended[token];
  }
}

/* Pushes again with the same ids, like a producer that cannot know whether its push arrived: if it
 * did, this is a duplicate, otherwise a new notification. Only the newest pushes are tried, because
 * the cut is near them. */
static bool push_again(struct inspection *inspection) {
  struct promises *promises = inspection->promises;
  uint64_t token = promises->last_token;
  for (int tries = 0; token > 0 && tries < PUSHED_AGAIN; token--) {
    char name[8];
    bool duplicate = false;
    if (!promises->identified[token] || promises->due[token] == NEVER_PUSHED) continue;
    tries++;
    workload_session(promises->session[token], name);
    int32_t code = rig_push(inspection->rig, name, token, true, &duplicate, &inspection->error);
    if (code != 0)
      return broken(inspection, "pushing token %" PRIu64 " again: %s", token,
                    rig_why(code, &inspection->error));
    if (!duplicate && promises->due[token] != MAY_COME)
      return broken(inspection, "token %" PRIu64 " is not known any more as pushed", token);
    if (promises->due[token] == MAY_COME && !promises->settling_now[token])
      promises->due[token] = MUST_COME;
  }
  return true;
}

/* Makes the host return to a session: it names the deliveries in its transcript, or begins a new
 * conversation, or only makes its next hook call. */
static bool attach(struct inspection *inspection, unsigned session) {
  struct promises *promises = inspection->promises;
  uint64_t ids[DELIVERIES_MAX];
  size_t count = 0;
  char name[8];
  for (size_t i = 0; i < promises->leased_count; i++) {
    if (promises->leased[i].session == session && promises->leased[i].named)
      ids[count++] = promises->leased[i].id;
  }
  uint64_t way = random_below(inspection->random, 3);
  if (count == 0 && way == 0) return true;
  workload_session(session, name);
  int32_t code =
      rig_attach(inspection->rig, name, count || way == 1 ? ids : NULL, count, &inspection->error);
  return code == 0 ||
         broken(inspection, "resuming %s: %s", name, rig_why(code, &inspection->error));
}

static bool note(struct inspection *inspection, unsigned session, const struct carried *carried) {
  struct promises *promises = inspection->promises;
  if (carried->damaged)
    return broken(inspection, "a notification that nobody pushed: \"%s\"", carried->sample);
  for (size_t i = 0; i < carried->tokens.count; i++) {
    uint64_t token = carried->tokens.at[i];
    if (token >= WORKLOAD_TOKENS || promises->due[token] == NEVER_PUSHED)
      return broken(inspection, "token %" PRIu64 " was not pushed yet", token);
    if (promises->session[token] != session)
      return broken(inspection, "token %" PRIu64 " in session s%u", token, session);
    if (promises->seen[token]++) return broken(inspection, "token %" PRIu64 " twice", token);
    if (promises->due[token] == MUST_NOT_COME)
      return broken(inspection, "token %" PRIu64 " again, after its settle had returned OK", token);
  }
  return true;
}

static bool drain(struct inspection *inspection, unsigned session) {
  struct carried carried = {0};
  char name[8];
  bool good;
  workload_session(session, name);
  for (int round = 0;; round++) {
    int32_t code =
        rig_deliver(inspection->rig, name, RIG_TOOL_RESULT, &carried, &inspection->error);
    good = code == 0 ||
           broken(inspection, "delivering %s: %s", name, rig_why(code, &inspection->error));
    if (!good || carried.delivery == 0) break;
    good = note(inspection, session, &carried);
    if (!good) break;
    if (round > 0)
      good = broken(inspection, "session %s had more after everything was delivered", name);
    code = rig_settle(inspection->rig, carried.delivery, TIDINGS_COMMITTED, &inspection->error);
    if (code != 0)
      good = broken(inspection, "settling %s: %s", name, rig_why(code, &inspection->error));
    if (!good) break;
  }
  carried_clear(&carried);
  return good;
}

/* Takes the messages with which the queue starts turns, in the order of their submission. */
static bool drain_lane(struct inspection *inspection, unsigned session) {
  struct carried came = {0};
  char name[8];
  workload_session(session, name);
  bool good = lane_drain(name, inspection->rig, &came.tokens, inspection->why, 512) &&
              note(inspection, session, &came);
  for (size_t i = 1; good && i < came.tokens.count; i++) {
    if (came.tokens.at[i - 1] > came.tokens.at[i])
      good = broken(inspection, "message %" PRIu64 " came before %" PRIu64, came.tokens.at[i - 1],
                    came.tokens.at[i]);
  }
  carried_clear(&came);
  return good;
}

/* Checks that a new message starts a turn, alone. */
static bool submit_one_more(struct inspection *inspection) {
  struct heard heard = {0};
  char name[8];
  uint64_t token = NEW_TOKENS + random_below(inspection->random, NEW_TOKENS);
  workload_session(WORKLOAD_SESSIONS, name);
  int32_t code = turns_submit(inspection->rig, name, token, false, &heard, &inspection->error);
  bool good = code == 0 && heard.asked && heard.offered.count == 1 && heard.offered.at[0] == token;
  if (!good)
    broken(inspection, "what was submitted afterwards was not offered alone: %s",
           rig_why(code, &inspection->error));
  heard_clear(&heard);
  return good;
}

/* Checks that the store goes on: a new push arrives, alone. */
static bool push_one_more(struct inspection *inspection) {
  struct carried carried = {0};
  uint64_t token = NEW_TOKENS + random_below(inspection->random, NEW_TOKENS);
  int32_t code = rig_push(inspection->rig, "s1", token, true, NULL, &inspection->error);
  if (code != 0)
    return broken(inspection, "pushing afterwards: %s", rig_why(code, &inspection->error));
  code = rig_deliver(inspection->rig, "s1", RIG_CHAT_REQUEST, &carried, &inspection->error);
  bool good = code == 0 && carried.damaged == 0 && carried.tokens.count == 1 &&
              carried.tokens.at[0] == token;
  if (!good)
    broken(inspection, "what was pushed afterwards did not come alone: %s",
           rig_why(code, &inspection->error));
  carried_clear(&carried);
  return good;
}

static bool everything_came(struct inspection *inspection) {
  for (uint64_t token = 0; token < WORKLOAD_TOKENS; token++) {
    if (inspection->promises->due[token] == MUST_COME && !inspection->promises->seen[token]) {
      return broken(inspection,
                    "token %" PRIu64 " of session s%u is lost; its push had returned OK", token,
                    inspection->promises->session[token]);
    }
  }
  return true;
}

static bool inspect_open(struct inspection *inspection) {
  if (random_chance(inspection->random, 30) && !push_again(inspection)) return false;
  for (unsigned session = 0; session < WORKLOAD_SESSIONS; session++) {
    if (!attach(inspection, session) || !drain(inspection, session)) return false;
  }
  for (unsigned session = WORKLOAD_SESSIONS; session < WORKLOAD_ALL_SESSIONS; session++) {
    if (!attach(inspection, session) || !drain_lane(inspection, session)) return false;
  }
  return everything_came(inspection) && push_one_more(inspection) && submit_one_more(inspection);
}

bool inspect(struct rig *rig, const char *path, const struct trace *trace, size_t cut,
             struct random random, char *why) {
  struct inspection inspection = {.rig = rig, .random = &random, .error = RIG_ERROR, .why = why};
  inspection.promises = calloc(1, sizeof *inspection.promises);
  if (!inspection.promises) die("out of memory");
  read_promises(inspection.promises, trace, cut, &random);
  int32_t code = rig_open(rig, &(struct rig_open){.store = path}, &inspection.error);
  bool good = code == 0 || broken(&inspection, "open: %s", rig_why(code, &inspection.error));
  if (good) {
    good = inspect_open(&inspection);
    code = rig_close(rig, &inspection.error);
    if (good && code != 0)
      good = broken(&inspection, "close: %s", rig_why(code, &inspection.error));
  }
  free(inspection.promises);
  return good;
}
