/* SPDX-License-Identifier: MIT
 */
#include "block_check.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <tidings/reply.h>

#include "common/json.h"
#include "common/utf8.h"
#include "neutral_check.h"
#include "render/fold.h"

/* -- text -------------------------------------------------------------------------------------- */

static bool starts(struct tidings_span line, const char *prefix) {
  return line.len >= strlen(prefix) && memcmp(line.ptr, prefix, strlen(prefix)) == 0;
}

static bool ends(struct tidings_span line, const char *suffix) {
  size_t len = strlen(suffix);
  return line.len >= len && memcmp(line.ptr + line.len - len, suffix, len) == 0;
}

static struct tidings_span behind(struct tidings_span line, size_t at) {
  return span_of(line.ptr + at, line.len - at);
}

static struct tidings_span next_line(struct tidings_span *text) {
  const char *end = memchr(text->ptr, '\n', text->len);
  size_t len = end ? (size_t)(end - text->ptr) : text->len;
  struct tidings_span line = span_of(text->ptr, len);
  *text = end ? span_of(end + 1, text->len - len - 1) : span_of(text->ptr + text->len, 0);
  return line;
}

static size_t times(struct tidings_span text, const char *word) {
  size_t count = 0, len = strlen(word);
  for (size_t at = 0; at + len <= text.len; at++) count += memcmp(text.ptr + at, word, len) == 0;
  return count;
}

static const char *check_characters(struct tidings_span text) {
  uint32_t before = 0;
  for (size_t at = 0; at < text.len;) {
    uint32_t code_point = 0;
    size_t len = utf8_decode(text, at, &code_point);
    if (!len) return "it is not UTF-8";
    if (code_point != '\n' && utf8_is_deceptive(code_point))
      return "a deceptive character came through";
    at += len;
    bool keycap = before && before < 0x80 && strchr("0123456789#*", (char)before) &&
                  starts(behind(text, at), "\xE2\x83\xA3");
    if ((code_point == 0xFE0E || code_point == 0xFE0F) && before < 0x80 && !keycap)
      return "a selector hides in ASCII";
    before = code_point;
  }
  return NULL;
}

static bool is_count_line(struct tidings_span line) {
  size_t at = 1;
  if (!starts(line, "(")) return false;
  while (at < line.len && isdigit((unsigned char)line.ptr[at])) at++;
  return at > 1 && starts(behind(line, at), " more notification");
}

/* "- - -", "*", "==". */
static bool is_rule_of_marks(struct tidings_span line) {
  for (size_t i = 0; i < line.len; i++)
    if (line.ptr[i] != line.ptr[0] && line.ptr[i] != ' ') return false;
  return line.len && strchr("-=*_", line.ptr[0]);
}

/* Would markdown or a block give this line, where it starts, a meaning? */
static bool is_structure(struct tidings_span line) {
  static const char *const never[] = {"---", "***", "___", "===", "```", "~~~", "#", ">",
                                      "|",   "<",   "**",  "__",  "- ",  "* ",  "+ "};
  for (size_t i = 0; i < sizeof never / sizeof *never; i++) {
    if (starts(line, never[i])) return true;
  }
  if (!line.len || isspace((unsigned char)line.ptr[0])) return true;
  size_t digits = 0;
  while (digits < line.len && isdigit((unsigned char)line.ptr[digits])) digits++;
  if (digits && digits + 1 < line.len && (line.ptr[digits] == '.' || line.ptr[digits] == ')') &&
      line.ptr[digits + 1] == ' ')
    return true;
  return is_rule_of_marks(line) || span_is(line, "+") || is_count_line(line);
}

/* Returns the length of the list, quote or table mark at the beginning of the line; 0: there is
 * none. */
static size_t list_mark(struct tidings_span line) {
  size_t digits = 0;
  if (starts(line, "|") || starts(line, ">")) return 1;
  if (starts(line, "- ") || starts(line, "* ") || starts(line, "+ ")) return 1;
  if (span_is(line, "*") || span_is(line, "+")) return 1;
  while (digits < line.len && isdigit((unsigned char)line.ptr[digits])) digits++;
  bool dotted = digits && digits < line.len && strchr(".)", line.ptr[digits]);
  return dotted && (digits + 1 == line.len || line.ptr[digits + 1] == ' ') ? digits + 1 : 0;
}

