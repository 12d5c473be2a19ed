/* SPDX-License-Identifier: MIT
 *
 * excerpt/failure.c: nearby lines of one failure form a group; it is kept when the next group
 * begins.
 */
#include "cli/excerpt/failure.h"

#include "common/utf8.h"

/* The largest distance between two lines of one failure. */
enum { NEAR_LINES = 30, NEAR_FILE_LINES = 6, TITLE_LINES = 3 };

static size_t after_indent(struct tidings_span line, size_t at) {
  while (at < line.len && (line.ptr[at] == ' ' || line.ptr[at] == '\t')) at++;
  return at;
}

/* Removes the indentation, and the "# " that precedes a test's own output in TAP. */
static struct tidings_span without_indent(struct tidings_span line) {
  size_t indent = after_indent(line, 0);
  if (line.len - indent > 1 && line.ptr[indent] == '#' && line.ptr[indent + 1] == ' ')
    indent = after_indent(line, indent + 1);
  return span_of(line.ptr + indent, line.len - indent);
}

static struct failure_line line_of(uint64_t number, enum role role, struct tidings_span text) {
  struct failure_line line = {.number = number, .role = role};
  line.len = utf8_prefix(text, sizeof line.text);
  line.cut = line.len < text.len;
  memcpy(line.text, text.ptr, line.len);
  return line;
}

/* -- groups ------------------------------------------------------------------------------------ */

/* Is the failure known already? Test runners repeat failures in a summary. */
static bool is_known(const struct failure_group *groups, size_t count,
                     const struct failure_group *group, enum role role) {
  for (size_t i = 0; i < count; i++) {
    for (size_t j = 0; j < groups[i].count; j++) {
      const struct failure_line *one = &groups[i].lines[j];
      for (size_t k = 0; one->role == role && k < group->count; k++) {
        const struct failure_line *other = &group->lines[k];
        if (other->role == role && one->len == other->len &&
            memcmp(one->text, other->text, one->len) == 0)
          return true;
      }
    }
  }
  return false;
}

static void close_group(struct failure *failure) {
  struct failure_group *group = &failure->open;
  bool stated = group->has_statement;
  struct failure_group *groups = stated ? failure->stated : failure->titled;
  size_t *count = stated ? &failure->stated_count : &failure->titled_count;
  if (group->count && *count < FAILURE_GROUPS &&
      !is_known(groups, *count, group, stated ? ROLE_STATEMENT : ROLE_TITLE))
    groups[(*count)++] = *group;
  group->count = 0;
  group->has_statement = group->has_place = false;
  failure->next = 0;
  failure->in_title = false;
}

static bool is_near(const struct failure *failure, uint64_t number) {
  return failure->open.count && number - failure->open_at <= NEAR_LINES;
}

static void append(struct failure *failure, const struct failure_line *line) {
  struct failure_group *group = &failure->open;
  failure->open_at = line->number;
  if (group->count == FAILURE_GROUP_LINES) return;
  group->lines[group->count++] = *line;
  group->has_statement = group->has_statement || line->role == ROLE_STATEMENT;
  group->has_place = group->has_place || line->role == ROLE_PLACE;
}

static void begin_group(struct failure *failure, const struct failure_line *line) {
  close_group(failure);
  append(failure, line);
}

static void add_statement(struct failure *failure, const struct failure_line *line) {
  bool joins = is_near(failure, line->number) && !failure->open.has_statement;
  if (!joins) close_group(failure);
  if (failure->file.number && line->number - failure->file.number <= NEAR_FILE_LINES)
    append(failure, &failure->file);
  failure->file.number = 0;
  append(failure, line);
}

/* Adds a place, unless it is far from the open failure, or that failure has a place. */
static void add_place(struct failure *failure, const struct failure_line *line) {
  if (is_near(failure, line->number) && !failure->open.has_place) append(failure, line);
}

static void add_detail(struct failure *failure, const struct failure_line *line) {
  if (is_near(failure, line->number) && failure->open.has_statement) append(failure, line);
}

static void add_explanation(struct failure *failure, struct failure_line *line) {
  bool explained = failure->open.has_statement && line->number - failure->open_at <= 1;
  line->role = explained ? ROLE_DETAIL : ROLE_STATEMENT;
  if (explained) add_detail(failure, line);
  else add_statement(failure, line);
}

static void add_weak(struct failure *failure, const struct failure_line *line) {
  failure->weak[failure->weak_count++ % FAILURE_LINES] = *line;
}

/* -- lines that need their neighbours ---------------------------------------------------------- */

