/* SPDX-License-Identifier: MIT
 *
 * agents/transcript/recent.c: see the header. Each prompt's hook looks, and what a person does to a
 * session is written right before a prompt or is that prompt. So it is at the end of the file at
 * the next look; how the agents write it is in transcript/undone.c.
 */
#include "agents/transcript/recent.h"

#include <stdio.h>
#include <stdlib.h>

#include "agents/transcript/text.h"

/* What begins in front of the text, and does not reach further into it, is old. */
enum { OLD = 64 << 10 }; /* bytes */

bool hook_recent_prompt(struct tidings_span text, const char *at, struct hook_prompt *ret_prompt) {
  static const char human[] = "\"origin\":{\"kind\":\"human\"}";
  const char *end = text.ptr + text.len;
  for (; (at = hook_text_find(at, end, span_of(human, sizeof human - 1))); at++) {
    const char *start = hook_text_line_start(text.ptr, at);
    struct tidings_span parent = hook_text_quoted(start, at, "{\"parentUuid\":\"");
    if (!parent.len) continue;
    *ret_prompt = (struct hook_prompt){start, parent};
    return true;
  }
  return false;
}

const char *hook_recent_rewind(const char *at, const char *end) {
  static const char record[] = "\"subtype\":\"rewind\"";
  return hook_text_find(at, end, span_of(record, sizeof record - 1));
}

/* Is the parent's own record there? Without memory it is not. */
static bool has_parent(const char *from, const struct hook_prompt *prompt) {
  static const char name[] = "{\"parentUuid\":\"";
  struct tidings_span uuid =
      span_of(prompt->parent.ptr + sizeof name - 1, prompt->parent.len - (sizeof name - 1));
  char *words = NULL;
  int len = asprintf(&words, "\"uuid\":\"%.*s\"", SPAN_FORMAT(uuid));
  if (len < 0) return false;
  bool has = hook_text_find_last(from, prompt->start, span_of(words, (size_t)len));
  free(words);
  return has;
}

/* A prompt goes on from a record that is newer than the prompt before it. Where no prompt is, the
 * newest one may be in front of the text. */
static bool may_have_sibling(struct tidings_span text) {
  const char *from = text.ptr, *end = text.ptr + text.len;
  struct hook_prompt prompt = {.start = text.ptr};
  bool any = false;
  for (const char *at = text.ptr; hook_recent_prompt(text, at, &prompt);
       at = hook_text_line_end(prompt.start, end), from = prompt.start, any = true) {
    bool old = !any && prompt.start - text.ptr < OLD;
    if (!old && !has_parent(from, &prompt)) return true;
  }
  return !any;
}

/* The line with all messages may be larger than the text. */
static bool may_have_line(const struct host *host, struct tidings_span text) {
  const char *end = text.ptr + text.len, *first = hook_text_line_end(text.ptr, end);
  return first - text.ptr >= OLD ||
         (first < end && hook_text_find_line(first + 1, first + 1, end, span_text(host->anew)));
}

bool hook_recent_may_undo(const struct host *host, struct tidings_span text) {
  switch (host->undoing) {
  case HOST_UNDOES_BY_SIBLINGS: return may_have_sibling(text);
  case HOST_UNDOES_BY_LINES: return may_have_line(host, text);
  case HOST_UNDOES_BY_RECORDS: return hook_recent_rewind(text.ptr, text.ptr + text.len);
  default: return false; /* the first line says it, of a new file */
  }
}