/* An indented line is no item, but the text after its marks may still forge something. */
static bool is_inner_structure(struct tidings_span line) {
  bool marked = false;
  for (size_t len; (len = list_mark(line)); marked = true) {
    if (is_rule_of_marks(line)) return true;
    line = behind(line, len);
    while (line.len && line.ptr[0] == ' ') line = behind(line, 1);
  }
  return marked ? line.len && is_structure(line) : is_structure(line);
}

/* Is it a later line of an item: empty, or indented and without a meaning? */
static bool is_continuation(struct tidings_span line) {
  if (!line.len) return true;
  if (!starts(line, "  ")) return false;
  while (line.len && line.ptr[0] == ' ') line = behind(line, 1);
  return !is_inner_structure(line);
}

/* Does a tag of this name begin here, or a tag whose name continues with a hyphen? <username> and
 * List<System.Out> are no such tags. */
static bool names_tag(struct tidings_span text, const char *name) {
  size_t len = strlen(name);
  if (text.len < len || strncasecmp(text.ptr, name, len) != 0) return false;
  if (text.len == len) return true;
  /* A letter of any script continues the name. */
  unsigned char next = (unsigned char)fold_at(text, len).look[0];
  return !isalnum(next) && next != '.' && next != ':';
}

static bool has_reserved_tag(struct tidings_span text) {
  static const char *const names[] = {"system", "notification", "notifications",
                                      "user",   "assistant",    "tool"};
  for (size_t at = 0; at + 1 < text.len; at++) {
    if (text.ptr[at] != '<') continue;
    if (text.ptr[at + 1] == '|' || starts(behind(text, at + 1), "!--")) return true;
    size_t name = at + 1;
    while (name < text.len && (text.ptr[name] == '/' || text.ptr[name] == ' ')) name++;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
      if (names_tag(behind(text, name), names[i])) return true;
    }
  }
  return false;
}

/* -- markdown ---------------------------------------------------------------------------------- */

static bool is_fence(const struct render_input *input, struct tidings_span line) {
  if (!starts(line, "---")) return false;
  return input->nonce.len
             ? line.len == 4 + input->nonce.len && span_equal(behind(line, 4), input->nonce)
             : line.len == 3;
}

static bool is_level_title(bool bare, struct tidings_span line) {
  if (bare)
    return span_is(line, "Critical:") || span_is(line, "Error:") || span_is(line, "Warning:") ||
           span_is(line, "Info:");
  return span_is(line, "**Critical:**") || span_is(line, "**Error:**") ||
         span_is(line, "**Warning:**") || span_is(line, "**Info:**");
}

static const char *check_markdown(const struct render_input *input, struct tidings_span text) {
  size_t fences = 0, items = 0, pending = 0, titles = 0;
  bool flat = input->format == FORMAT_MARKDOWN_FLAT;
  if (has_reserved_tag(text)) return "it has a reserved tag";
  if (!is_fence(input, next_line(&text))) return "it does not begin with its fence";
  struct tidings_span title = next_line(&text);
  if (!starts(title, "**") ||
      !ends(title, flat ? "system notifications**" : "System Notifications**"))
    return "it has no title";
  bool longest = flat && input->place == TIDINGS_PLACE_PREPEND;
  for (int i = 0; i < (input->bare ? 0 : longest ? 5 : 4); i++) (void)next_line(&text);
  while (text.len) {
    struct tidings_span line = next_line(&text);
    if (fences) return "something stands behind the closing fence";
    if (is_fence(input, line)) fences++;
    else if (is_level_title(input->bare, line)) titles++;
    else if (starts(line, "(")) pending++;
    else if (starts(line, "- ")) {
      items++;
      if (is_structure(behind(line, 2))) return "an item reads as structure";
    } else if (!is_continuation(line)) return "a line is neither the block's nor an item's";
  }
  if (fences != 1) return "there is not one closing fence";
  if (items != input->line_count || pending != (input->deferred > 0))
    return "there are more or fewer items than there should be";
  return titles > LEVEL_COUNT ? "there are more titles than levels" : NULL;
}

