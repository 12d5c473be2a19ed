/* SPDX-License-Identifier: MIT
 *
 * agents/transcript/later.c: see the header. Agents append records in the order in which the model
 * gets them. The results of tools that run at the same time are all before what the model says to
 * them.
 */
#include "agents/transcript/later.h"

#include <stdlib.h>

#include "agents/transcript/records.h"
#include "agents/transcript/transcript.h"

enum { RECENT = 256 << 10 }; /* bytes; what is further back has other deliveries after it */

struct looking {
  const struct host_records *records;
  struct hook_handed *handed;
  size_t count;
};

static bool is_one_of(const struct json *record, const char *const *kinds) {
  for (; kinds && *kinds; kinds++) {
    if (hook_record_is(record, *kinds)) return true;
  }
  return false;
}

static void look_at(void *context, const struct json *record) {
  const struct looking *looking = context;
  const struct host_records *records = looking->records;
  bool of_model = is_one_of(record, records->model),
       output = !of_model && (!records->outputs || is_one_of(record, records->outputs));
  int64_t time_ms = of_model ? hook_record_time_ms(record) : 0;
  for (size_t i = 0; i < looking->count; i++) {
    struct hook_handed *handed = &looking->handed[i];
    bool by_id = handed->call_id[0] && records->result;
    if (of_model && (by_id ? handed->result : time_ms > handed->at_ms)) handed->later = true;
    if (output && by_id && hook_record_has(record, records->result, span_text(handed->call_id)))
      handed->result = true;
  }
}

void hook_later_look(const char *path, const struct host *host, struct hook_handed *handed,
                     size_t count) {
  struct looking looking = {&host->records, handed, count};
  size_t len = 0;
  bool whole;
  char *text = hook_transcript_end(path, RECENT, &len, &whole);
  if (text) hook_records_read(span_of(text, len), look_at, &looking);
  free(text);
}
