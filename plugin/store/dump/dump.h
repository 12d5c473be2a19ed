/* SPDX-License-Identifier: MIT
 *
 * store/dump/dump.h: a store as a file of rows, from which a store of any engine can be made. It
 * has every row with its key, in the order of keys; then the events whose ids were seen and that
 * have no row of their own; then the numbers of both, so that a file that was cut short is noticed.
 */
#ifndef STORE_DUMP_DUMP_H
#define STORE_DUMP_DUMP_H

#include <stdio.h>

#include "store/rows/rows.h"

enum dump_kind { DUMP_ROW = 1, DUMP_EVENT = 2, DUMP_END = 3 };

/* An event that a session has seen, as its dedup row says it. */
struct dump_event {
  uint32_t session;
  int64_t time_ms, keep_ms;
  struct tidings_span source, id;
};

/* -- writing ----------------------------------------------------------------------------------- */

struct dump_writer {
  FILE *file; /* NULL: none is open */
  const char *path;
  uint64_t count;
};
/* Errors: STORE. After one, dump_finish is to be called too. */
int dump_begin(struct dump_writer *writer, const char *path, struct tidings_error *error);
/* An error of the file is kept for dump_finish. */
void dump_row(struct dump_writer *writer, const struct db_key *key, struct tidings_span value);
/* Errors: NOMEM. */
int dump_event(struct dump_writer *writer, const struct dump_event *event,
               struct tidings_error *error);
/* `code`: the caller's result so far; if it is 0, the file is completed. Returns `code`, or STORE.
 */
int dump_finish(struct dump_writer *writer, int code, struct tidings_error *error);

/* -- reading ----------------------------------------------------------------------------------- */

struct dump_reader {
  FILE *file;
  const char *path; /* borrowed */
  uint64_t left;    /* bytes that are not read */
  uint64_t count;
  struct db_key last;
  struct buffer value;
};
/* The next entry of the file; it points into the reader, until the next call. */
struct dump_entry {
  enum dump_kind kind;
  struct db_key key;         /* DUMP_ROW; keys ascend */
  struct tidings_span value; /* DUMP_ROW; its checksum holds */
  struct dump_event event;   /* DUMP_EVENT */
};
/* Errors: NOT_FOUND, STORE. After one, dump_close may be called, if *reader was zero before. */
int dump_open(struct dump_reader *reader, const char *path, struct tidings_error *error);
/* Errors: STORE (it is cut short, or not as dump_begin and so on write it), NOMEM. */
int dump_next(struct dump_reader *reader, struct dump_entry *ret_entry,
              struct tidings_error *error);
int dump_rewind(struct dump_reader *reader, struct tidings_error *error); /* to the first row */
void dump_close(struct dump_reader *reader);

/* The event of a dedup row. False: it is damaged. */
bool dump_event_of(const struct db_key *key, struct tidings_span value,
                   struct dump_event *ret_event);

#endif
