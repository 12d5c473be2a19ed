/* SPDX-License-Identifier: MIT
 */
#include "neutral_check.h"

#include <ctype.h>
#include <stdlib.h>
#include <tidings/reply.h>

#include "common/utf8.h"
#include "render/fold.h"

/* -- the searched copy ------------------------------------------------------------------------- */

/* A backslash and n: words go on after it, but no line begins there. Text in JSON is full of them,
 * and a backslash before a heading would make the JSON wrong. */
enum { ESCAPED_BREAK = '\v' };
#define BREAKS "\n\v"

static void add_look(char *copy, size_t *len, const struct fold *fold) {
  if (fold->kind == FOLD_BREAK) {
    copy[(*len)++] = fold->escaped ? ESCAPED_BREAK : '\n';
  } else if (fold->kind == FOLD_BLANK) {
    if (!*len || copy[*len - 1] != ' ') copy[(*len)++] = ' ';
  } else if (fold->kind == FOLD_OTHER || fold->kind == FOLD_ASCII) {
    char look = fold->look[0];
    if (fold->kind == FOLD_OTHER) look = '?';
    if (fold->digit) look = '7';
    copy[(*len)++] = look;
    if (fold->look[1]) copy[(*len)++] = fold->look[1];
  }
}

/* Copies the text as it looks, NUL-terminated, with LF or ESCAPED_BREAK for every line break, a
 * blank for every run of blanks, and one digit for all digits. */
static char *plain_copy(struct tidings_span text) {
  char *copy = calloc(2 * text.len + 1, 1);
  size_t len = 0;
  if (!copy) abort();
  for (size_t at = 0; at < text.len;) {
    struct fold fold = fold_at(text, at);
    if (at && text.ptr[at - 1] == '\\' && (unsigned char)text.ptr[at] >= 0x80) copy[len++] = '?';
    else add_look(copy, &len, &fold);
    at += fold.taken;
  }
  copy[len] = '\0';
  return copy;
}

static bool begins(const char *text, const char *word) {
  return strncmp(text, word, strlen(word)) == 0;
}

static bool in_name(char byte) {
  return isalnum((unsigned char)byte) || (byte && strchr("_-.:", byte));
}

/* Does `text` begin with `word`, even if line breaks with blanks after them interrupt it? *ret_end
 * is the end. */
static bool begins_broken(const char *text, const char *word, const char *between,
                          const char **ret_end) {
  for (; *word; word++, text++) {
    text += strspn(text, between);
    if (*text != *word) return false;
  }
  *ret_end = text;
  return true;
}

static bool is_tag(const char *at) {
  static const char *const names[] = {"system-reminder", "system_reminder", "systemreminder",
                                      "notification", "notifications"};
  const char *end;
  at++;
  at += strspn(at, " /" BREAKS);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (begins_broken(at, names[i], " " BREAKS, &end) && !in_name(*end)) return true;
  }
  return false;
}

static bool is_named(const char *text, const char *at) {
  static const char key[] = "\"system_notifications\"", tool[] = "_system_notification";
  const char before = *(at > text ? at - 1 : " ");
  if (before == '\\') return false;
  const char *end = "x";
  if (begins_broken(at, key, BREAKS, &end)) return true;
  const char behind = *(begins_broken(at, tool, BREAKS, &end) ? end : "x");
  return !isalnum((unsigned char)before) && before != '_' && !isalnum((unsigned char)behind) &&
         behind != '_';
}

/* -- its lines --------------------------------------------------------------------------------- */

static bool is_announced(const char *next) {
  size_t skip = strspn(next, " " BREAKS), len = strcspn(next + skip, BREAKS);
  const char *title = strstr(next + skip, "system notification");
  return (title && title < next + skip + len) ||
         begins(next + skip, "these are automated system messages");
}

static bool is_fence(const char *line, const char *end, bool any_dashes) {
  size_t dashes = 0, digits = 0;
  while (*line == '-' || *line == FOLD_LONG_DASH || (*line == ' ' && dashes))
    dashes += *line++ != ' ';
  if (dashes < 3) return false;
  if (line == end) return any_dashes || is_announced(end);
  while ((line[digits] == '7' || (line[digits] >= 'a' && line[digits] <= 'f'))) digits++;
  return digits == 16 && line + digits + strspn(line + digits, " ") == end;
}

static bool is_level_title(const char *line, size_t len) {
  static const char *const titles[] = {"**critical:**", "**error:**", "**warning:**", "**info:**",
                                       "**critical**:", "**error**:", "**warning**:", "**info**:",
                                       "__critical:__", "__error:__", "__warning:__", "__info:__"};
  while (len && line[len - 1] == ' ') len--;
  for (size_t i = 0; i < sizeof titles / sizeof *titles; i++) {
    if (len == strlen(titles[i]) && begins(line, titles[i])) return true;
  }
  return false;
}

static bool is_title(const char *line, size_t len) {
  if (!begins(line, "**") && !begins(line, "__")) return false;
  const char mark[] = {line[0], line[0], '\0'};
  const char *close = strstr(line + 2, mark), *words = strstr(line + 2, "system notification");
  if (!close || close > line + len) close = line + len;
  return (words && words + strlen("system notification") <= close) || is_level_title(line, len);
}

/* "## System Notifications" and no more words. */
static bool is_heading(const char *line, size_t len) {
  const char *words = *line == '#' ? strstr(line, "system notification") : NULL;
  if (!words || words >= line + len) return false;
  words += strlen("system notification");
  if (*words == 's') words++;
  for (; words < line + len; words++) {
    if (isalnum((unsigned char)*words) || *words == '?') return false;
  }
  return true;
}

