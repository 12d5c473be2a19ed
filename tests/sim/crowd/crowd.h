/* SPDX-License-Identifier: MIT
 *
 * crowd/crowd.h: two hosts and four submitters in one session, and shared memory that outlives a
 * SIGKILL of any of them: in it, submitters note what was acknowledged, and the hosts keep their
 * common transcript.
 */
#ifndef CROWD_H
#define CROWD_H

#include "kit/random.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <tidings/hostkit.h>

enum {
  HOSTS = 2,
  SUBMITTERS = 4,
  MESSAGES_EACH = 1 << 18,
  MESSAGES = SUBMITTERS * MESSAGES_EACH,
  CARRIERS = 1 << 20,
  NOBODY = -1
};
enum { CARRIED_MAX = 128, ID_SIZE = 32 }; /* CARRIED_MAX: messages of one delivery */

#define SESSION "crowd"

/* NOTE_CANCELLING stays if the submitter was killed during the cancel; then the message may be
 * delivered or not. */
enum note_state { NOTE_UNUSED, NOTE_BEGUN, NOTE_ACKNOWLEDGED, NOTE_CANCELLING, NOTE_CANCELLED };

struct note { /* of one message */
  _Atomic(uint8_t) state;
  _Atomic(uint8_t) delivered; /* the transcript has it */
};

struct carrier { /* in the transcript */
  uint64_t delivery;
  unsigned count;
  struct note *notes[CARRIED_MAX]; /* at the same address in all processes */
};

struct board {
  /* Its holder writes the transcript, or changes whose it is. The lock is robust, because holders
   * are killed. */
  pthread_mutex_t lock;
  int writer;   /* the host whose transcript it is; NOBODY */
  bool running; /* that host's turn */
  uint64_t carrier_count;
  struct carrier carriers[CARRIERS]; /* in the order of writing; only the first carrier_count are
                                        valid */

  atomic_bool stop;  /* submitters must finish */
  atomic_bool leave; /* hosts must finish */
  _Atomic(uint64_t) next[SUBMITTERS], acknowledged, delivered, cancelled, turns, steered,
      rolled_back, takeovers, recoveries, refused;
  struct note notes[MESSAGES];
};

struct part { /* one process of the crowd */
  struct board *board;
  const char *plugin, *store;
  unsigned number;
  bool mortal; /* may kill itself at the worst moments */
  struct random random;
  struct hostkit *hostkit;
};

_Noreturn void host_main(struct part *part);
_Noreturn void submitter_main(struct part *part);

/* The note of a submitter's n-th message. */
static inline struct note *note_of(struct board *board, unsigned submitter, uint64_t n) {
  return &board->notes[(uint64_t)submitter * MESSAGES_EACH + n];
}

/* Takes the lock. If its last holder died, marks the messages that it had written as delivered. */
void board_lock(struct board *board);
/* Call it with the lock. Marks the messages of the newest delivery as delivered. */
void board_mark_newest(struct board *board);
void board_unlock(struct board *board);

/* Opens the plugin, and tries again while it is BUSY. */
void part_open(struct part *part, uint32_t role);
_Noreturn void part_leave(struct part *part);

/* Sends an event, written as by printf. The caller owns the reply, which may be NULL. */
int32_t part_event(struct part *part, struct tidings_reply **ret_reply, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Prints what is wrong and exits with 1, which ends the test. */
_Noreturn void wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The error of the last call that failed here. */
extern struct tidings_error last_error;

#endif
