/* SPDX-License-Identifier: MIT
 *
 * kills/board.h: shared memory that outlives a SIGKILL: producers note in it what was acknowledged,
 * and the host keeps its transcript in it.
 */
#ifndef KILLS_BOARD_H
#define KILLS_BOARD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum {
  BOARD_PRODUCERS = 8,
  BOARD_THREADS = 4,  /* in each producer, so that a commit has several pushes */
  BOARD_SESSIONS = 6, /* for notifications */
  BOARD_LANES = 2,    /* sessions in which turns run; their numbers follow */
  BOARD_ALL_SESSIONS = BOARD_SESSIONS + BOARD_LANES,
  BOARD_TOKENS = 32 << 20,
  BOARD_CARRIERS = 1 << 20,
};

enum token_state { TOKEN_UNUSED, TOKEN_BEGUN, TOKEN_ACKNOWLEDGED };

struct token_note {
  _Atomic(uint8_t) state;
  uint8_t session;
};

/* The push that a producer's thread was about to make, for the producer's next process. */
struct producer_slot {
  _Atomic(uint64_t) token; /* 0: nothing */
  bool identified;         /* it has an id, so it may be pushed again after a kill */
};

enum carrier_state {
  CARRIER_ABSENT,
  CARRIER_WRITTEN, /* the carrier is in the transcript */
  CARRIER_SETTLED, /* settle has returned OK for it */
  CARRIER_RESUMED, /* session.resumed, which named it, has returned OK */
};

struct carrier_note {
  _Atomic(uint8_t) state;
  uint8_t session;
  uint32_t token_count;
  uint64_t first_token; /* index in board.carried */
  uint64_t delivery;
};

struct board {
  atomic_bool stop;  /* tells producers to finish */
  atomic_bool drain; /* tells the host to finish when nothing is pending */
  _Atomic(uint64_t) next_token;
  _Atomic(uint64_t) retried, duplicates, busy, unknown, rolled_back, resumes;
  struct producer_slot slots[BOARD_PRODUCERS][BOARD_THREADS];
  struct token_note tokens[BOARD_TOKENS];
  uint64_t carrier_count,
      carried_count; /* only the host writes these, before it publishes a carrier by its state */
  struct carrier_note carriers[BOARD_CARRIERS];
  uint64_t carried[BOARD_TOKENS * 2];
};

static inline void board_session(unsigned number, char name[8]) {
  name[0] = number < BOARD_SESSIONS ? 's' : 't';
  name[1] = (char)('0' + number);
  name[2] = 0;
}

#endif