/* The frames of a traceback are indented; the first line without indentation is the exception. */
static bool add_traced(struct failure *failure, uint64_t number, size_t indent,
                       struct tidings_span text) {
  struct failure_line line = line_of(number, ROLE_STATEMENT, text);
  if (!failure->in_trace) return false;
  if (indent > failure->trace_indent) {
    bool is_frame = pattern_matches("File \"*\", line #", text);
    bool is_library =
        pattern_matches("File \"*/lib/python", text) || pattern_matches("File \"<frozen ", text);
    if (is_frame && (!is_library || !failure->frame.number)) {
      failure->frame = line;
      failure->frame.role = ROLE_PLACE;
    }
    return true;
  }
  failure->in_trace = false;
  if (failure->open.has_statement || !is_near(failure, number)) close_group(failure);
  if (failure->frame.number) append(failure, &failure->frame);
  append(failure, &line);
  return true;
}

/* Handles " 1) Array": a failure if the lines below are indented deeper, otherwise a list of the
 * tests. */
static void add_numbered(struct failure *failure, const struct failure_line *line, size_t indent) {
  if (indent) {
    failure->maybe = *line;
    failure->maybe_indent = indent;
  } else {
    begin_group(failure, line);
  }
}

static void settle_maybe(struct failure *failure, size_t indent) {
  if (!failure->maybe.number) return;
  if (indent > failure->maybe_indent) {
    begin_group(failure, &failure->maybe);
    failure->in_title = true;
    failure->title_indent = failure->maybe_indent;
  }
  failure->maybe.number = 0;
}

/* Adds a line that matches no pattern, because it belongs to the line above. */
static bool add_following(struct failure *failure, uint64_t number, size_t indent,
                          struct tidings_span text) {
  struct failure_line line = line_of(number, ROLE_TITLE, text);
  bool continues =
      failure->in_title && indent > failure->title_indent && failure->open.count < TITLE_LINES;
  if (!continues) failure->in_title = false;
  if (continues) {
    failure->in_title = text.ptr[text.len - 1] != ':';
    append(failure, &line);
    return true;
  }
  if (!failure->next) return false;
  failure->next--;
  line.role = failure->next_role;
  append(failure, &line);
  return true;
}

/* -- lines ------------------------------------------------------------------------------------- */

static void add_by_role(struct failure *failure, struct failure_line *line,
                        const struct pattern *pattern, size_t indent) {
  switch (pattern->role) {
  case ROLE_TITLE: begin_group(failure, line); break;
  case ROLE_STATEMENT: add_statement(failure, line); break;
  case ROLE_PLACE: add_place(failure, line); break;
  case ROLE_DETAIL: add_detail(failure, line); break;
  case ROLE_EXPLANATION: add_explanation(failure, line); break;
  case ROLE_WEAK: add_weak(failure, line); break;
  case ROLE_FILE:
    failure->file = *line;
    failure->file.role = ROLE_PLACE;
    break;
  case ROLE_TRACE:
    failure->in_trace = true;
    failure->trace_indent = indent;
    failure->frame.number = 0;
    break;
  case ROLE_NONE:
  case ROLE_NOISE: break;
  }
  if (failure->next && pattern->role == ROLE_DETAIL) failure->next--;
  if (!pattern->next) return;
  failure->next = pattern->next;
  failure->next_role = ROLE_STATEMENT;
}

void failure_add(struct failure *failure, uint64_t number, struct tidings_span whole) {
  struct tidings_span text = without_indent(whole);
  size_t indent = whole.len - text.len;
  if (failure->stated_count == FAILURE_GROUPS) return; /* more are never shown */
  if (!text.len) {
    settle_maybe(failure, 0);
    failure->in_title = false;
    return;
  }
  settle_maybe(failure, indent);
  if (add_traced(failure, number, indent, text)) return;
  if (pattern_matches("#) ~", text) && !pattern_find(text, indent)) {
    struct failure_line line = line_of(number, ROLE_TITLE, text);
    add_numbered(failure, &line, indent);
    return;
  }
  const struct pattern *pattern = pattern_find(text, indent);
  if (pattern) {
    struct failure_line line = line_of(number, pattern->role, text);
    failure->in_title = false;
    add_by_role(failure, &line, pattern, indent);
  } else if (!add_following(failure, number, indent, text) && !failure->stated_count &&
             !failure->open.has_statement && pattern_mentions_failure(text)) {
    struct failure_line line = line_of(number, ROLE_WEAK, text);
    add_weak(failure, &line);
  }
}

void failure_end(struct failure *failure) {
  settle_maybe(failure, 0);
  close_group(failure);
}