static bool is_count(const char *line) {
  size_t digits = *line == '(' ? strspn(line + 1, "7") : 0;
  return digits && begins(line + 1 + digits, " more notification");
}

static const char *line_problem(const char *line, bool any_dashes) {
  size_t len = strcspn(line, BREAKS);
  while (*line == ' ') line++, len--;
  if (is_fence(line, line + len, any_dashes)) return "a line reads as a fence";
  if (is_title(line, len)) return "a line reads as a title";
  if (is_heading(line, len)) return "a line reads as a heading";
  if (begins(line, "while you worked (not from the user")) return "a line reads as a header";
  return is_count(line) ? "a line reads as a count" : NULL;
}

const char *lookalike_problem(struct tidings_span text, bool any_dashes) {
  char *copy = plain_copy(text);
  const char *problem = NULL;
  for (const char *at = copy; !problem && *at; at++) {
    if (*at == '<' && is_tag(at)) problem = "there is a tag of ours";
    else if ((*at == '"' || *at == '_') && is_named(copy, at)) problem = "there is a name of ours";
    else if (at == copy || at[-1] == '\n') problem = line_problem(at, any_dashes);
  }
  free(copy);
  return problem;
}

const char *change_problem(struct tidings_span before, struct tidings_span after) {
  size_t b = 0, a = 0;
  while (a < after.len) {
    if (b < before.len && after.ptr[a] == before.ptr[b]) {
      a++;
      b++;
    } else if (after.ptr[a] == '\\') {
      a++;
    } else if (b < before.len && before.ptr[b] == '<' && after.len - a >= 4 &&
               memcmp(after.ptr + a, "&lt;", 4) == 0) {
      a += 4;
      b++;
    } else {
      return "something else was changed";
    }
  }
  return b == before.len ? NULL : "something is missing";
}

/* -- a steered message ------------------------------------------------------------------------- */

static bool take(struct tidings_span *text, const char *words) {
  size_t len = strlen(words);
  if (text->len < len || memcmp(text->ptr, words, len) != 0) return false;
  *text = span_of(text->ptr + len, text->len - len);
  return true;
}

static bool take_end(struct tidings_span *text, const char *words) {
  size_t len = strlen(words);
  if (text->len < len || memcmp(text->ptr + text->len - len, words, len) != 0) return false;
  text->len -= len;
  return true;
}

/* A tab, a soft hyphen or a joiner. */
static bool may_be_said(uint32_t c) { return c == '\t' || c == 0xAD || c == 0x200C || c == 0x200D; }

static const char *check_characters(struct tidings_span text) {
  for (size_t at = 0; at < text.len;) {
    uint32_t c = 0;
    size_t len = utf8_decode(text, at, &c);
    if (!len) return "it is not UTF-8";
    if (c != '\n' && !may_be_said(c) && utf8_is_deceptive(c))
      return "a deceptive character came through";
    at += len;
  }
  return NULL;
}

/* Tags that a model could take for structure of its conversation. */
static const char *check_tags(struct tidings_span text) {
  static const char *const names[] = {"system", "user",      "assistant", "human",
                                      "tool_",  "function_", "|",         "!--"};
  for (size_t at = 0; at < text.len; at++) {
    if (text.ptr[at] != '<') continue;
    size_t name = at + 1;
    while (name < text.len && (text.ptr[name] == '/' || text.ptr[name] == ' ')) name++;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
      size_t len = strlen(names[i]);
      if (text.len - name < len || strncasecmp(text.ptr + name, names[i], len) != 0) continue;
      /* A letter of any script continues the name. */
      const char behind = fold_at(text, name + len).look[0];
      if (!isalnum((unsigned char)names[i][len - 1]) ||
          (!isalnum((unsigned char)behind) && behind != '.' && behind != ':'))
        return "it has a reserved tag";
    }
  }
  return NULL;
}

static bool take_frame(const struct render_input *input, struct tidings_span *text) {
  if (input->format != FORMAT_ANTHROPIC && !take(text, "\n\n")) return false;
  if (!take(text, "<system-reminder")) return false;
  if (input->nonce.len) {
    if (!take(text, " nonce=\"") || text->len < input->nonce.len ||
        memcmp(text->ptr, input->nonce.ptr, input->nonce.len) != 0)
      return false;
    *text = span_of(text->ptr + input->nonce.len, text->len - input->nonce.len);
    if (!take(text, "\"")) return false;
  }
  return take(text, ">\nThe user sent the following message:\n") &&
         take_end(
             text,
             "\n\nPlease address this message and continue with your tasks.\n</system-reminder>");
}

const char *steered_problem(const struct render_input *input, const struct rendered *message) {
  struct tidings_span text = message->text;
  bool own = input->format == FORMAT_OPENAI;
  uint32_t role = own                                 ? TIDINGS_VOICE_USER
                  : input->format == FORMAT_ANTHROPIC ? TIDINGS_VOICE_BLOCK
                                                      : TIDINGS_VOICE_CARRIER;
  uint32_t place = !own                  ? TIDINGS_PLACE_APPEND
                   : input->chat_request ? TIDINGS_PLACE_BEFORE
                                         : TIDINGS_PLACE_AFTER;
  if (message->role != role || message->place != place)
    return "a steered message has the wrong role or place";
  if (!own && !take_frame(input, &text)) return "a steered message is not in its frame";
  if (!text.len) return "a steered message is empty";
  const char *problem = check_characters(text);
  if (!problem) problem = check_tags(text);
  return problem ? problem : lookalike_problem(text, true);
}
