/* SPDX-License-Identifier: MIT
 */
#include "render/lookalike.h"

#include "common/eight.h"
#include "common/utf8.h"
#include "render/render.h"
#include "values/notification.h"

/* -- lines ------------------------------------------------------------------------------------- */

/* The length of the line break at `at`; 0: there is none. */
static size_t break_at(struct tidings_span text, size_t at) {
  const char *bytes = text.ptr + at;
  size_t left = text.len - at;
  switch (*bytes) {
  case '\r': return left > 1 && bytes[1] == '\n' ? 2 : 1;
  case '\n':
  case '\v':
  case '\f': return 1;
  case '\xC2': return left > 1 && bytes[1] == '\x85' ? 2 : 0;
  case '\xE2':
    return left > 2 && bytes[1] == '\x80' && (bytes[2] == '\xA8' || bytes[2] == '\xA9') ? 3 : 0;
  default: return 0;
  }
}

size_t lookalike_line_end(struct tidings_span text, size_t begin) {
  while (text.len - begin >= 8) {
    uint64_t eight = eight_at(text.ptr + begin);
    uint64_t found =
        eight_less(eight, '\r' + 1) | eight_equal(eight, 0xC2) | eight_equal(eight, 0xE2);
    begin += found ? eight_first(found) : 8;
    if (!found) continue;
    if (break_at(text, begin)) return begin;
    begin++;
  }
  while (begin < text.len && !break_at(text, begin)) begin++;
  return begin;
}

size_t lookalike_line_after(struct tidings_span text, size_t end) {
  return end < text.len ? end + break_at(text, end) : end;
}

/* -- words that hide --------------------------------------------------------------------------- */

static size_t skip_unseen(struct tidings_span text, size_t at) {
  for (struct fold fold; (fold = fold_at(text, at)).kind == FOLD_UNSEEN;) at += fold.taken;
  return at;
}

/* Skips unseen characters and line breaks. */
static size_t skip_breaks(struct tidings_span text, size_t at) {
  for (struct fold fold; (fold = fold_at(text, at)).kind == FOLD_UNSEEN || fold.kind == FOLD_BREAK;)
    at += fold.taken;
  return at;
}

/* Skips unseen characters and blanks. */
static size_t skip_space(struct tidings_span text, size_t at) {
  for (struct fold fold; (fold = fold_at(text, at)).kind == FOLD_UNSEEN || fold.kind == FOLD_BLANK;)
    at += fold.taken;
  return at;
}

/* Skips unseen characters, blanks and line breaks. */
static size_t skip_to_text(struct tidings_span text, size_t at) {
  for (struct fold fold; (fold = fold_at(text, at)).kind == FOLD_UNSEEN ||
                         fold.kind == FOLD_BLANK || fold.kind == FOLD_BREAK;)
    at += fold.taken;
  return at;
}

static bool ends_line(struct tidings_span text, size_t at) {
  struct fold fold = fold_at(text, skip_space(text, at));
  return fold.kind == FOLD_END || fold.kind == FOLD_BREAK;
}

/* The characters that may stand between two letters of a word, beside invisible ones. */
enum gaps { GAPS_BREAKS, /* a line break, and blanks around it */ GAPS_ALL /* blanks too */ };

static size_t skip_gap(struct tidings_span text, size_t at, enum gaps gaps) {
  size_t seen = skip_unseen(text, at), text_at = skip_to_text(text, seen);
  return gaps == GAPS_ALL || fold_at(text, skip_space(text, seen)).kind == FOLD_BREAK ? text_at
                                                                                      : seen;
}

/* l, i, 1 and | look alike, and so do o and 0. */
static bool letters_alike(char look, char letter) {
  if (look == letter) return true;
  if (letter == 'i' || letter == 'l')
    return look == 'i' || look == 'l' || look == '1' || look == '|';
  if (letter == 'o') return look == '0';
  return letter == '_' && look == '-';
}

/* How many letters of `word` the character looks like. */
static size_t letters_taken(const struct fold *fold, const char *word) {
  if (fold->kind != FOLD_ASCII || !letters_alike(fold->look[0], word[0])) return 0;
  if (!fold->look[1] || !word[1]) return 1;
  return letters_alike(fold->look[1], word[1]) ? 2 : 0;
}

