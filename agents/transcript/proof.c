/* SPDX-License-Identifier: MIT
 *
 * agents/transcript/proof.c: see the header. The agents write one JSON object a line. A marker
 * counts if it begins a line of a JSON string and nothing but a closing tag of the agent's is after
 * it there. So a copy of a hook's output inside another string, a tool's output that is quoted, and
 * a line that is not whole do not count. A record of the hook's own call does not count either.
 */
#include "agents/transcript/proof.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agents/transcript/marker.h"
#include "agents/transcript/transcript.h"
#include "common/span.h"

enum { RECENT = 256 << 10, MOST = 16 << 20 }; /* bytes */

/* What is looked for, in which agent's file. */
struct search {
  const char *anew, *of_hooks; /* struct host has them */
  struct hook_sought *sought;
  size_t count;
};

/* -- one marker -------------------------------------------------------------------------------- */

static bool begins_line(const char *start, const char *at) {
  return at - start >= 3 && at[-1] == 'n' && at[-2] == '\\' && at[-3] != '\\';
}

static bool ends_text(const char *at, const char *end) {
  while (end - at > 2 && at[0] == '\\' && at[1] == 'n') at += 2;
  if (end - at > 2 && at[0] == '<' && at[1] == '/') {
    while (at < end && *at != '>' && *at != '"' && *at != '\\') at++;
    if (at < end && *at == '>') at++;
  }
  return at < end && *at == '"';
}

static void note(uint64_t id, const struct search *search) {
  for (size_t i = 0; i < search->count; i++) {
    if (search->sought[i].delivery == id) search->sought[i].found = true;
  }
}

static bool has_all(const struct hook_sought *sought, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (!sought[i].found) return false;
  }
  return true;
}

/* Whether the line in which `at` is only repeats what a hook said. */
static bool is_of_hooks(const char *of_hooks, const char *text, const char *at) {
  size_t len = of_hooks ? strlen(of_hooks) : 0;
  if (!len) return false;
  const char *before = memrchr(text, '\n', (size_t)(at - text)), *line = before ? before + 1 : text;
  return (size_t)(at - line) >= len && memcmp(line, of_hooks, len) == 0;
}

static const char *next_marker(const char *of_hooks, struct tidings_span text, const char *at,
                               uint64_t *ret_delivery) {
  static const char opening[] = HOOK_MARKER_OPENING;
  const char *end = text.ptr + text.len;
  while ((at = memmem(at, (size_t)(end - at), opening, sizeof opening - 1))) {
    const char *start = at;
    at += sizeof opening - 1;
    const char *after = hook_marker_read(HOOK_MARKER_OF_DELIVERY, at, end, ret_delivery);
    if (after && begins_line(text.ptr, start) && ends_text(after, end) &&
        !is_of_hooks(of_hooks, text.ptr, start))
      return at;
  }
  return NULL;
}

const char *hook_proof_next(const struct host *host, struct tidings_span text, const char *at,
                            uint64_t *ret_delivery) {
  return next_marker(host->of_hooks, text, at, ret_delivery);
}

/* Returns whether there is a marker at all, in a whole line. */
static bool look_in(const char *text, size_t len, const struct search *search) {
  const char *at = text, *last = memrchr(text, '\n', len);
  bool any = false;
  len = last ? (size_t)(last - text) : 0;
  for (uint64_t id = 0; (at = next_marker(search->of_hooks, span_of(text, len), at, &id));
       any = true)
    note(id, search);
  return any;
}

/* -- use ------------------------------------------------------------------------------------------
 */

/* The number after the name; 0: it is not there. */
static int64_t number_after(const char *at, const char *end, const char *name) {
  const char *found = memmem(at, (size_t)(end - at), name, strlen(name));
  int64_t number = 0;
  if (!found) return 0;
  for (at = found + strlen(name); at < end && isdigit((unsigned char)*at); at++) {
    if (number > INT64_MAX / 10 - 1) return 0;
    number = number * 10 + (*at - '0');
  }
  return number;
}

/* Codex writes {"type": "token_count", "info": {..., "last_token_usage": {..., "total_tokens": N,
 * ...}, ..., "model_context_window": N}, ...} after each answer. A text that quotes this has its
 * quotes escaped. */
