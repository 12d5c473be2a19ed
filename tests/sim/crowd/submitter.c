/* SPDX-License-Identifier: MIT
 *
 * crowd/submitter.c: submits messages as fast as they are delivered, a third of them into the
 * running turn, and takes some back.
 */
#include "crowd.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
  AHEAD = 24
}; /* how many may wait: enough to have an order, but few enough to wait only shortly */

/* After a kill sends the same event again; the answer says whether it was stored. */
static void submit(struct part *part, uint64_t n) {
  struct note *note = note_of(part->board, part->number, n);
  struct tidings_reply *reply = NULL;
  const char *how = random_chance(&part->random, 33) ? "steer" : "queue";
  int32_t code;
  atomic_store(&note->state, NOTE_BEGUN);
  do {
    code = part_event(part, &reply,
                      "{\"type\":\"message.submitted\",\"session\":\"" SESSION
                      "\",\"source\":\"s%u\",\"id\":\"%" PRIu64 "\","
                      "\"data\":{\"id\":\"%u-%" PRIu64
                      "\",\"content\":\"do it\",\"delivery\":\"%s\"}}",
                      part->number, n, part->number, n, how);
    hostkit_reply_free(reply);
  } while (code == TIDINGS_E_BUSY);
  if (code != 0 && code != TIDINGS_E_FIRED && code != TIDINGS_E_STATE)
    wrong("message.submitted: %s", last_error.text);
  atomic_store(&note->state, NOTE_ACKNOWLEDGED);
  atomic_fetch_add(&part->board->acknowledged, 1);
}

static void cancel(struct part *part, uint64_t n) {
  struct note *note = note_of(part->board, part->number, n);
  struct tidings_reply *reply = NULL;
  int32_t code;
  if (atomic_load(&note->state) != NOTE_ACKNOWLEDGED) return;
  atomic_store(&note->state, NOTE_CANCELLING);
  do {
    code = part_event(part, &reply,
                      "{\"type\":\"message.cancelled\",\"session\":\"" SESSION
                      "\",\"data\":{\"id\":\"%u-%" PRIu64 "\"}}",
                      part->number, n);
    hostkit_reply_free(reply);
  } while (code == TIDINGS_E_BUSY);
  if (code == 0) {
    atomic_store(&note->state, NOTE_CANCELLED);
    atomic_fetch_add(&part->board->cancelled, 1);
    if (atomic_load(&note->delivered) > 0)
      wrong("message %u-%" PRIu64 " was cancelled after it had been delivered", part->number, n);
  } else if (code == TIDINGS_E_FIRED) {
    atomic_store(&note->state, NOTE_ACKNOWLEDGED);
  } else {
    wrong("message.cancelled: %s", last_error.text);
  }
}

static bool has_room(const struct part *part, uint64_t n) {
  unsigned waiting = 0;
  for (uint64_t i = n > 256 ? n - 256 : 0; i < n; i++) {
    const struct note *note = note_of(part->board, part->number, i);
    waiting += atomic_load(&note->state) == NOTE_ACKNOWLEDGED && atomic_load(&note->delivered) == 0;
  }
  return waiting < AHEAD;
}

_Noreturn void submitter_main(struct part *part) {
  struct board *board = part->board;
  part_open(part, TIDINGS_ROLE_PRODUCER);
  while (!atomic_load(&board->stop)) {
    uint64_t n = atomic_load(&board->next[part->number]);
    if (n == MESSAGES_EACH) wrong("the notes are full");
    if (!has_room(part, n)) {
      usleep(200);
      continue;
    }
    submit(part, n);
    atomic_store(&board->next[part->number], n + 1);
    if (random_chance(&part->random, 5))
      cancel(part, n - random_below(&part->random, n < AHEAD ? n + 1 : AHEAD));
    if (random_chance(&part->random, 2)) {
      struct tidings_reply *reply = NULL;
      (void)part_event(part, &reply,
                       "{\"type\":\"notification\",\"session\":\"" SESSION
                       "\",\"data\":{\"kind\":\"ci.broken\",\"level\":\"critical\","
                       "\"message\":\"It burns.\"}}");
      hostkit_reply_free(reply);
    }
  }
  part_leave(part);
}