/* The place after "rn", which looks like m. NO_MARK: there is no "rn". */
static size_t skip_split_m(struct tidings_span text, size_t at) {
  struct fold first = fold_at(text, at);
  size_t next = skip_unseen(text, at + first.taken);
  struct fold second = fold_at(text, next);
  return first.look[0] == 'r' && second.look[0] == 'n' ? next + second.taken : NO_MARK;
}

/* Skips what may stand for the hyphen of a word: a hyphen, an underscore, blanks or nothing. */
static size_t skip_hyphen(struct tidings_span text, size_t at) {
  at = skip_to_text(text, at);
  struct fold fold = fold_at(text, at);
  bool is_hyphen = fold.look[0] == '-' || fold.look[0] == '_' || fold.look[0] == FOLD_LONG_DASH;
  return is_hyphen ? skip_to_text(text, at + fold.taken) : at;
}

/* The end of `word`, in lower case, if it begins at `at`; NO_MARK: it does not stand there. A blank
 * in it stands for any blanks and line breaks. */
static size_t match_exact(struct tidings_span text, size_t at, const char *word, enum gaps gaps) {
  for (bool first = true; *word; first = false) {
    size_t gap = first ? skip_unseen(text, at) : skip_gap(text, at, gaps);
    if (*word == ' ') {
      size_t end = skip_to_text(text, at);
      if (end == at) return NO_MARK;
      at = end;
      word++;
    } else if (*word == '-') {
      at = skip_hyphen(text, at);
      word++;
    } else {
      struct fold fold = fold_at(text, gap);
      size_t taken = letters_taken(&fold, word);
      size_t split = !taken && *word == 'm' ? skip_split_m(text, gap) : NO_MARK;
      if (!taken && split == NO_MARK) return NO_MARK;
      at = taken ? gap + fold.taken : split;
      word += taken ? taken : 1;
    }
  }
  return at;
}

/* The same, and skips the unseen characters after the word. */
static size_t match_word(struct tidings_span text, size_t at, const char *word, enum gaps gaps) {
  size_t end = match_exact(text, at, word, gaps);
  return end == NO_MARK ? NO_MARK : skip_unseen(text, end);
}

/* -- tags and names ---------------------------------------------------------------------------- */

/* Does a tag's name end here? Not in <username>, nor in List<System.Out>. */
static bool ends_name(char look) { return !is_alphanumeric(look) && look != '.' && look != ':'; }

/* The place of the first letter of a tag's name. */
static size_t skip_to_name(struct tidings_span text, size_t at) {
  at = skip_to_text(text, at + fold_at(text, at).taken);
  for (struct fold fold; (fold = fold_at(text, at)).look[0] == '/';)
    at = skip_to_text(text, at + fold.taken);
  return at;
}

/* The first letters of reserved names, as they look. Most tags begin with another letter. */
static bool may_be_reserved(const struct fold *first) {
  return first->look[0] && strchr("_-ftal1|!snuhdi", first->look[0]);
}

static bool is_reserved_name(struct tidings_span text, size_t at) {
  static const char *const prefixes[] = {"_system", "function_", "tool_", "tool-",
                                         "antml",   "|",         "!--",   "![cdata["};
  static const char *const names[] = {"system",    "notification", "notifications", "user",
                                      "assistant", "human",        "developer",     "tool",
                                      "invoke",    "instructions"};
  struct fold first = fold_at(text, skip_unseen(text, at));
  if (!may_be_reserved(&first)) return false;
  for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
    if (letters_taken(&first, prefixes[i]) &&
        match_word(text, at, prefixes[i], GAPS_BREAKS) != NO_MARK)
      return true;
  }
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (!letters_taken(&first, names[i])) continue;
    /* An invisible character ends a name too: an item shows it as {U+200B}. */
    size_t end = match_exact(text, at, names[i], GAPS_BREAKS);
    if (end != NO_MARK && ends_name(fold_at(text, end).look[0])) return true;
  }
  return false;
}

