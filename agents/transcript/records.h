/* SPDX-License-Identifier: MIT
 *
 * agents/transcript/records.h: the reader of transcripts: JSON, one record a line. The agent's row
 * gives the meaning of a member (struct host_record). A line that is incomplete or no JSON is
 * skipped, as the agents do. Every byte is read once, and only the values that are found take
 * memory.
 */
#ifndef AGENTS_TRANSCRIPT_RECORDS_H
#define AGENTS_TRANSCRIPT_RECORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "agents/hosts/hosts.h"
#include "common/span.h"

/* A value whose meaning the agent's row gives; a string as written, without its quotes. */
struct hook_value {
  enum host_says says;
  struct tidings_span text;
};

/* The marker at the end of a string. */
struct hook_marked {
  uint64_t delivery;
  size_t at; /* in the text */
};

struct hook_record {
  size_t at, end;                  /* the starts of the record and of the next line, in the text */
  uint32_t says;                   /* a bit for each meaning in it */
  bool has_words;                  /* it contains the words that are searched */
  const struct hook_value *values; /* in the record's order */
  size_t value_count;
  const struct hook_marked *markers; /* a record that only repeats the output of hooks has none */
  size_t marker_count;
};

/* How to read a transcript. `each` is called with every record, which lives until it returns; it
 * returns whether to go on. */
struct hook_reading {
  const struct host *host;
  struct tidings_span
      words; /* words to search in strings, without characters that JSON escapes; empty: none */
  bool markers;
  bool (*each)(void *context, const struct hook_record *record);
  void *context;
};

/* Read the records from the first to the last, or from the last to the first. Only lines that end
 * with a newline count. Returns -1 if there is no memory; some records may have been read then. */
int hook_records_read(const struct hook_reading *reading, struct tidings_span text);
int hook_records_read_back(const struct hook_reading *reading, struct tidings_span text);

bool hook_record_says(const struct hook_record *record, enum host_says says);
/* Return the first and the last value with this meaning; an empty span: there is none. */
struct tidings_span hook_record_first(const struct hook_record *record, enum host_says says);
struct tidings_span hook_record_last(const struct hook_record *record, enum host_says says);
/* Is there a value with this meaning and this text? */
bool hook_record_has(const struct hook_record *record, enum host_says says,
                     struct tidings_span text);

/* Returns the number with this meaning; 0: there is none. */
uint64_t hook_record_number(const struct hook_record *record, enum host_says says);
/* Returns the record's time in milliseconds since 1970; 0: it has none. */
int64_t hook_record_time_ms(const struct hook_record *record);

#endif
