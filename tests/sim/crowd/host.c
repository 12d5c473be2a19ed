/* SPDX-License-Identifier: MIT
 *
 * crowd/host.c: a host of the shared conversation. It takes the session, also from the other host,
 * and runs the turns that it is asked for. A delivery counts as soon as it is in the transcript.
 * Only the transcript's current writer may write to it. The next host names the deliveries in it.
 */
#include "crowd.h"

#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NAMED = 512, PATIENCE_MS = 50 };

struct turn { /* what the host is asked to start */
  bool asked;
  unsigned count;
  char ids[CARRIED_MAX][ID_SIZE];
};

struct host {
  struct part *part;
  int descriptor;
  bool owns;
  struct turn turn;
};

static void maybe_die(struct host *host) {
  if (host->part->mortal && random_below(&host->part->random, 400) == 0) kill(getpid(), SIGKILL);
}

/* Takes the reply over, and notes what it asks the host to do next. */
static void heed(struct host *host, struct tidings_reply *reply) {
  for (size_t i = 0; reply && i < reply->action_count; i++) {
    const struct tidings_action *action = reply->actions[i];
    if (action->type != TIDINGS_ACTION_START_TURN) continue;
    if (action->message_count == 0 || action->message_count > CARRIED_MAX)
      wrong("a turn of %zu messages is offered", action->message_count);
    host->turn.asked = true;
    host->turn.count = (unsigned)action->message_count;
    for (size_t m = 0; m < action->message_count; m++) {
      (void)snprintf(host->turn.ids[m], sizeof host->turn.ids[m], "%.*s",
                     (int)action->messages[m]->id.len, action->messages[m]->id.ptr);
    }
  }
  hostkit_reply_free(reply);
}

/* Should the call be repeated, because another process is writing? After a kill, a process that
 * waits for the writer lock may sleep until its budget is used up. */
static bool is_worth_again(int32_t code, unsigned *tries) {
  enum { TRIES = 4 };
  return code == TIDINGS_E_BUSY && ++*tries < TRIES;
}

/* Has another host taken the session, or does no host have it? Any other error is wrong. */
static bool lost(struct host *host, int32_t code, const char *what) {
  if (code == 0) return false;
  if (code != TIDINGS_E_CLOSED && code != TIDINGS_E_OWNED && code != TIDINGS_E_BUSY)
    wrong("%s: %s: %s", what, hostkit_error_name(code), last_error.text);
  host->owns = false;
  host->turn.asked = false;
  return true;
}

/* -- the transcript ---------------------------------------------------------------------------- */

/* Returns the note of a message that may be delivered now. NULL: the message is the plugin's own
 * and has no note. */
static struct note *find_note(struct board *board, const char *id) {
  if (strncmp(id, "tidings:", strlen("tidings:")) == 0) return NULL;
  char *rest = NULL;
  unsigned long submitter = strtoul(id, &rest, 10);
  unsigned long n = *rest == '-' ? strtoul(rest + 1, &rest, 10) : MESSAGES_EACH;
  if (*rest != '\0' || submitter >= SUBMITTERS || n >= MESSAGES_EACH)
    wrong("message \"%s\" was never submitted", id);
  struct note *note = note_of(board, (unsigned)submitter, n);
  uint8_t state = atomic_load(&note->state);
  if (state == NOTE_UNUSED || state == NOTE_CANCELLED) {
    wrong("message %s is delivered, which was %s", id,
          state == NOTE_UNUSED ? "never submitted" : "cancelled");
  }
  if (atomic_load(&note->delivered) != 0) wrong("message %s is delivered twice", id);
  return note;
}

/* With the lock held. */
static void write_carrier(struct board *board, uint64_t delivery, const char (*ids)[ID_SIZE],
                          unsigned count) {
  if (board->carrier_count == CARRIERS) wrong("the transcript is full");
  struct carrier *carrier = &board->carriers[board->carrier_count];
  carrier->delivery = delivery;
  carrier->count = 0;
  for (unsigned i = 0; i < count; i++) {
    struct note *note = find_note(board, ids[i]);
    if (note) carrier->notes[carrier->count++] = note;
  }
  atomic_thread_fence(memory_order_seq_cst);
  board->carrier_count++;
  atomic_thread_fence(memory_order_seq_cst);
  board_mark_newest(board);
}

