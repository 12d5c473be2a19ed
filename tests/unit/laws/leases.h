/* SPDX-License-Identifier: MIT
 *
 * tests/unit/laws/leases.h: the story of a random session whose hosts lose carriers in every way:
 * what was pushed, what each carrier has shown, and which carriers the transcript has. It uses the
 * contract and the documents, and nothing of how the plugin decides. Each round has its own seed:
 * TIDINGS_LEASES_ROUND plays one alone and prints it.
 */
#ifndef TESTS_UNIT_LAWS_LEASES_H
#define TESTS_UNIT_LAWS_LEASES_H

#include <criterion/criterion.h>

#include "kit.h"

enum { MOST_PUSHED = 96, MOST_CARRIERS = 64, MOST_SHOWN = MOST_PUSHED, MOST_PATHS = 2 };

enum subject { ABOUT_KEY, ABOUT_HANDLE, ABOUT_SERVER, ABOUT_FILES };
struct pushed {
  int64_t time_ms; /* all times differ, so a shown notification is recognized by its time */
  enum subject subject;
  int things[MOST_PATHS]; /* which key, handle, server or files */
  size_t thing_count;
  bool critical;
};

enum carrier_state { CARRIER_WAITS, CARRIER_THERE, CARRIER_LOST };
struct sent {
  uint64_t delivery; /* 0: it was settled on return */
  enum carrier_state state;
  uint64_t before; /* bit n: carrier n was in the transcript, or waited, when this one was sent */
  int shown[MOST_SHOWN]; /* indices of what was pushed */
  size_t shown_count;
};

enum who { HOST_HERE, HOST_ELSEWHERE, HOST_ON_RETURN };
struct hosts {
  struct tidings_plugin *plugin; /* only one may have the store open */
  enum who who;
  struct child elsewhere; /* the process that HOST_ELSEWHERE says it is of */
  bool loses;             /* the configuration may drop something */
};

struct story {
  long number;
  struct random random;
  struct hosts *hosts;
  char session[48], box[48]; /* pushed to as well, and taken over from */
  unsigned forks;
  enum who owner;
  struct pushed pushed[MOST_PUSHED];
  size_t pushed_count;
  struct sent sent[MOST_CARRIERS];
  size_t sent_count;
  size_t carriers; /* of all sessions of this story */
  size_t ways[8];  /* how leases ended */
  bool tells;
};
/* The ways in which a lease can end; to be taken over from the box counts as one of them. */
enum way {
  BY_COLLECTING,
  BY_COMMIT,
  BY_ROLLBACK,
  BY_REWIND,
  BY_RESUMING,
  BY_TAKEOVER,
  BY_DEATH,
  BY_FORK,
  WAYS
};

/* hosts.c: plugins on a store of their own, with a random configuration. */
void hosts_begin(struct hosts *hosts, struct random *random);
struct tidings_plugin *hosts_as(struct hosts *hosts, enum who who);
void hosts_end(struct hosts *hosts);
/* Lets the process of HOST_ELSEWHERE die, and starts another. */
void hosts_replace(struct hosts *hosts);

/* story.c: plays a story. */
void story_play(struct story *story, long number, struct hosts *hosts);

/* law_leases.c: checks the carriers that the transcript has now. */
void law_newest_stands(const struct story *story);
/* To be called when everything was delivered: checks that the newest notification of each key was
 * shown. */
void law_newest_is_shown(const struct story *story);

#endif
