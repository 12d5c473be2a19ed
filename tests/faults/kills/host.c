/* SPDX-License-Identifier: MIT
 *
 * kills/host.c: the agent host: it leases, writes carriers with their delivery ids to its
 * transcript, and settles. After a kill it resumes its sessions and names the deliveries in its
 * transcript.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kills/roles.h"
#include "kills/turns.h"
#include "kit/arguments.h"

enum { UNSETTLED_MAX = 3, NAMED_MAX = 4096, NAMED_AGAIN = 5 };

struct host {
  struct rig *rig;
  struct board *board;
  struct random random;
  struct carrier_note *unsettled[UNSETTLED_MAX];
  size_t unsettled_count;
  struct lane lanes[BOARD_LANES];
};

/* Must the call be repeated? Only after BUSY, when others hold the writer lock. Any other error is
 * a failure. */
static bool again(struct host *host, int32_t code, const struct tidings_error *error,
                  const char *what) {
  if (code == 0) return false;
  if (code != TIDINGS_E_BUSY) die("%s: %s", what, rig_why(code, error));
  atomic_fetch_add(&host->board->busy, 1);
  usleep(1000);
  return true;
}

/* Names all deliveries without a known settle, and some settled ones, because a real transcript has
 * all. */
static void resume(struct host *host, unsigned session) {
  struct board *board = host->board;
  struct tidings_error error = RIG_ERROR;
  static uint64_t ids[NAMED_MAX];
  static struct carrier_note *notes[NAMED_MAX];
  size_t count = 0, settled = 0;
  char name[8];
  board_session(session, name);
  for (uint64_t i = board->carrier_count; i > 0 && count < NAMED_MAX; i--) {
    struct carrier_note *note = &board->carriers[i - 1];
    uint8_t state = atomic_load(&note->state);
    if (note->session != session || state == CARRIER_ABSENT) continue;
    if (state != CARRIER_WRITTEN && settled++ >= NAMED_AGAIN) continue;
    notes[count] = note;
    ids[count++] = note->delivery;
  }
  while (again(host, rig_attach(host->rig, name, ids, count, &error), &error, "session.resumed"))
    continue;
  for (size_t i = 0; i < count; i++) {
    if (atomic_load(&notes[i]->state) == CARRIER_WRITTEN)
      atomic_store(&notes[i]->state, CARRIER_RESUMED);
  }
  atomic_fetch_add(&board->resumes, 1);
}

/* Writes everything else before the state, which makes the carrier count. */
static struct carrier_note *write_carrier(struct board *board, unsigned session, uint64_t delivery,
                                          const struct tokens *tokens) {
  if (board->carrier_count >= BOARD_CARRIERS ||
      board->carried_count + tokens->count > (uint64_t)BOARD_TOKENS * 2)
    die("the transcript is full");
  struct carrier_note *note = &board->carriers[board->carrier_count];
  note->session = (uint8_t)session;
  note->delivery = delivery;
  note->first_token = board->carried_count;
  note->token_count = (uint32_t)tokens->count;
  memcpy(&board->carried[board->carried_count], tokens->at, tokens->count * sizeof(uint64_t));
  board->carried_count += tokens->count;
  board->carrier_count++;
  atomic_store(&note->state, CARRIER_WRITTEN);
  return note;
}

static void settle_one(struct host *host) {
  struct tidings_error error = RIG_ERROR;
  size_t i = random_below(&host->random, host->unsettled_count);
  struct carrier_note *note = host->unsettled[i];
  host->unsettled[i] = host->unsettled[--host->unsettled_count];
  while (again(host, rig_settle(host->rig, note->delivery, TIDINGS_COMMITTED, &error), &error,
               "settle"))
    continue;
  atomic_store(&note->state, CARRIER_SETTLED);
}

/* Returns whether there was anything to deliver. */
static bool deliver(struct host *host, unsigned session) {
  struct tidings_error error = RIG_ERROR;
  struct carried carried = {0};
  char name[8];
  board_session(session, name);
  enum rig_hook hook = random_chance(&host->random, 70) ? RIG_TOOL_RESULT : RIG_CHAT_REQUEST;
  while (again(host, rig_deliver(host->rig, name, hook, &carried, &error), &error, "a hook"))
    continue;
  if (carried.damaged) die("a notification that nobody pushed: %s", carried.sample);
  bool something = carried.delivery != 0;
  if (something && random_chance(&host->random, 10)) {
    while (again(host, rig_settle(host->rig, carried.delivery, TIDINGS_ROLLED_BACK, &error), &error,
                 "rolling back"))
      continue;
    atomic_fetch_add(&host->board->rolled_back, 1);
  } else if (something) {
    host->unsettled[host->unsettled_count++] =
        write_carrier(host->board, session, carried.delivery, &carried.tokens);
  }
  carried_clear(&carried);
  return something;
}

/* The same for a session with turns. */
static bool go_on(struct host *host, struct lane *lane) {
  struct lane_step step;
  while (again(host, lane_go_on(lane, host->rig, &host->random, &step), NULL, "a turn")) continue;
  if (step.delivery && random_chance(&host->random, 15)) {
    while (again(host, lane_roll_back(lane, host->rig, step.delivery), NULL, "rolling back"))
      continue;
    atomic_fetch_add(&host->board->rolled_back, 1);
  } else if (step.delivery) {
    host->unsettled[host->unsettled_count++] =
        write_carrier(host->board, lane->number, step.delivery, &step.carried);
  }
  tokens_free(&step.carried);
  return step.more;
}

_Noreturn void host_main(struct rig *rig, struct board *board, const char *store, uint64_t seed) {
  static struct host host;
  struct tidings_error error = RIG_ERROR;
  host = (struct host){.rig = rig, .board = board, .random = random_seeded(seed, 0)};
  while (again(&host, rig_open(rig, &(struct rig_open){.store = store}, &error), &error, "open"))
    continue;
  for (unsigned session = 0; session < BOARD_ALL_SESSIONS; session++) resume(&host, session);
  for (unsigned i = 0; i < BOARD_LANES; i++) {
    host.lanes[i].number = BOARD_SESSIONS + i;
    while (again(&host, lane_ask_again(&host.lanes[i], rig), NULL, "turn.declined")) continue;
  }
  for (unsigned quiet = 0; quiet < 3 * BOARD_ALL_SESSIONS;) {
    bool last = atomic_load(&board->drain);
    for (unsigned session = 0; session < BOARD_ALL_SESSIONS; session++) {
      while (host.unsettled_count == UNSETTLED_MAX ||
             (host.unsettled_count && random_chance(&host.random, 50)))
        settle_one(&host);
      bool something = session < BOARD_SESSIONS
                           ? deliver(&host, session)
                           : go_on(&host, &host.lanes[session - BOARD_SESSIONS]);
      quiet = last && !something ? quiet + 1 : 0;
    }
  }
  while (host.unsettled_count) settle_one(&host);
  int32_t code = rig_close(rig, &error);
  if (code != 0) die("the host cannot close: %s", rig_why(code, &error));
  exit(0);
}