/* Writes a carrier with messages to the transcript and settles it, or rolls it back. False: the
 * session belongs to another host now. */
static bool send_carrier(struct host *host, uint64_t delivery, const char (*ids)[ID_SIZE],
                         unsigned count, bool starts_turn) {
  struct board *board = host->part->board;
  bool gives_back = random_chance(&host->part->random, 8);
  board_lock(board);
  bool mine = board->writer == (int)host->part->number;
  if (mine && starts_turn && board->running) wrong("a second turn starts while one runs");
  if (mine && starts_turn) {
    board->running = true;
    atomic_fetch_add(&board->turns, 1);
  }
  if (mine && !gives_back) write_carrier(board, delivery, ids, count);
  board_unlock(board);
  maybe_die(host);
  if (!mine || gives_back) atomic_fetch_add(&board->rolled_back, 1);
  struct tidings_reply *reply = NULL;
  int32_t code = hostkit_settle(host->part->hostkit, delivery,
                                mine && !gives_back ? TIDINGS_COMMITTED : TIDINGS_ROLLED_BACK,
                                &reply, &last_error);
  if (code == TIDINGS_E_STATE && mine && !gives_back) { /* the other host has named it since */
    code = TIDINGS_E_CLOSED;
  } else if (code == TIDINGS_E_BUSY) { /* the plugin remembers the outcome: the next call settles */
    code = 0;
  }
  heed(host, reply);
  if (!lost(host, code, "settle") && !mine) (void)lost(host, TIDINGS_E_CLOSED, "the transcript");
  return host->owns;
}

/* -- turns ------------------------------------------------------------------------------------- */

static bool request(struct host *host) {
  struct tidings_span spans[CARRIED_MAX];
  const struct tidings_span *ids[CARRIED_MAX];
  struct tidings_reply *reply = NULL;
  struct turn turn = host->turn;
  for (unsigned i = 0; i < turn.count; i++) {
    spans[i] = (struct tidings_span){turn.ids[i], strlen(turn.ids[i])};
    ids[i] = &spans[i];
  }
  const struct tidings_chat_request chat = {.size = sizeof chat,
                                            .session = {SESSION, strlen(SESSION)},
                                            .content = {"go", 2},
                                            .messages = ids,
                                            .message_count = turn.count};
  unsigned tries = 0;
  int32_t code;
  host->turn.asked = false;
  do {
    code = hostkit_chat_request(host->part->hostkit, &chat, &reply, &last_error);
  } while (is_worth_again(code, &tries));
  if (code == TIDINGS_E_FIRED || code == TIDINGS_E_NOT_FOUND || code == TIDINGS_E_STATE) {
    atomic_fetch_add(&host->part->board->refused,
                     1); /* one of them was cancelled, or the other host was here */
    return false;
  }
  if (lost(host, code, "chat request")) return false;
  uint64_t delivery = reply->delivery_id;
  heed(host, reply);
  if (delivery == 0) wrong("a chat request with messages has no delivery id");
  return send_carrier(host, delivery, (const char(*)[ID_SIZE])turn.ids, turn.count, true);
}

static bool use_tool(struct host *host) {
  static char ids[CARRIED_MAX][ID_SIZE];
  struct tidings_reply *reply = NULL;
  const struct tidings_tool_result result = {
      .size = sizeof result, .session = {SESSION, strlen(SESSION)}, .content = {"ok", 2}};
  unsigned tries = 0;
  int32_t code;
  do {
    code = hostkit_tool_result(host->part->hostkit, &result, &reply, &last_error);
  } while (is_worth_again(code, &tries));
  if (lost(host, code, "tool result")) return false;
  uint64_t delivery = reply ? reply->delivery_id : 0;
  unsigned count = reply ? (unsigned)reply->steered_count : 0;
  if (count > CARRIED_MAX) wrong("%u messages are steered", count);
  for (unsigned i = 0; i < count; i++) {
    (void)snprintf(ids[i], sizeof ids[i], "%.*s", (int)reply->steered[i]->len,
                   reply->steered[i]->ptr);
  }
  atomic_fetch_add(&host->part->board->steered, count);
  heed(host, reply);
  return delivery == 0 || send_carrier(host, delivery, (const char(*)[ID_SIZE])ids, count, false);
}