bool lookalike_reserved_tag(struct tidings_span text, size_t at) {
  size_t name = at + fold_at(text, at).taken;
  for (struct fold fold; (fold = fold_at(text, name)).kind == FOLD_BLANK || fold.look[0] == '/';)
    name += fold.taken;
  if (ends_line(text, name)) return true; /* whatever is on the next line */
  return is_reserved_name(text, skip_to_name(text, at)) || lookalike_block_tag(text, at);
}

static bool continues_name(char look) {
  return is_alphanumeric(look) || (look && strchr("_-.:", look));
}

bool lookalike_block_tag(struct tidings_span text, size_t at) {
  static const char *const names[] = {"system-reminder", "notification", "notifications"};
  at = skip_to_name(text, at);
  struct fold first = fold_at(text, skip_unseen(text, at));
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (!letters_taken(&first, names[i])) continue;
    size_t end = match_word(text, at, names[i], GAPS_ALL);
    if (end != NO_MARK && !continues_name(fold_at(text, end).look[0])) return true;
  }
  return false;
}

/* Returns where the terminal's sequence begins that ends in front of `at`; `at`: none does. */
static size_t sequence_before(struct tidings_span text, size_t at) {
  size_t begin = at - 1;
  while (begin && text.ptr[begin - 1] >= 0x20 && text.ptr[begin - 1] <= 0x3F) begin--;
  if (begin < 2 || text.ptr[begin - 1] != '[' || text.ptr[begin - 2] != 0x1B) return at;
  return fold_at(text, begin - 2).taken == at - begin + 2 ? begin - 2 : at;
}

/* Returns where the character begins that ends in front of `at`, which is not 0. An escape or a
 * terminal's sequence is one character. */
static size_t character_before(struct tidings_span text, size_t at) {
  static const size_t escapes[] = {12, 6, 4, 2};
  for (size_t i = 0; i < sizeof escapes / sizeof *escapes; i++) {
    size_t len = escapes[i];
    if (at >= len && text.ptr[at - len] == '\\' && fold_at(text, at - len).taken == len)
      return at - len;
  }
  size_t begin = sequence_before(text, at);
  if (begin != at) return begin;
  for (begin = at - 1; begin && at - begin < 4 && ((unsigned char)text.ptr[begin] & 0xC0) == 0x80;)
    begin--;
  return fold_at(text, begin).taken == at - begin ? begin : at - 1;
}

/* Returns the last byte of the last seen character in front of `at`. For an escape, returns the
 * letter, digit or underscore that it stands for, or else a blank. At the beginning, returns a
 * blank. */
static char seen_before(struct tidings_span text, size_t at) {
  while (at) {
    size_t begin = character_before(text, at);
    struct fold fold = fold_at(text, begin);
    if (fold.kind != FOLD_UNSEEN) {
      if (!fold.escaped) return text.ptr[at - 1];
      if (is_alphanumeric(fold.look[0]) || fold.look[0] == '_') return fold.look[0];
      return ' ';
    }
    at = begin;
  }
  return ' ';
}

/* A quick check: true if it is certainly no key of ours, as with "width" or my_name. */
static bool is_no_key(struct tidings_span text, size_t at) {
  char before = ' ', behind = byte_at(text, at + 1);
  if (at) before = text.ptr[at - 1];
  if (text.ptr[at] == '_' && (is_alphanumeric(before) || before == '_'))
    return character_before(text, at) == at - 1;
  if (text.ptr[at] == '"' && behind == ' ') return true;
  return (unsigned char)behind < 0x80 && behind > ' ' && behind != 0x7F && behind != '\\' &&
         lower_case(behind) != 's';
}

bool lookalike_key(struct tidings_span text, size_t at) {
  if ((unsigned char)text.ptr[at] < 0x80 && text.ptr[at] != '\\' && is_no_key(text, at))
    return false;
  char before = seen_before(text, at);
  struct fold first = fold_at(text, at);
  if (before == '\\') return false;
  if (first.look[0] == '"') {
    size_t begin = skip_breaks(text, at + first.taken);
    size_t end = match_word(text, begin, "system_notifications", GAPS_BREAKS);
    return end != NO_MARK && fold_at(text, skip_breaks(text, end)).look[0] == '"';
  }
  if (is_alphanumeric(before) || before == '_') return false;
  size_t end = match_word(text, at, NOTIFICATION_TOOL, GAPS_BREAKS);
  if (end == NO_MARK) return false;
  char behind = fold_at(text, end).look[0];
  return !is_alphanumeric(behind) && behind != '_';
}

