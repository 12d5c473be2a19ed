/* SPDX-License-Identifier: MIT
 *
 * agents/transcript/records.h: the reader of transcripts: JSON, one record a line. The agent's row
 * says what a member means (struct host_record). A line that is not whole, or no JSON, is passed
 * over, as the agents do. Every byte is looked at once, and memory is taken for what is found.
 */
#ifndef AGENTS_TRANSCRIPT_RECORDS_H
#define AGENTS_TRANSCRIPT_RECORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "agents/hosts/hosts.h"
#include "common/span.h"

/* A value of which the agent's row says what it says; a string as written, without its quotes. */
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
  size_t at, end;                  /* where it begins in the text, and the next line */
  uint32_t says;                   /* a bit for each */
  bool has_words;                  /* that are looked for */
  const struct hook_value *values; /* in their order */
  size_t value_count;
  const struct hook_marked *markers; /* none of a record that only repeats what hooks said */
  size_t marker_count;
};

/* A reading of a transcript. `each` is called for every record, which lives as long as the call; it
 * returns whether to go on. */
struct hook_reading {
  const struct host *host;
  struct tidings_span words; /* in a string, where they need no escapes; empty: none */
  bool markers;
  bool (*each)(void *context, const struct hook_record *record);
  void *context;
};

/* From the first to the last, or from the last to the first. Only lines that end with a newline
 * count. Returns -1 if there is no memory; some records may have been read then. */
int hook_records_read(const struct hook_reading *reading, struct tidings_span text);
int hook_records_read_back(const struct hook_reading *reading, struct tidings_span text);

bool hook_record_says(const struct hook_record *record, enum host_says says);
/* The first value that says it, the last one; an empty span: there is none. */
struct tidings_span hook_record_first(const struct hook_record *record, enum host_says says);
struct tidings_span hook_record_last(const struct hook_record *record, enum host_says says);
/* Is there a value that says it and is that text? */
bool hook_record_has(const struct hook_record *record, enum host_says says,
                     struct tidings_span text);

/* 0: it has none. */
uint64_t hook_record_number(const struct hook_record *record, enum host_says says);
/* In milliseconds since 1970; 0: the record does not say it. */
int64_t hook_record_time_ms(const struct hook_record *record);

#endif