static void report(struct host *host, const char *type) {
  struct tidings_reply *reply = NULL;
  unsigned tries = 0;
  int32_t code;
  do {
    code = part_event(host->part, &reply, "{\"type\":\"%s\",\"session\":\"" SESSION "\"}", type);
  } while (is_worth_again(code, &tries));
  if (!lost(host, code, type)) heed(host, reply);
}

static void run_turn(struct host *host) {
  struct board *board = host->part->board;
  bool goes_on = request(host);
  if (!goes_on) return;
  for (uint64_t uses = random_below(&host->part->random, 4); uses > 0 && goes_on; uses--)
    goes_on = use_tool(host);
  board_lock(board);
  if (board->writer == (int)host->part->number) board->running = false;
  board_unlock(board);
  maybe_die(host);
  if (!goes_on) return;
  const char *end = random_chance(&host->part->random, 20) ? "turn.aborted" : "turn.finished";
  report(host, end);
}

/* -- whose session it is ----------------------------------------------------------------------- */

/* Names the end of the transcript: everything before it was settled. */
static void come(struct host *host, bool takes_over) {
  static char deliveries[NAMED * 24];
  struct board *board = host->part->board;
  struct tidings_reply *reply = NULL;
  size_t len = 0;
  board_lock(board);
  int writer = board->writer;
  board->writer = NOBODY; /* if this host dies now, the other must not write because of an earlier
                           * answer */
  uint64_t first = board->carrier_count > NAMED ? board->carrier_count - NAMED : 0;
  deliveries[0] = '\0';
  for (uint64_t i = first; i < board->carrier_count; i++) {
    len += (size_t)snprintf(deliveries + len, sizeof deliveries - len, "%s\"%" PRIu64 "\"",
                            i > first ? "," : "", board->carriers[i].delivery);
  }
  int32_t code = part_event(host->part, &reply,
                            "{\"type\":\"session.resumed\",\"session\":\"" SESSION
                            "\",\"data\":{\"takeover\":%s,\"deliveries\":[%s]}}",
                            takes_over ? "true" : "false", deliveries);
  if (code == 0) {
    atomic_fetch_add(takes_over ? &board->takeovers : &board->recoveries, 1);
    board->writer = (int)host->part->number;
    board->running = false;
    host->owns = true;
  } else {
    board->writer = writer;
  }
  board_unlock(board);
  if (code != 0 && code != TIDINGS_E_OWNED && code != TIDINGS_E_BUSY)
    wrong("session.resumed: %s: %s", hostkit_error_name(code), last_error.text);
  if (code == 0) heed(host, reply);
}

/* Sleeps until the session rings, or for a while. */
static void wait_for_ring(struct host *host) {
  char session[256];
  size_t len = 1;
  struct pollfd ring = {.fd = host->descriptor, .events = POLLIN};
  (void)poll(&ring, 1, PATIENCE_MS);
  while (len > 0) {
    if (hostkit_next_session(host->part->hostkit, session, sizeof session, &len, &last_error) != 0)
      wrong("next session: %s", last_error.text);
  }
}

_Noreturn void host_main(struct part *part) {
  static struct host host;
  host = (struct host){.part = part};
  part_open(part, TIDINGS_ROLE_HOST);
  if (hostkit_wake_descriptor(part->hostkit, &host.descriptor, &last_error) != 0)
    wrong("wake descriptor: %s", last_error.text);
  while (!atomic_load(&part->board->leave)) {
    if (!host.owns) {
      come(&host, random_below(&part->random, 100) == 0);
      if (!host.owns) usleep(1000);
    } else if (host.turn.asked) {
      run_turn(&host);
    } else {
      wait_for_ring(&host);
      report(&host, "wake");
    }
  }
  close(host.descriptor);
  part_leave(part);
}