/* -- lines of a block -------------------------------------------------------------------------- */

/* Searches the rest of the line for `words`. Returns the place after them; NO_MARK: they are not
 * there. */
static size_t find_words(struct tidings_span text, size_t at, const char *words) {
  for (struct fold fold; (fold = fold_at(text, at)).kind != FOLD_END && fold.kind != FOLD_BREAK;
       at += fold.taken) {
    if (!letters_alike(fold.look[0], words[0])) continue;
    size_t end = match_word(text, at, words, GAPS_BREAKS);
    if (end != NO_MARK) return end;
  }
  return NO_MARK;
}

/* Is the text at `at` the title of a block of ours? */
static bool title_follows(struct tidings_span text, size_t at) {
  size_t begin = skip_to_text(text, at);
  return find_words(text, begin, "system notification") != NO_MARK ||
         match_word(text, begin, "these are automated system messages", GAPS_BREAKS) != NO_MARK;
}

/* Matches the look of a nonce, up to the end of the line. */
static bool is_nonce(struct tidings_span text, size_t at) {
  enum { NONCE_DIGITS = 16 };
  size_t digits = 0;
  for (struct fold fold; digits <= NONCE_DIGITS;
       digits++, at = skip_unseen(text, at + fold.taken)) {
    fold = fold_at(text, at);
    bool is_letter = fold.look[0] >= 'a' && fold.look[0] <= 'f' && !fold.look[1];
    if (!fold.digit && !is_letter) break;
  }
  return digits == NONCE_DIGITS && ends_line(text, at);
}

static bool is_fence(enum fences fences, struct tidings_span text, size_t at) {
  size_t dashes = 0;
  for (struct fold fold;
       (fold = fold_at(text, at)).look[0] == '-' || fold.look[0] == FOLD_LONG_DASH; dashes++)
    at = skip_space(text, at + fold.taken);
  if (dashes < 3) return false;
  if (!ends_line(text, at)) return is_nonce(text, at);
  return fences == FENCES_ALL || title_follows(text, at);
}

/* The text after the two marks at the beginning: "Critical:**", and nothing after it. */
static bool is_level_title(struct tidings_span text, size_t begin, char mark) {
  for (unsigned level = 0; level < LEVEL_COUNT; level++) {
    size_t at = match_word(text, begin, level_name(level), GAPS_BREAKS), colons = 0, marks = 0;
    if (at == NO_MARK) continue;
    for (struct fold fold; (fold = fold_at(text, at)).look[0] == mark || fold.look[0] == ':';
         at = skip_space(text, at + fold.taken))
      fold.look[0] == ':' ? colons++ : marks++;
    if (colons && marks >= 2 && ends_line(text, at)) return true;
  }
  return false;
}

/* The place after two marks at `at`. NO_MARK: there are no two. */
static size_t skip_marks(struct tidings_span text, size_t at, char mark) {
  struct fold first = fold_at(text, at);
  if (first.look[0] != mark) return NO_MARK;
  at = skip_unseen(text, at + first.taken);
  struct fold second = fold_at(text, at);
  return second.look[0] == mark ? at + second.taken : NO_MARK;
}

static bool is_title(struct tidings_span text, size_t at, char mark) {
  size_t begin = skip_marks(text, at, mark);
  if (begin == NO_MARK) return false;
  for (struct fold fold; (fold = fold_at(text, skip_unseen(text, begin))).look[0] == mark;)
    begin = skip_unseen(text, begin) + fold.taken;
  if (lookalike_plain_header(text, skip_space(text, begin))) return true;
  size_t in = ends_line(text, begin) ? skip_to_text(text, begin) : begin;
  for (struct fold fold; (fold = fold_at(text, in)).kind != FOLD_END && fold.kind != FOLD_BREAK;
       in += fold.taken) {
    if (fold.look[0] == mark && skip_marks(text, in, mark) != NO_MARK) break;
    if (fold.look[0] == 's' && match_word(text, in, "system notification", GAPS_BREAKS) != NO_MARK)
      return true;
  }
  return is_level_title(text, begin, mark);
}