/* -- plain ------------------------------------------------------------------------------------- */

static const char *const marks[LEVEL_COUNT] = {"[info]", "[warning] ", "[error] ", "[critical] "};

static const char *const names[LEVEL_COUNT] = {"info", "warning", "error", "critical"};

/* Does the text begin with a level's name, and so look like a head? */
static bool begins_with_level(struct tidings_span text) {
  for (int i = 0; i < LEVEL_COUNT; i++)
    if (text.len >= strlen(names[i]) && strncasecmp(text.ptr, names[i], strlen(names[i])) == 0)
      return true;
  return false;
}

/* Skips "[error ci] ", "[slack] " or "[error] "; *ret_problem: the mark is not this line's. */
static struct tidings_span skip_head(const struct line *shown, struct tidings_span line,
                                     const char **ret_problem) {
  bool named = shown->item->note.made_by == MADE_BY_NOTIFICATION && shown->item->note.source.len;
  size_t len = 0;
  *ret_problem = NULL;
  if (!named && !shown->level) return line;
  *ret_problem = "it lacks its head";
  if (!starts(line, "[")) return line;
  line = behind(line, 1);
  bool leveled = starts(line, names[shown->level]) &&
                 (starts(behind(line, strlen(names[shown->level])), " ") ||
                  starts(behind(line, strlen(names[shown->level])), "]"));
  if (shown->level && !leveled) return line;
  if (leveled) line = behind(line, strlen(names[shown->level]));
  if (leveled && named && !starts(line, " ")) return line;
  if (leveled && named) line = behind(line, 1);
  if (!leveled && begins_with_level(line) && memchr(line.ptr, ' ', line.len) &&
      memchr(line.ptr, ' ', line.len) < memchr(line.ptr, ']', line.len))
    *ret_problem = "its source forges a level";
  while (len < line.len && line.ptr[len] != ']' && line.ptr[len] != '[')
    len += line.ptr[len] == '\\' ? 2 : 1;
  if (len >= line.len || !starts(behind(line, len), "] ")) return line;
  *ret_problem = NULL;
  return behind(line, len + 2);
}

static const char *check_after_head(struct tidings_span line) {
  for (int i = 0; i < LEVEL_COUNT; i++) {
    if (strncasecmp(line.len >= strlen(marks[i]) ? line.ptr : "", marks[i], strlen(marks[i])) == 0)
      return "it forges a level";
  }
  return is_structure(line) ? "its first line reads as structure" : NULL;
}

/* Checks that the line begins with its own level and with no other. */
static const char *check_level(uint8_t level, struct tidings_span line) {
  if (level && !starts(line, marks[level])) return "it lacks its level";
  return check_after_head(level ? behind(line, strlen(marks[level])) : line);
}

/* Checks that the line begins with its own head and with no other. */
static const char *check_head(const struct line *shown, struct tidings_span line) {
  const char *problem;
  line = skip_head(shown, line, &problem);
  return problem ? problem : check_after_head(line);
}

static struct tidings_span trimmed(struct tidings_span line) {
  while (line.len && line.ptr[0] == ' ') line = behind(line, 1);
  return line;
}

static bool is_plain_header(const struct render_input *input, struct tidings_span line) {
  static const char words[] = "While you worked (not from the user", nonce[] = ", nonce ";
  if (!starts(line, words)) return false;
  line = behind(line, sizeof words - 1);
  if (!input->nonce.len) return span_is(line, "):");
  if (!starts(line, nonce) || line.len != sizeof nonce - 1 + input->nonce.len + 2) return false;
  line = behind(line, sizeof nonce - 1);
  return memcmp(line.ptr, input->nonce.ptr, input->nonce.len) == 0 && ends(line, "):");
}

