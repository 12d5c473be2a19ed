/* SPDX-License-Identifier: MIT
 *
 * crowd/crowd.h: two hosts and four submitters on one session, and what outlives a SIGKILL of any
 * of them: shared memory in which submitters note what was acknowledged, and the hosts keep the one
 * transcript that they share.
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
enum { CARRIED_MAX = 128, ID_SIZE = 32 }; /* messages of one carrier */

#define SESSION "crowd"

/* NOTE_CANCELLING stays if the submitter was killed while it cancelled the message, which then may
 * be delivered or not. */
enum note_state { NOTE_UNUSED, NOTE_BEGUN, NOTE_ACKNOWLEDGED, NOTE_CANCELLING, NOTE_CANCELLED };

struct note { /* of one message */
  _Atomic(uint8_t) state;
  _Atomic(uint8_t) delivered; /* it stands in the transcript */
};

struct carrier { /* in the transcript */
  uint64_t delivery;
  unsigned count;
  struct note *notes[CARRIED_MAX]; /* at the same address in all processes */
};

struct board {
  /* The holder writes the transcript, or changes whose it is, as with a file's lock. It is robust,
   * because holders are killed. */
  pthread_mutex_t lock;
  int writer;   /* the host whose transcript it is; NOBODY */
  bool running; /* that host's turn */
  uint64_t carrier_count;
  struct carrier carriers[CARRIERS]; /* in the order in which they were written; the first
                                      * carrier_count of them count */

  atomic_bool stop;  /* submitters: finish */
  atomic_bool leave; /* hosts: finish */
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
/* With the lock held: marks the messages of the newest carrier as delivered. */
void board_mark_newest(struct board *board);
void board_unlock(struct board *board);

/* Opens the plugin; waits out BUSY. */
void part_open(struct part *part, uint32_t role);
_Noreturn void part_leave(struct part *part);

/* Sends an event written as printf would. The reply, which may be NULL, is the caller's. */
int32_t part_event(struct part *part, struct tidings_reply **ret_reply, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Says what is wrong and ends this process with 1, which ends the test. */
_Noreturn void wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The error's name and words, of the last part_event or call that failed here. */
extern struct tidings_error last_error;

#endif