/* "## Error:", and nothing after it. */
static bool is_level_heading(struct tidings_span text, size_t at) {
  for (struct fold fold; (fold = fold_at(text, at)).look[0] == '#' || fold.kind == FOLD_UNSEEN ||
                         fold.kind == FOLD_BLANK;)
    at += fold.taken;
  for (unsigned level = 0; level < LEVEL_COUNT; level++) {
    size_t end = match_word(text, at, level_name(level), GAPS_BREAKS);
    if (end == NO_MARK) continue;
    struct fold colon = fold_at(text, skip_space(text, end));
    if (colon.look[0] == ':' && ends_line(text, skip_space(text, end) + colon.taken)) return true;
  }
  return false;
}

/* Does the line end at `at`, but for an "s" and marks? */
static bool has_no_more_words(struct tidings_span text, size_t at) {
  if (fold_at(text, at).look[0] == 's') at += fold_at(text, at).taken;
  for (struct fold fold; (fold = fold_at(text, at)).kind != FOLD_END && fold.kind != FOLD_BREAK;
       at += fold.taken) {
    if (fold.kind == FOLD_OTHER || is_alphanumeric(fold.look[0])) return false;
  }
  return true;
}

/* "## JP System Notifications", and no more words. The words may match more than once. */
static bool is_heading(struct tidings_span text, size_t at) {
  if (is_level_heading(text, at)) return true;
  do at = find_words(text, at, "system notification");
  while (at != NO_MARK && !has_no_more_words(text, at));
  return at != NO_MARK;
}

bool lookalike_pending_line(struct tidings_span text, size_t at) {
  struct fold fold = fold_at(text, at);
  size_t digits = 0;
  if (fold.look[0] != '(') return false;
  for (at = skip_unseen(text, at + fold.taken); (fold = fold_at(text, at)).digit; digits++)
    at = skip_unseen(text, at + fold.taken);
  return digits && match_word(text, at, " more notification", GAPS_BREAKS) != NO_MARK;
}

bool lookalike_plain_header(struct tidings_span text, size_t at) {
  return match_word(text, at, "while you worked (not from the user", GAPS_BREAKS) != NO_MARK;
}

/* "[tidings 1z141z5-0k3j2h4g]", and nothing after it: the end of what a hook hands out. */
static bool is_marker(struct tidings_span text, size_t at) {
  size_t in = match_word(text, at, "[tidings", GAPS_BREAKS);
  if (in == NO_MARK || fold_at(text, in).kind != FOLD_BLANK) return false;
  in = skip_space(text, in);
  for (struct fold fold; (fold = fold_at(text, in)).look[0] == '-' || fold.kind == FOLD_UNSEEN ||
                         is_alphanumeric(fold.look[0]);)
    in += fold.taken;
  struct fold last = fold_at(text, in);
  return last.look[0] == ']' && ends_line(text, in + last.taken);
}

/* A quick check that is true for the beginning of most lines. */
static bool begins_plainly(struct tidings_span text, size_t begin) {
  while (byte_at(text, begin) == ' ') begin++;
  char first = byte_at(text, begin);
  return first > ' ' && first < 0x7F && !strchr("-*_#([wW\\", first);
}

size_t lookalike_line_mark(enum fences fences, struct tidings_span text, size_t begin, size_t end) {
  if (begins_plainly(text, begin)) return NO_MARK;
  size_t mark = skip_space(text, begin);
  if (mark >= end) return NO_MARK;
  bool reads_so = false;
  char look = fold_at(text, mark).look[0];
  switch (look) {
  case FOLD_LONG_DASH:
  case '-': reads_so = is_fence(fences, text, mark); break;
  case '*':
  case '_': reads_so = is_title(text, mark, look); break;
  case '#': reads_so = is_heading(text, mark); break;
  case '(': reads_so = lookalike_pending_line(text, mark); break;
  case '[': reads_so = is_marker(text, mark); break;
  case 'w': reads_so = lookalike_plain_header(text, mark); break;
  default: break;
  }
  return reads_so ? mark : NO_MARK;
}