static const char *check_plain(const struct render_input *input, struct tidings_span text) {
  size_t items = 0, pending = 0, closed = 0;
  if (has_reserved_tag(text)) return "it has a reserved tag";
  if (!is_plain_header(input, next_line(&text))) return "it does not begin with its header";
  while (text.len) {
    struct tidings_span line = next_line(&text);
    const char *problem = NULL;
    if (closed) return "something stands behind its last line";
    if (is_fence(input, line)) closed++;
    else if (is_count_line(line)) pending++;
    else if (starts(line, "- ")) {
      if (items == input->line_count) return "there are more items than there should be";
      problem = check_head(&input->lines[items++], behind(line, 2));
    } else if (!is_continuation(line) || is_plain_header(input, trimmed(line)))
      problem = "a line is neither the block's nor an item's";
    if (problem) return problem;
  }
  bool right = items == input->line_count && pending == (input->deferred > 0) &&
               closed == (input->place == TIDINGS_PLACE_PREPEND);
  return right ? NULL : "there are more or fewer items than there should be";
}

/* -- xml --------------------------------------------------------------------------------------- */

/* An opening tag whose attributes are sound: their quotes close, and nothing between them opens or
 * closes a tag. */
static bool is_opening(struct tidings_span line, const char *tag) {
  if (!starts(line, tag) || !ends(line, ">")) return false;
  if (times(line, "<") != 1 || times(line, ">") != 1 || times(line, "\"") % 2) return false;
  return line.ptr[strlen(tag)] == ' ' || line.ptr[strlen(tag)] == '>';
}

static const char *check_elements(const struct render_input *input, struct tidings_span text) {
  size_t opened = 0, closed = 0, pending = 0;
  bool inside = false, first = false;
  if (times(text, "<") != 2 * input->line_count || times(text, ">") != 2 * input->line_count)
    return "there are other tags than its own";
  while (text.len) {
    struct tidings_span line = next_line(&text);
    if (!inside && is_opening(line, "<notification")) {
      opened++;
      inside = first = true;
    } else if (inside && span_is(line, "</notification>")) {
      closed++;
      inside = false;
    } else if (inside) {
      if (first ? is_structure(line) : !is_continuation(line))
        return "a line of an item reads as structure";
      first = false;
    } else if (is_count_line(line)) pending++;
    else if (line.len) return "something stands between the elements";
  }
  bool right = opened == input->line_count && closed == opened && pending == (input->deferred > 0);
  return right ? NULL : "there are more or fewer elements than there should be";
}

/* "- [source] [critical] ": the source's own brackets have backslashes. */
static bool is_marked(struct tidings_span line) {
  size_t at = 3;
  while (at < line.len && line.ptr[at] != ']') at += line.ptr[at] == '\\' ? 2 : 1;
  return at < line.len && starts(behind(line, at), "] [critical] ");
}

static const char *check_list_element(const struct render_input *input, struct tidings_span text,
                                      const char *tag, const char *closing) {
  size_t items = 0, pending = 0, closed = 0, marked = 0, critical = 0;
  for (size_t i = 0; i < input->line_count; i++)
    critical += input->lines[i].level == TIDINGS_LEVEL_CRITICAL;
  if (times(text, "<") != 2 || times(text, ">") != 2) return "there are other tags than its own";
  if (!is_opening(next_line(&text), tag)) return "it does not begin with its tag";
  for (int i = 0; i < (input->format == FORMAT_SYSTEM_REMINDER && !input->bare ? 3 : 0); i++)
    (void)next_line(&text);
  while (text.len) {
    struct tidings_span line = next_line(&text);
    if (closed) return "something stands behind the closing tag";
    if (span_is(line, closing)) closed++;
    else if (is_count_line(line)) pending++;
    else if (starts(line, "- [")) {
      items++;
      marked += is_marked(line);
    } else if (!is_continuation(line)) return "a line is neither the block's nor an item's";
  }
  if (input->format == FORMAT_XML_BATCH && marked != critical) return "it forges a critical";
  bool right = items == input->line_count && closed == 1 && pending == (input->deferred > 0);
  return right ? NULL : "there are more or fewer items than there should be";
}

/* -- json and calls ---------------------------------------------------------------------------- */