static void look_for_usage(const char *text, size_t len, struct hook_usage *ret_usage) {
  static const char type[] = "\"type\":\"token_count\"", last[] = "\"last_token_usage\":{";
  const char *end = memrchr(text, '\n', len), *at = text, *found = NULL;
  while (end && (at = memmem(at, (size_t)(end - at), type, sizeof type - 1))) found = at++;
  if (!found) return;
  const char *line_end = memchr(found, '\n', (size_t)(end + 1 - found)),
             *usage = memmem(found, (size_t)(line_end - found), last, sizeof last - 1);
  if (!usage) return;
  *ret_usage =
      (struct hook_usage){.used = number_after(usage, line_end, "\"total_tokens\":"),
                          .limit = number_after(usage, line_end, "\"model_context_window\":")};
}

/* -- the file ---------------------------------------------------------------------------------- */

/* What comes before the last line with all messages anew is not the conversation any more. */
static const char *current(const char *text, size_t len, const char *anew) {
  const char *at = text, *next;
  while (anew && (next = memmem(at, (size_t)(text + len - at), anew, strlen(anew)))) at = next + 1;
  return at;
}

/* Where lines can be distinguished by how they begin, one whose beginning was not read is none. */
static const char *first_line(const struct search *search, const char *text, size_t len,
                              bool whole) {
  const char *end = search->of_hooks && !whole ? memchr(text, '\n', len) : NULL;
  return end ? end + 1 : search->of_hooks && !whole ? text + len : text;
}

static enum hook_transcript look_at_end(const char *path, size_t most, const struct search *search,
                                        bool *ret_whole, struct hook_usage *ret_usage) {
  const struct search nothing = {.of_hooks = search->of_hooks};
  size_t len = 0;
  char *text = hook_transcript_end(path, most, &len, ret_whole);
  if (!text) return HOOK_TRANSCRIPT_UNREADABLE;
  const char *first = first_line(search, text, len, *ret_whole),
             *start = current(first, (size_t)(text + len - first), search->anew);
  if (start > first) *ret_whole = true;
  bool any = look_in(start, (size_t)(text + len - start), search);
  any = any || look_in(first, (size_t)(start - first), &nothing);
  look_for_usage(start, (size_t)(text + len - start), ret_usage);
  free(text);
  return any ? HOOK_TRANSCRIPT_MARKED : HOOK_TRANSCRIPT_PLAIN;
}

static enum hook_transcript look_in_file(const char *path, const struct search *search,
                                         struct hook_usage *ret_usage) {
  bool whole = true;
  enum hook_transcript kind = look_at_end(path, RECENT, search, &whole, ret_usage);
  if (!whole && !has_all(search->sought, search->count))
    kind = look_at_end(path, MOST, search, &whole, ret_usage);
  return kind;
}

static bool ends_with(const char *name, const char *end) {
  size_t len = strlen(name), end_len = strlen(end);
  return len > end_len && strcmp(name + len - end_len, end) == 0;
}

/* Of a session there may be several files, "session-TIME-ID.jsonl": those with this one's ID. */
static enum hook_transcript look_in_others(const char *path, const struct search *search) {
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
    struct hook_usage usage; /* of what was once */
    enum hook_transcript kind = look_in_file(other, search, &usage);
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
  const struct search search = {host->anew, host->of_hooks, sought, count};
  return look_in_file(path, &search, ret_usage);
}

enum hook_transcript hook_proof_look_resumed(const char *path, const struct host *host,
                                             struct hook_sought *sought, size_t count) {
  const struct search search = {NULL, host->of_hooks, sought, count};
  struct hook_usage usage;
  enum hook_transcript kind = look_in_file(path, &search, &usage), other;
  if (has_all(sought, count)) return kind;
  other = look_in_others(path, &search);
  return other > kind ? other : kind;
}

/* *ret_since: there is such a line, and only what is after it counts. */
static bool look_for_words(const char *path, const char *line, const char *words, size_t words_len,
                           bool *ret_since) {
  size_t len = 0;
  bool whole = true;
  char *text = hook_transcript_end(path, MOST, &len, &whole);
  const char *start = text ? current(text, len, line) : NULL;
  bool has = start && memmem(start, (size_t)(text + len - start), words, words_len);
  *ret_since = start > text;
  free(text);
  return has;
}

bool hook_proof_has(const char *path, const char *anew, const char *words, size_t words_len) {
  bool since;
  return look_for_words(path, anew, words, words_len, &since);
}

bool hook_proof_lost(const char *path, const char *line, const char *words, size_t words_len) {
  bool since, has = look_for_words(path, line, words, words_len, &since);
  return since && !has;
}
