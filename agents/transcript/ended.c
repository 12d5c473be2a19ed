/* SPDX-License-Identifier: MIT
 *
 * agents/transcript/ended.c: see the header. Seen with 0.61.0: an answer is {"id", "timestamp",
 * "type": "gemini", "content", ...}, written when it is whole and before the hook is called. A stop
 * writes {"type": "info", "content": "Request cancelled."} or all messages anew ({"$set":
 * {"messages": ...}}). {"$set": {"lastUpdated": ...}} may follow any record.
 */
#include "agents/transcript/ended.h"

#include <stdlib.h>
#include <string.h>

#include "agents/transcript/transcript.h"

enum { MOST = 4 << 20 }; /* bytes of the last records */

static bool is_of_model(const char *line, size_t len) {
  static const char type[] = "\"type\":\"", model[] = "\"type\":\"gemini\"";
  const char *at = memmem(line, len, type, sizeof type - 1);
  return line[0] == '{' && at && (size_t)(line + len - at) >= sizeof model - 1 &&
         memcmp(at, model, sizeof model - 1) == 0;
}

static bool is_stamp(const char *line, size_t len) {
  static const char stamp[] = "{\"$set\":{\"lastUpdated\":";
  return len >= sizeof stamp - 1 && memcmp(line, stamp, sizeof stamp - 1) == 0;
}

/* The last record that is no stamp. A first line that is not whole counts as none. */
static bool last_is_of_model(const char *text, size_t len) {
  while (len && text[len - 1] == '\n') {
    const char *before = memrchr(text, '\n', len - 1), *line = before ? before + 1 : text;
    size_t size = (size_t)(text + len - 1 - line);
    if (size && !is_stamp(line, size)) return is_of_model(line, size);
    len = (size_t)(line - text);
  }
  return false;
}

bool hook_ended_by_itself(const char *transcript) {
  size_t len = 0;
  bool whole;
  char *text = hook_transcript_end(transcript, MOST, &len, &whole);
  bool ended = text && last_is_of_model(text, len);
  free(text);
  return ended;
}
