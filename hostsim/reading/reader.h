/* SPDX-License-Identifier: MIT
 *
 * reading/reader.h: functions that the readers of the formats share. Private to reading/.
 */
#ifndef HOSTSIM_READING_READER_H
#define HOSTSIM_READING_READER_H

#include <stdbool.h>

#include "common/buffer.h"
#include "reading/reading.h"

struct reader {
  struct reading *reading;
  struct arena *arena;
  struct tidings_span nonce;
  struct tidings_span rest; /* the part's text that is not read yet */
  size_t capacity;          /* the room in reading->lines */
  bool entities;            /* text has &lt; for < */
  bool prepended;           /* the carrier's text follows */
  bool is_open;             /* the last line of the reading may continue */
  struct buffer text;       /* the text of that line */
  bool failed;              /* no memory */
};

/* Takes the next line of the part, with its line feed. False: nothing is left. */
bool reader_take_line(struct reader *reader, struct tidings_span *ret_line);
void reader_fail(struct reader *reader, const char *problem); /* the first problem stays */
bool reader_is_fine(const struct reader *reader);

/* Skips `prefix`. False: the text does not begin with it. */
bool reader_skip(struct tidings_span *text, const char *prefix);
/* Skips a beginning such as "[error] ", and sets *ret_level. */
bool reader_skip_level(struct tidings_span *text, uint8_t *ret_level);
/* Is it the line "(4 more notifications pending)"? If so, notes the number. */
bool reader_is_pending_line(struct reader *reader, struct tidings_span line);

/* Begins a line of the reading with this text. */
void reader_begin_line(struct reader *reader, struct reading_line line, struct tidings_span text);
void reader_continue_line(struct reader *reader, size_t empty_lines, struct tidings_span text);
void reader_end_line(struct reader *reader);

/* Returns the text with its entities decoded, in the arena. */
struct tidings_span reader_without_entities(struct reader *reader, struct tidings_span text);

/* The readers of the formats. `rest` is the block, without what separates it from the content. */
void reader_markdown(struct reader *reader); /* also for openai and anthropic */
void reader_markdown_flat(struct reader *reader);
void reader_system_reminder(struct reader *reader);
void reader_xml_batch(struct reader *reader);
void reader_plain(struct reader *reader);
void reader_xml(struct reader *reader);
void reader_json(struct reader *reader);
void reader_call(struct reader *reader);

#endif
