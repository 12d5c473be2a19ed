/* SPDX-License-Identifier: MIT
 *
 * agents/transcript/proof.c: A marker counts at the end of a string of a record
 * (agents/transcript/marker.h): so a copy of a hook's output inside another string and a tool's
 * output that is quoted do not count. A record of the hook's own call does not count either.
 */
#include "agents/transcript/proof.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agents/transcript/records.h"
#include "agents/transcript/transcript.h"
#include "common/span.h"

enum { RECENT = 64 << 10, LONG = 256 << 10, MOST = 16 << 20, GROWS = 4 }; /* bytes; times */
enum { CLOCKS_MS = 60000 }; /* by so much the agent's clock and the store's may differ */

/* -- deliveries -------------------------------------------------------------------------------- */

/* A search in a file, and what it has found. */
struct search {
  const struct host *host;
  bool resumed; /* what was there before a snapshot of all messages counts, too */
  struct hook_sought *sought;
  size_t count;
  bool marked, replaced, keeps;
  int64_t first_ms; /* the time of the first record; 0: none says one */
  struct hook_usage usage;
};

static bool has_all(const struct hook_sought *sought, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (!sought[i].found) return false;
  }
  return true;
}

static void note(const struct search *search, uint64_t delivery) {
  for (size_t i = 0; i < search->count; i++) {
    if (search->sought[i].delivery == delivery) search->sought[i].found = true;
  }
}

/* The records before a snapshot of all messages are not the conversation any more. */
static void begin_snapshot(struct search *search) {
  for (size_t i = 0; i < search->count; i++) search->sought[i].found = false;
  search->usage = (struct hook_usage){.used = 0};
  search->replaced = true;
}

static bool look_at(void *context, const struct hook_record *record) {
  struct search *search = context;
  if (!search->first_ms) search->first_ms = hook_record_time_ms(record);
  if (hook_record_says(record, SAYS_SNAPSHOT) && !search->resumed) begin_snapshot(search);
  for (size_t i = 0; i < record->marker_count; i++) note(search, record->markers[i].delivery);
  search->marked = search->marked || record->marker_count;
  search->keeps = search->keeps || hook_record_says(record, SAYS_CONTEXT);
  if (hook_record_says(record, SAYS_USED))
    search->usage = (struct hook_usage){.used = (int64_t)hook_record_number(record, SAYS_USED),
                                        .limit = (int64_t)hook_record_number(record, SAYS_LIMIT)};
  return true;
}

/* A transcript without any marker proves nothing, unless it has other answers of hooks. */
static enum hook_transcript look_at_end(const char *path, size_t most, struct search *search,
                                        bool *ret_whole) {
  const struct hook_reading reading = {
      .host = search->host, .markers = true, .each = look_at, .context = search};
  struct hook_lines lines;
  search->first_ms = 0;
  if (hook_lines_read(path, most, &lines)) return HOOK_TRANSCRIPT_UNREADABLE;
  int code = hook_records_read(&reading, lines.text);
  *ret_whole = lines.whole || search->replaced;
  hook_lines_finish(&lines);
  if (code) return HOOK_TRANSCRIPT_UNREADABLE;
  return search->marked || (search->keeps && !search->resumed) ? HOOK_TRANSCRIPT_MARKED
                                                               : HOOK_TRANSCRIPT_PLAIN;
}

/* Is what was read as old as all that is looked for? */
static bool is_old(const struct search *search) {
  int64_t first_ms = search->first_ms + CLOCKS_MS;
  for (size_t i = 0; i < search->count; i++) {
    const struct hook_sought *sought = &search->sought[i];
    if (!sought->found && (!sought->since_ms || first_ms >= sought->since_ms)) return false;
  }
  return search->first_ms;
}

/* A part without any answer of a hook proves nothing: an older part may have one. */
static enum hook_transcript look_in_file(const char *path, struct search *search) {
  bool whole = false;
  enum hook_transcript kind = HOOK_TRANSCRIPT_UNREADABLE;
  for (size_t most = RECENT; !whole && most <= MOST; most *= GROWS) {
    kind = look_at_end(path, most, search, &whole);
    bool proves = kind == HOOK_TRANSCRIPT_MARKED && is_old(search);
    if (!kind || has_all(search->sought, search->count) || proves) break;
  }
  return kind;
}

static bool ends_with(const char *name, const char *end) {
  size_t len = strlen(name), end_len = strlen(end);
  return len > end_len && strcmp(name + len - end_len, end) == 0;
}

/* A session may have several files, "session-TIME-ID.jsonl": those with this one's ID. */
static enum hook_transcript look_in_others(const char *path, struct search *search) {
  enum hook_transcript best = HOOK_TRANSCRIPT_UNREADABLE;
  const char *slash = strrchr(path, '/'), *id = slash ? strrchr(slash, '-') : NULL;
  char *folder = id ? strndup(path, (size_t)(slash - path)) : NULL;
  DIR *files = folder ? opendir(folder) : NULL;
  for (struct dirent *file;
       files && (file = readdir(files)) && !has_all(search->sought, search->count);) {
    char *other = NULL;
    if (!ends_with(file->d_name, id) || strcmp(file->d_name, slash + 1) == 0 ||
        asprintf(&other, "%s/%s", folder, file->d_name) < 0)
      continue;
    enum hook_transcript kind = look_in_file(other, search);
    if (kind > best) best = kind;
    free(other);
  }
  if (files) closedir(files);
  free(folder);
  return best;
}

enum hook_transcript hook_proof_look(const char *path, const struct host *host,
                                     struct hook_sought *sought, size_t count,
                                     struct hook_usage *ret_usage) {
  struct search search = {.host = host, .sought = sought, .count = count};
  enum hook_transcript kind = look_in_file(path, &search);
  if (search.usage.used && search.usage.limit) *ret_usage = search.usage;
  return kind;
}

enum hook_transcript hook_proof_look_resumed(const char *path, const struct host *host,
                                             struct hook_sought *sought, size_t count) {
  struct search search = {.host = host, .resumed = true, .sought = sought, .count = count};
  enum hook_transcript kind = look_in_file(path, &search), other;
  if (has_all(sought, count)) return kind;
  other = look_in_others(path, &search);
  return other > kind ? other : kind;
}

/* -- words ------------------------------------------------------------------------------------- */

struct wording {
  bool has;   /* the words, since what the next one says */
  bool since; /* a snapshot of all messages, or a compaction left them out */
};

static bool look_for_words(void *context, const struct hook_record *record) {
  struct wording *wording = context;
  if (hook_record_says(record, SAYS_SNAPSHOT) || hook_record_says(record, SAYS_COMPACTED))
    *wording = (struct wording){.since = true};
  wording->has = wording->has || record->has_words;
  return true;
}

bool hook_proof_lacks(const char *path, const struct host *host, struct tidings_span words) {
  struct wording wording = {.has = false};
  const struct hook_reading reading = {
      .host = host, .words = words, .each = look_for_words, .context = &wording};
  bool whole = false;
  for (size_t most = LONG; !whole && !wording.has && !wording.since && most <= MOST;
       most *= GROWS) {
    struct hook_lines lines;
    if (hook_lines_read(path, most, &lines)) break;
    int code = hook_records_read(&reading, lines.text);
    whole = code || lines.whole;
    hook_lines_finish(&lines);
  }
  return !wording.has && (wording.since || !host_record_says(host, SAYS_COMPACTED));
}