static const char *check_json(const struct render_input *input, struct tidings_span text) {
  struct arena arena = ARENA_EMPTY;
  const struct json *object;
  static const char opening[] = "```json\n", closing[] = "\n```";
  if (!starts(text, opening) || !ends(text, closing) || times(text, "```") != 2)
    return "there is not one fence around it";
  if (times(text, "<") || times(text, ">")) return "it has a tag";
  struct tidings_span inside =
      span_of(text.ptr + sizeof opening - 1, text.len - sizeof opening - sizeof closing + 2);
  if (json_read(inside, "block", &arena, &object, NULL)) {
    arena_free(&arena);
    return "it is not JSON";
  }
  const struct json *list = json_member(object, "system_notifications"),
                    *nonce = json_member(object, "nonce");
  bool right = list && list->count == input->line_count &&
               (json_member(object, "pending") != NULL) == (input->deferred > 0) &&
               (nonce ? span_equal(nonce->text, input->nonce) != 0 : !input->nonce.len);
  for (const struct json *one = right ? list->members : NULL; one; one = one->next) {
    const struct json *message = json_member(one, "message"), *level = json_member(one, "level");
    right = right && message && level && message->kind == JSON_IS_STRING;
  }
  arena_free(&arena);
  return right ? NULL : "it does not hold what it should";
}

static const char *check_call(const struct render_input *input, size_t index,
                              struct tidings_span text) {
  struct tidings_span rest = text;
  struct tidings_span line = next_line(&rest);
  bool last = index + 1 == input->line_count, counted = false;
  if (has_reserved_tag(text)) return "it has a reserved tag";
  if (input->nonce.len) {
    if (line.len < input->nonce.len + 3) return "it lacks its nonce";
    line = behind(line, input->nonce.len + 3);
  }
  const char *problem = check_level(input->lines[index].level, line);
  if (problem) return problem;
  while (rest.len) {
    line = next_line(&rest);
    if (last && input->deferred && !rest.len && is_count_line(line)) counted = true;
    else if (!is_continuation(line)) return "a line of it reads as structure";
  }
  return counted == (last && input->deferred > 0) ? NULL : "how many wait is said wrongly";
}

/* -- all of them ------------------------------------------------------------------------------- */

static const char *check_block(const struct render_input *input, struct tidings_span text) {
  switch (input->format) {
  case FORMAT_XML: return check_elements(input, text);
  case FORMAT_XML_BATCH:
    return check_list_element(input, text, "<notifications", "</notifications>");
  case FORMAT_SYSTEM_REMINDER:
    return check_list_element(input, text, "<system-reminder", "</system-reminder>");
  case FORMAT_JSON: return check_json(input, text);
  case FORMAT_PLAIN: return check_plain(input, text);
  default: return check_markdown(input, text);
  }
}

/* Removes the separators between the block and the carrier's text. */
static bool take_separators(const struct render_input *input, struct tidings_span *text) {
  bool append = input->place == TIDINGS_PLACE_APPEND;
  if (append ? !starts(*text, "\n\n") : !ends(*text, "\n\n")) return false;
  *text = span_of(text->ptr + (append ? 2 : 0), text->len - 2);
  return true;
}

const char *block_problem(const struct render_input *input, const struct rendered *messages,
                          size_t count) {
  bool calls = input->format == FORMAT_SYNTHETIC_CALL;
  size_t blocks = calls ? input->line_count : input->line_count > 0;
  if (count != blocks + input->steered_count)
    return "there are more or fewer messages than there should be";
  for (size_t i = blocks; i < count; i++) {
    const char *problem = steered_problem(input, &messages[i]);
    if (problem) return problem;
  }
  for (size_t i = 0; i < blocks; i++) {
    struct tidings_span text = messages[i].text;
    const char *problem = check_characters(text);
    if (problem) return problem;
    if (messages[i].role == TIDINGS_VOICE_CARRIER && !take_separators(input, &text))
      return "its separator is missing";
    problem = calls ? check_call(input, i, text) : check_block(input, text);
    if (problem) return problem;
  }
  return NULL;
}
