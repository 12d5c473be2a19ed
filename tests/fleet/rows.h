/* SPDX-License-Identifier: MIT
 *
 * tests/fleet/rows.h: a model test of the engine for PostgreSQL. Processes that share a store take
 * turns, and compare everything that they read with a model of the rows in shared memory.
 */
#ifndef FLEET_ROWS_H
#define FLEET_ROWS_H

#include <stdio.h>
#include <stdlib.h>

#include "store/db/postgres/engine.h"

enum {
  SESSIONS = 3,
  MOST_ROWS = 512, /* of a kind */
  MOST_PUSHES = 24,
  IDS = 6,
  LONG_MS = 600000, /* a call that has to succeed on any machine */
  /* The server's limit then is 124 ms, so it refuses before this process gives up. */
  SHORT_MS = 127
};

/* The kinds of rows that are used, as indices of arrays. */
enum { HEAD, KEPT, ITEM, NUMBERED, LOOKED, ROW_KINDS };
uint8_t rows_kind(int kind);
bool rows_ends(int kind);       /* DB_KIND_ENDS */
uint32_t rows_first(int kind);  /* the first row */
uint32_t rows_beyond(int kind); /* one more than the last row */
uint64_t rows_n(int kind, uint32_t at);

struct row {
  uint32_t seed; /* the row's bytes follow from it */
  uint16_t len;
  bool there;
  bool again; /* the history may have had this row before */
};

struct session {
  uint64_t version; /* how many commits wrote the session; 0: it does not exist */
  uint64_t ended[ROW_KINDS];
  uint64_t floor_most[ROW_KINDS]; /* the history lacks rows from this number on */
  bool noted[IDS];                /* which events were seen */
  uint32_t push_count, pushes[MOST_PUSHES];
  struct row rows[ROW_KINDS][MOST_ROWS]; /* the head's seed is the number of the next item */
};

struct model {
  uint64_t random;
  uint32_t step, counter; /* counter: its value in a row of session 0 */
  int short_ms;           /* see SHORTEN in rows.c */
  struct session sessions[SESSIONS];
};

/* This process. */
struct rows_process {
  char name;
  struct db *db;
  struct model *model;
  uint64_t stamps[SESSIONS]; /* the stamps of the last snapshots */
};
extern struct rows_process rows_self;

uint32_t rows_random(uint32_t below);
void rows_broken(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* -- a transaction: rows_look.c ---------------------------------------------------------------- */

/* A session as a transaction sees it. */
struct view {
  uint32_t session; /* its index in the model */
  bool wrote, stale;
  uint32_t folded; /* how many pushes have become rows */
  uint64_t reported[ROW_KINDS];
  bool noted[IDS]; /* the commit notes these events */
  struct session rows;
};

struct turn {
  struct db_txn txn;
  bool hurries; /* it may be refused as late */
  bool failed;  /* it was refused, or what it reads is outdated */
  bool counted;
  uint32_t event;       /* the index of the event that the transaction may declare */
  struct db_event said; /* that event's fields */
  struct view declared, other;
  bool has_other;
};

struct db_key rows_key(uint32_t session, int kind, uint32_t at);
struct db_event rows_event(uint32_t session, uint32_t id);
bool rows_is_value(const struct row *row, struct tidings_span value);
/* Judges an operation's result. True: it failed as it may. */
bool rows_failed(struct turn *turn, int rc, const char *what);
uint32_t rows_newest(const struct session *session, int kind);

void rows_put(struct turn *turn, struct view *view, int kind, uint32_t at, struct row row);
void rows_delete(struct turn *turn, struct view *view, int kind, uint32_t at);
/* Makes a session's view at the start of a transaction that declares it, with the rows of its
 * pushes. */
void rows_view(struct turn *turn, uint32_t session);
void rows_view_other(struct turn *turn, uint32_t session);
void rows_get(struct turn *turn, const struct view *view, int kind, uint32_t at);
void rows_forward(struct turn *turn, const struct view *view, int kind, uint32_t from, bool near);
void rows_backward(struct turn *turn, const struct view *view, int kind, uint32_t from);

/* -- what a process does in its turn: rows_step.c ---------------------------------------------- */

void rows_step(void);
void rows_release_snapshot(void); /* releases a snapshot that is kept from turn to turn */
/* Makes a write of the session: one row, and all ended rows. `code`: the error with which it may be
 * refused. */
int rows_write(uint32_t session, uint32_t ms, bool gives_up, int code);
/* Compares all rows with the model, in a snapshot. */
void rows_check(uint32_t session);
struct tidings_span rows_name(uint32_t session);

#endif
