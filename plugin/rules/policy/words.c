/* SPDX-License-Identifier: MIT
 *
 * rules/policy/words.c: one message for several items: equal ones are counted, files are listed,
 * others stand one behind the other. It stays within limits.message_bytes, whatever it stands for,
 * and says what it leaves out.
 */
#include "common/buffer.h"
#include "rules/policy/steps.h"

struct members { /* of a line */
  const struct item **items;
  size_t *leaders; /* which of them say the same */
  size_t *times;   /* at a leader: how many say it */
  size_t count;
};

/* With `files`, what has paths says nothing by its message. */
static int list_members(const struct work *work, const struct line *line, bool files,
                        struct members *ret) {
  struct members members = {.items = arena_array(work->arena, line->count, sizeof *members.items),
                            .leaders =
                                arena_array(work->arena, line->count, sizeof *members.leaders),
                            .times = arena_zalloc(work->arena, line->count, sizeof *members.times)};
  struct tidings_span *messages = arena_zalloc(work->arena, line->count, sizeof *messages);
  if (!members.items || !members.leaders || !members.times || !messages) return -1;
  for (size_t i = first_of(work, line); i != NO_ITEM; i = work->next[i]) {
    bool is_file = files && work->items[i].facts.path_count;
    if (!is_file) messages[members.count] = work->items[i].note.message;
    members.items[members.count++] = &work->items[i];
  }
  if (group_equal(messages, members.count, work->arena, members.leaders)) return -1;
  for (size_t m = 0; m < members.count; m++) members.times[members.leaders[m]]++;
  *ret = members;
  return 0;
}

/* The different paths of all members, in the order in which they were first named. */
static int list_paths(const struct work *work, const struct line *line,
                      struct tidings_span **ret_paths, size_t *ret_count) {
  size_t count = 0, different = 0, first = first_of(work, line);
  for (size_t i = first; i != NO_ITEM; i = work->next[i]) count += work->items[i].facts.path_count;
  struct tidings_span *paths = arena_array(work->arena, count, sizeof *paths);
  size_t *leaders = arena_array(work->arena, count, sizeof *leaders);
  if (!paths || !leaders) return -1;
  count = 0;
  for (size_t i = first; i != NO_ITEM; i = work->next[i]) {
    const struct facts *facts = &work->items[i].facts;
    for (size_t p = 0; p < facts->path_count; p++) paths[count++] = facts->paths[p];
  }
  if (group_equal(paths, count, work->arena, leaders)) return -1;
  for (size_t p = 0; p < count; p++) {
    if (leaders[p] == p) paths[different++] = paths[p];
  }
  *ret_paths = paths;
  *ret_count = different;
  return 0;
}

static bool fits(const struct work *work, const struct buffer *out, struct tidings_span text) {
  return out->len + text.len <= work->settings->message_bytes;
}

static void write_paths(const struct work *work, const struct tidings_span *paths, size_t count,
                        struct buffer *out) {
  size_t written = 0;
  buffer_text(out, "Multiple files modified: ");
  for (; written < count && (!written || fits(work, out, paths[written])); written++) {
    if (written) buffer_text(out, ", ");
    buffer_span(out, paths[written]);
  }
  if (written < count) buffer_format(out, "… (%zu more files)", count - written);
}

static struct tidings_span without_end_blanks(struct tidings_span text) {
  while (text.len && strchr(" \t\r\n", text.ptr[text.len - 1])) text.len--;
  return text;
}

/* One message, and how often it was said. */
static void write_counted(struct tidings_span message, size_t times, struct buffer *out) {
  buffer_span(out, without_end_blanks(message));
  if (times > 1) buffer_format(out, " (%zu times)", times);
}

/* Messages from the first `more` on that are left out: how many different ones. */
static size_t left_out(const struct members *members, size_t from, bool files) {
  size_t count = 0;
  for (size_t m = from; m < members->count; m++)
    count += members->leaders[m] == m && !(files && members->items[m]->facts.path_count);
  return count;
}

/* Files, if there are any, as one message where the first of them stands, everything else by
 * itself. */
static void write_all(const struct work *work, const struct members *members,
                      const struct tidings_span *paths, size_t path_count, struct buffer *out) {
  bool files = path_count > 0, files_written = false;
  for (size_t m = 0; m < members->count; m++) {
    bool is_file = files && members->items[m]->facts.path_count;
    if (is_file ? files_written : members->leaders[m] != m) continue;
    if (out->len && !fits(work, out, is_file ? paths[0] : members->items[m]->note.message)) {
      if (is_file) buffer_format(out, "; … (%zu files)", path_count);
      else buffer_format(out, "; … (%zu more)", left_out(members, m, files));
      return;
    }
    if (out->len) buffer_text(out, "; ");
    if (is_file) write_paths(work, paths, path_count, out);
    else write_counted(members->items[m]->note.message, members->times[m], out);
    files_written = files_written || is_file;
  }
}

static bool all_say_the_same(const struct work *work, const struct line *line) {
  for (size_t i = first_of(work, line); i != NO_ITEM; i = work->next[i]) {
    if (!span_equal(work->items[i].note.message, line->item->note.message)) return false;
  }
  return true;
}

int write_common_message(const struct work *work, struct line *line) {
  struct buffer text = BUFFER_EMPTY;
  struct members members;
  struct tidings_span *paths = NULL;
  size_t path_count = 0;
  if (all_say_the_same(work, line)) {
    write_counted(line->message, line->count, &text);
  } else {
    if (list_paths(work, line, &paths, &path_count) ||
        list_members(work, line, path_count > 1, &members))
      return -1;
    write_all(work, &members, paths, path_count > 1 ? path_count : 0, &text);
  }
  int code = text.failed || arena_copy(work->arena, buffer_view(&text), &line->message) ? -1 : 0;
  buffer_free(&text);
  return code;
}
