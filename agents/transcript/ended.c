/* SPDX-License-Identifier: MIT
 *
 * agents/transcript/ended.c: Gemini CLI writes an answer when it is complete, before it calls the
 * hook. When a person stops a turn, it writes another record, or all messages again. A record that
 * has only a time may follow any record.
 */
#include "agents/transcript/ended.h"

#include "agents/transcript/records.h"
#include "agents/transcript/transcript.h"

enum { FEW = 64 << 10, MOST = 4 << 20, GROWS = 8 }; /* bytes to read, and a factor */

struct last {
  enum host_says sought;
  bool found, says;
  int64_t time_ms;
};

/* Finds the last record that is not only a time. */
static bool take_last(void *context, const struct hook_record *record) {
  struct last *last = context;
  if (hook_record_says(record, SAYS_STAMP) && !hook_record_says(record, SAYS_SNAPSHOT)) return true;
  *last = (struct last){last->sought, true, hook_record_says(record, last->sought), 0};
  return false;
}

/* Finds the last record with the meaning that is sought. */
static bool take_said(void *context, const struct hook_record *record) {
  struct last *last = context;
  if (!hook_record_says(record, last->sought)) return true;
  *last = (struct last){last->sought, true, true, hook_record_time_ms(record)};
  return false;
}

bool hook_ended_by_itself(const char *transcript, const struct host *host) {
  struct last last = {.sought = SAYS_MODEL};
  const struct hook_reading reading = {.host = host, .each = take_last, .context = &last};
  bool whole = false;
  for (size_t most = FEW; !whole && !last.found && most <= MOST; most *= GROWS) {
    struct hook_lines lines;
    if (hook_lines_read(transcript, most, &lines)) break;
    whole = hook_records_read_back(&reading, lines.text) || lines.whole;
    hook_lines_finish(&lines);
  }
  return last.says;
}

int64_t hook_ended_by_person_ms(const char *transcript, const struct host *host) {
  struct last last = {.sought = SAYS_STOPPED};
  const struct hook_reading reading = {.host = host, .each = take_said, .context = &last};
  struct hook_lines lines;
  if (hook_lines_read(transcript, FEW, &lines)) return 0;
  (void)hook_records_read_back(&reading, lines.text);
  hook_lines_finish(&lines);
  return last.time_ms;
}
