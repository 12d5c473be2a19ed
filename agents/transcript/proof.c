/* SPDX-License-Identifier: MIT
 *
 * agents/transcript/proof.c: A marker counts only at the end of a string
 * (agents/transcript/marker.h), so a copy inside another string and a quoted output of a tool do
 * not count. A record of the hook's own call does not count either.
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
enum { CLOCKS_MS = 60000 }; /* how much the agent's clock and the store's may differ */

/* -- deliveries -------------------------------------------------------------------------------- */

/* A search in a file, and what it has found. */
struct search {
  const struct host *host;
  bool resumed; /* markers before a snapshot of all messages count, too */
  struct hook_sought *sought;
  size_t count;
  bool marked, replaced, keeps;
  int64_t first_ms; /* the time of the first record with a time; 0: none has one */
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

/* A snapshot of all messages replaces the records before it. */
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

/* MARKED needs a marker, or another answer of a hook: without these the transcript proves
 * nothing. */
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

/* Does the text that was read begin before all sought deliveries that were not found? */
static bool is_old(const struct search *search) {
  int64_t first_ms = search->first_ms + CLOCKS_MS;
  for (size_t i = 0; i < search->count; i++) {
    const struct hook_sought *sought = &search->sought[i];
    if (!sought->found && (!sought->since_ms || first_ms >= sought->since_ms)) return false;
  }
  return search->first_ms;
}

/* If a part has no answer of a hook, it proves nothing, and an older part is read. */
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

/* Looks in the session's other files: a session may have several, "session-TIME-ID.jsonl" with one
 * ID. */
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
  bool has;   /* the words are there, after that */
  bool since; /* there is a snapshot of all messages, or a compaction */
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
