/* SPDX-License-Identifier: MIT
 *
 * kills/producer.c: pushes from several threads, each with a token of its own, and notes on the
 * board what was acknowledged.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "kills/roles.h"
#include "kit/arguments.h"
#include "kit/turns.h"

struct thread {
  struct rig *rig;
  struct board *board;
  struct producer_slot *slot;
  struct random random;
  pthread_t id;
};

/* Tries once. If the message was submitted before, its id shows that it is stored. */
static int32_t submit(struct thread *thread, const char *session, uint64_t token,
                      bool *ret_duplicate, struct tidings_error *error) {
  struct heard heard = {0};
  int32_t code =
      turns_submit(thread->rig, session, token, random_chance(&thread->random, 30), &heard, error);
  heard_clear(&heard);
  *ret_duplicate = code == TIDINGS_E_STATE || code == TIDINGS_E_FIRED;
  return *ret_duplicate ? 0 : code;
}

static bool is_in_doubt(int32_t code) {
  return code == TIDINGS_E_STORE || code == TIDINGS_E_OUTCOME_UNKNOWN;
}

/* Pushes until there is an answer. BUSY and FULL have stored nothing, so the same push is made
 * again, with an id or without. After any other failure only a push with an id may be repeated. */
static void push(struct thread *thread, uint64_t token, bool identified) {
  struct token_note *note = &thread->board->tokens[token];
  struct tidings_error error = RIG_ERROR;
  char session[8];
  bool duplicate = false;
  board_session(note->session, session);
  for (;;) {
    int32_t code = note->session >= BOARD_SESSIONS
                       ? submit(thread, session, token, &duplicate, &error)
                       : rig_push(thread->rig, session, token, identified, &duplicate, &error);
    if (code == 0) break;
    if (code == TIDINGS_E_BUSY) atomic_fetch_add(&thread->board->busy, 1);
    else if (is_in_doubt(code)) atomic_fetch_add(&thread->board->unknown, 1);
    else if (code != TIDINGS_E_FULL) die("push: %s", rig_why(code, &error));
    if (is_in_doubt(code) && !identified) return;
    usleep(1000);
  }
  if (duplicate) atomic_fetch_add(&thread->board->duplicates, 1);
  atomic_store(&note->state, TOKEN_ACKNOWLEDGED);
}

static void push_new(struct thread *thread) {
  struct board *board = thread->board;
  uint64_t token = atomic_fetch_add(&board->next_token, 1);
  if (token >= BOARD_TOKENS) die("the board is full of tokens");
  bool message = random_chance(&thread->random, 6);
  thread->slot->identified = message || random_chance(&thread->random, 60);
  board->tokens[token].session =
      (uint8_t)(message ? BOARD_SESSIONS + random_below(&thread->random, BOARD_LANES)
                        : random_below(&thread->random, BOARD_SESSIONS));
  atomic_store(&board->tokens[token].state, TOKEN_BEGUN);
  atomic_store(&thread->slot->token, token);
  push(thread, token, thread->slot->identified);
  atomic_store(&thread->slot->token, 0);
}

static void *thread_main(void *context) {
  struct thread *thread = context;
  uint64_t left_over = atomic_load(&thread->slot->token);
  if (left_over && thread->slot->identified && random_chance(&thread->random, 70)) {
    atomic_fetch_add(&thread->board->retried, 1);
    push(thread, left_over, true);
  }
  while (!atomic_load(&thread->board->stop)) {
    push_new(thread);
    if (random_chance(&thread->random, 10)) usleep((useconds_t)random_below(&thread->random, 3000));
  }
  return NULL;
}

_Noreturn void producer_main(struct rig *rig, struct board *board, const char *store,
                             unsigned number, uint64_t seed) {
  static struct thread threads[BOARD_THREADS];
  struct tidings_error error = RIG_ERROR;
  int32_t code;
  while ((code = rig_open(rig, &(struct rig_open){.store = store, .role = TIDINGS_ROLE_PRODUCER},
                          &error)) == TIDINGS_E_BUSY)
    usleep(1000);
  if (code != 0) die("a producer cannot open the store: %s", rig_why(code, &error));
  for (unsigned i = 0; i < BOARD_THREADS; i++) {
    threads[i] = (struct thread){.rig = rig,
                                 .board = board,
                                 .slot = &board->slots[number][i],
                                 .random = random_seeded(seed, i)};
    if (pthread_create(&threads[i].id, NULL, thread_main, &threads[i]) != 0) die("no thread");
  }
  for (unsigned i = 0; i < BOARD_THREADS; i++) pthread_join(threads[i].id, NULL);
  code = rig_close(rig, &error);
  if (code != 0) die("a producer cannot close: %s", rig_why(code, &error));
  exit(0);
}
