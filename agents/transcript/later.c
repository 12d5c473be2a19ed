/* SPDX-License-Identifier: MIT
 *
 * agents/transcript/later.c: agents append records in the order in which the model gets them. The
 * results of parallel tool calls are all before the model's answer to them.
 */
#include "agents/transcript/later.h"

#include "agents/transcript/records.h"
#include "agents/transcript/transcript.h"

/* RECENT, MOST: bytes to read; older deliveries have newer ones after them. GROWS: a factor. */
enum { RECENT = 64 << 10, MOST = 256 << 10, GROWS = 4 };
enum { MARGIN_MS = 60000 }; /* the parts of one answer are written one after the other */

struct looking {
  const struct host *host;
  struct hook_handed *handed;
  size_t count;
  int64_t first_ms; /* the time of the first record; 0: no record has one */
};

static bool look_after(void *context, const struct hook_record *record) {
  struct looking *looking = context;
  const struct host *host = looking->host;
  bool of_model = hook_record_says(record, SAYS_MODEL), by_ids = host_record_says(host, SAYS_CALL),
       output = !of_model &&
                (!host_record_says(host, SAYS_OUTPUT) || hook_record_says(record, SAYS_OUTPUT));
  int64_t time_ms = of_model || !looking->first_ms ? hook_record_time_ms(record) : 0;
  if (!looking->first_ms) looking->first_ms = time_ms;
  for (size_t i = 0; i < looking->count; i++) {
    struct hook_handed *handed = &looking->handed[i];
    bool by_id = by_ids && handed->call_id[0];
    if (of_model && (by_id ? handed->result : time_ms > handed->at_ms)) handed->later = true;
    if (output && by_id && hook_record_has(record, SAYS_CALL, span_text(handed->call_id)))
      handed->result = true;
  }
  return true;
}

/* Does the text that was read begin long before all handed-out answers? */
static bool begins_before(const struct looking *looking) {
  for (size_t i = 0; i < looking->count; i++) {
    if (looking->first_ms + MARGIN_MS >= looking->handed[i].at_ms) return false;
  }
  return looking->first_ms;
}

void hook_later_look(const char *path, const struct host *host, struct hook_handed *handed,
                     size_t count) {
  struct looking looking = {host, handed, count, 0};
  const struct hook_reading reading = {.host = host, .each = look_after, .context = &looking};
  bool enough = false;
  for (size_t most = RECENT; !enough && most <= MOST; most *= GROWS) {
    struct hook_lines lines;
    looking.first_ms = 0;
    for (size_t i = 0; i < count; i++) handed[i].result = false;
    if (hook_lines_read(path, most, &lines)) return;
    enough = hook_records_read(&reading, lines.text) || lines.whole || begins_before(&looking);
    hook_lines_finish(&lines);
  }
}
