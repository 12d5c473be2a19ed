/* SPDX-License-Identifier: MIT
 */
#include "command/print.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tidings/hostkit.h>

#include "command/terminal.h"
#include "common/buffer.h"
#include "common/json.h"
#include "common/utf8.h"

enum { INDENT = 4, ID_COLUMNS = 3 };

static void print_escaped(FILE *out, uint32_t code_point) {
  uint32_t above = code_point - 0x10000;
  if (code_point < 0x10000) fprintf(out, "\\u%04x", (unsigned)code_point);
  else
    fprintf(out, "\\u%04x\\u%04x", (unsigned)(0xD800 + (above >> 10)),
            (unsigned)(0xDC00 + (above & 0x3FF)));
}

/* Such characters can be only in strings; outside of strings JSON has only ASCII. */
void print_json_text(FILE *out, const char *json) {
  struct tidings_span text = span_text(json);
  size_t written = 0, at = 0;
  for (uint32_t code_point; at < text.len;) {
    size_t len = utf8_decode(text, at, &code_point);
    if (len && code_point >= 0x7F && utf8_is_deceptive(code_point)) {
      fwrite(json + written, 1, at - written, out);
      print_escaped(out, code_point);
      written = at + len;
    }
    at += len ? len : 1;
  }
  fwrite(json + written, 1, at - written, out);
}

int print_json(const struct cli *cli, const json_t *value) {
  char *text = json_dumps(value, JSON_INDENT(2) | JSON_ENCODE_ANY);
  if (!text) return cli_fail(cli, "out of memory");
  print_json_text(stdout, text);
  putchar('\n');
  free(text);
  return 0;
}

int print_reply(const struct cli *cli, const struct tidings_reply *reply) {
  struct tidings_error error = {.size = sizeof error};
  char *json = NULL;
  int32_t code = hostkit_reply_json(reply, &json, &error);
  if (code) return cli_fail_with(cli, code, &error);
  print_json_text(stdout, json);
  putchar('\n');
  hostkit_free(json);
  return 0;
}

int print_reply_of(const struct cli *cli, const char *session, const char *message,
                   const struct tidings_reply *reply) {
  struct tidings_error error = {.size = sizeof error};
  struct buffer whole = BUFFER_EMPTY;
  char *json = NULL, *text = NULL;
  int32_t refused = hostkit_reply_json(reply, &json, &error);
  if (refused) return cli_fail_with(cli, refused, &error);
  buffer_text(&whole, "{\"session\":");
  json_write_string(span_text(session), &whole);
  if (message) {
    buffer_text(&whole, ",\"id\":");
    json_write_string(span_text(message), &whole);
  }
  buffer_text(&whole, ",");
  buffer_text(&whole, strchr(json, '{') + 1);
  text = buffer_take(&whole);
  int code = text ? 0 : cli_fail(cli, "out of memory");
  if (text) print_json_text(stdout, text);
  if (text) putchar('\n');
  free(text);
  hostkit_free(json);
  return code;
}

/* Prints a text below a line of this program. The text is indented, so that none of its lines can
 * be taken for this program's, and escaped, so that a terminal only shows it. */
static void print_indented(struct tidings_span text) {
  printf("\n%*s", INDENT, "");
  terminal_byte_lines(stdout, text.ptr, text.len, INDENT);
  putchar('\n');
}

static void print_action(const struct tidings_action *action) {
  if (action->type == TIDINGS_ACTION_ABORT_STREAM) puts("abort_stream");
  if (action->type == TIDINGS_ACTION_STOP_TURN) puts("stop_turn");
  if (action->type != TIDINGS_ACTION_START_TURN) return;
  for (size_t i = 0; i < action->message_count; i++) {
    const struct tidings_message *message = action->messages[i];
    fputs("start_turn ", stdout);
    terminal_bytes(stdout, message->id.ptr, message->id.len);
    print_indented(message->content);
  }
}

void print_actions(const struct tidings_reply *reply) {
  for (size_t i = 0; reply && i < reply->action_count; i++) print_action(reply->actions[i]);
}

void print_kind(const json_t *item) {
  const json_t *kind = json_object_get(item, "kind");
  const char *name = json_value_text(kind, "name");
  terminal_text(stdout, json_value_text(kind, "source"));
  if (name[0]) putchar('.');
  terminal_text(stdout, name);
}

void print_notification(struct show_clock *clock, const json_t *item) {
  show_time(clock, json_value_text(item, "time"));
  fputs("  ", stdout);
  show_id(json_value_text(item, "id"), ID_COLUMNS);
  fputs("  ", stdout);
  show_level(json_value_text(item, "level"), 8);
  putchar(' ');
  print_kind(item);
  int64_t due_ms = show_time_ms(json_value_text(item, "due_at"));
  if (due_ms) fputs("  for ", stdout);
  if (due_ms) show_moment(due_ms);
  fputs("\n    ", stdout);
  terminal_lines(stdout, json_value_text(item, "message"), INDENT);
  putchar('\n');
}

int print_since(const struct cli *cli, const char *text, int64_t *ret_ms) {
  if (!show_since(text, ret_ms)) return 0;
  return cli_usage(cli,
                   "--since: '%s' is no time; expected 15:40, 2026-11-23, '2026-11-23 15:40', or a "
                   "duration such as 90m, 2h, 1d",
                   text);
}

void print_drop_older(json_t *list, const char *time, int64_t since_ms) {
  if (since_ms == INT64_MIN) return;
  for (size_t i = json_array_size(list); i-- > 0;)
    if (show_time_ms(json_value_text(json_array_get(list, i), time)) < since_ms)
      (void)json_array_remove(list, i);
}
