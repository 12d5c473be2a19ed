/* SPDX-License-Identifier: MIT
 *
 * render/run.c: writes how a command ended. All texts come from outside. This file removes their
 * escape sequences. The notification is neutralized, as all are, only when it is rendered for a
 * reply.
 */
#include "render/run.h"

#include "common/plain_text.h"
#include "common/utf8.h"

enum { LAST_LINES = 20, LAST_BYTES = 2000, COMMAND_CHARACTERS = 100 };
enum { ERROR_LINES = 8, ERROR_BYTES = 1200 };

static const char heading[] = "\nThe last lines:", line_break[] = "\n  ";
static const char error_heading[] = "\nLines of the log that say why:";

/* -- the last lines ---------------------------------------------------------------------------- */

static void write_lines(const char *above, struct tidings_span lines, bool whole,
                        struct buffer *out) {
  buffer_text(out, above);
  for (bool first = true; lines.len; first = false) {
    const char *end = memchr(lines.ptr, '\n', lines.len);
    size_t len = end ? (size_t)(end - lines.ptr) : lines.len;
    buffer_text(out, len ? line_break : "\n");
    if (first && !whole) buffer_text(out, "…");
    buffer_append(out, lines.ptr, len);
    if (end) len++;
    lines = span_of(lines.ptr + len, lines.len - len);
  }
}

/* Returns as many lines from the beginning as fit. */
static struct tidings_span first_lines(struct tidings_span text, size_t lines, size_t bytes) {
  size_t len = 0, used = 0;
  for (size_t at = 0; at < text.len && lines; lines--) {
    const char *end = memchr(text.ptr + at, '\n', text.len - at);
    size_t line = end ? (size_t)(end - text.ptr) - at : text.len - at;
    used += line + sizeof line_break - 1;
    if (used > bytes) break;
    len = at + line;
    at = len + 1;
  }
  return span_of(text.ptr, len);
}

/* Returns how many bytes it has added. */
static size_t write_errors(struct tidings_span errors, size_t most, struct buffer *out) {
  struct buffer plain = BUFFER_EMPTY;
  size_t begin = out->len, needed = out->len + sizeof error_heading - 1;
  size_t room = most > needed ? most - needed : 0;
  plain_text(errors, &plain);
  struct tidings_span all = plain_last_lines(buffer_view(&plain), SIZE_MAX, SIZE_MAX, 0);
  struct tidings_span lines =
      first_lines(all, ERROR_LINES, room < ERROR_BYTES ? room : ERROR_BYTES);
  if (lines.len) write_lines(error_heading, lines, true, out);
  if (plain.failed) out->failed = true;
  buffer_free(&plain);
  return out->len - begin;
}

static void write_last_lines(struct tidings_span output, size_t most, size_t bytes,
                             struct buffer *out) {
  struct buffer plain = BUFFER_EMPTY;
  size_t needed = out->len + sizeof heading - 1 + strlen("…");
  size_t room = most > needed ? most - needed : 0;
  plain_text(output, &plain);
  struct tidings_span text = buffer_view(&plain);
  struct tidings_span all = plain_last_lines(text, SIZE_MAX, SIZE_MAX, 0);
  struct tidings_span lines =
      plain_last_lines(text, LAST_LINES, room < bytes ? room : bytes, sizeof line_break - 1);
  if (!lines.len) lines = all; /* nothing fits: the caller cuts it */
  if (lines.len) write_lines(heading, lines, lines.ptr == text.ptr || lines.ptr[-1] == '\n', out);
  if (plain.failed) out->failed = true;
  buffer_free(&plain);
}

void render_last_lines(struct tidings_span output, size_t most, struct buffer *out) {
  write_last_lines(output, most, LAST_BYTES, out);
}

/* -- the first line ---------------------------------------------------------------------------- */

/* Writes the text on one line, and visibly cuts it if it is longer. */
static void write_on_line(struct tidings_span text, size_t most, struct buffer *out) {
  struct buffer plain = BUFFER_EMPTY;
  plain_text(text, &plain);
  for (size_t i = 0; i < plain.len; i++) {
    if (plain.bytes[i] == '\n' || plain.bytes[i] == '\t') plain.bytes[i] = ' ';
  }
  size_t shown = utf8_characters(buffer_view(&plain), most);
  buffer_append(out, plain.bytes, shown);
  if (shown < plain.len) buffer_text(out, "…");
  if (plain.failed) out->failed = true;
  buffer_free(&plain);
}

static void write_quoted(struct tidings_span text, size_t most, struct buffer *out) {
  buffer_byte(out, '`');
  write_on_line(text, most, out);
  buffer_byte(out, '`');
}

static void write_ending(enum event_type type, const struct report *report, struct buffer *out) {
  if (report->signal.len) {
    buffer_text(out, "was killed by ");
    write_on_line(report->signal, COMMAND_CHARACTERS, out);
    return;
  }
  if (report->lost) {
    buffer_text(out, "was lost track of");
    return;
  }
  buffer_text(out, type == EVENT_RUN_FINISHED ? "finished" : "failed");
  if (report->has_exit_code)
    buffer_format(out, " with exit code %lld", (long long)report->exit_code);
}

static void write_duration(int64_t ms, struct buffer *out) {
  long long seconds = ms / 1000;
  if (seconds < 60) buffer_format(out, " after %lld.%lld s", seconds, (long long)(ms % 1000 / 100));
  else if (seconds < 3600) buffer_format(out, " after %lld min %lld s", seconds / 60, seconds % 60);
  else buffer_format(out, " after %lld h %lld min", seconds / 3600, seconds % 3600 / 60);
}

static void write_log(const struct report *report, struct buffer *out) {
  buffer_text(out, " Log: ");
  write_quoted(report->log, SIZE_MAX, out);
  if (!report->log_error.len) return;
  buffer_text(out, " (incomplete: ");
  write_on_line(report->log_error, COMMAND_CHARACTERS, out);
  buffer_byte(out, ')');
}

/* Does the report have a tool's name that the command does not contain? */
static bool is_named(const struct report *report) {
  return report->tool.len &&
         !memmem(report->command.ptr, report->command.len, report->tool.ptr, report->tool.len);
}

void render_run(enum event_type type, const struct report *report, size_t most,
                struct buffer *out) {
  buffer_text(out, "Command ");
  write_quoted(report->command, COMMAND_CHARACTERS, out);
  buffer_text(out, " (");
  if (is_named(report)) {
    write_quoted(report->tool, COMMAND_CHARACTERS, out);
    buffer_text(out, ", ");
  }
  buffer_text(out, "handle ");
  write_quoted(report->handle, SIZE_MAX, out);
  buffer_text(out, ") ");
  write_ending(type, report, out);
  if (report->has_duration) write_duration(report->duration_ms, out);
  buffer_byte(out, '.');
  if (report->lost) buffer_text(out, " What ran it has ended; whether it still runs is not known.");
  if (report->log.len) write_log(report, out);
  size_t errors = write_errors(report->errors, most, out);
  write_last_lines(report->output, most, LAST_BYTES - errors, out);
  if (report->has_output && !report->output.len) buffer_text(out, "\nIt printed nothing.");
}
