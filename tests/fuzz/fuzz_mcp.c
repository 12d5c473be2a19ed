/* SPDX-License-Identifier: MIT
 *
 * tests/fuzz/fuzz_mcp.c: a line of an MCP server, and after a NUL the text of a block. A reader
 * must find one more block, with that text, in the spliced line. Without that block, the line must
 * have its old bytes. The input is also read as a line of a host: tidings' own server answers it
 * with one line of JSON, or not at all.
 */
#include "fuzz.h"

#include <string.h>

#include "common/utf8.h"
#include "mcp/message.h"
#include "mcp/server.h"

static const struct json_rules lenient = {
    .max_depth = 512, .nul = true, .halves = true, .repeats = true, .large = true};

static const struct json *content_of(struct tidings_span line, struct arena *arena) {
  const struct json *json = NULL;
  MUST(!json_read_by(&lenient, line, "spliced", arena, &json, NULL), "%.*s", SPAN_FORMAT(line));
  return json_member(json_member(json, "result"), "content");
}

static void check_splice(struct tidings_span line, const struct mcp_message *message,
                         struct tidings_span text) {
  struct arena arena = ARENA_EMPTY;
  struct buffer out = BUFFER_EMPTY;
  size_t at = message->insert_at;
  MUST(at < line.len && line.ptr[at] == ']', "no end of a list at %zu", at);
  mcp_message_splice(line, message, text, &out);
  MUST(!out.failed && out.len > line.len, "no memory");
  size_t rest = line.len - at;
  MUST(memcmp(out.bytes, line.ptr, at) == 0, "the beginning has changed");
  MUST(memcmp(out.bytes + out.len - rest, line.ptr + at, rest) == 0, "the end has changed");
  const struct json *before = content_of(line, &arena),
                    *after = content_of(buffer_view(&out), &arena);
  MUST(after && after->count == before->count + 1, "not one more block");
  const struct json *last = after->members;
  while (last->next) last = last->next;
  MUST(span_equal(json_member(last, "text")->text, text), "another text");
  buffer_free(&out);
  arena_free(&arena);
}

static void check_answer(struct tidings_span line) {
  struct buffer out = BUFFER_EMPTY;
  struct mcp_action action;
  struct arena arena = ARENA_EMPTY;
  const struct json *json = NULL;
  mcp_server_line(line, true, &out, &action);
  if (action.arguments) mcp_server_answer(&action, "done", false, &out);
  MUST(!out.failed, "no memory");
  mcp_action_finish(&action);
  const char *end = out.len ? memchr(out.bytes, '\n', out.len) : NULL;
  MUST(!out.len || end == out.bytes + out.len - 1, "not one line");
  MUST(!out.len || !json_read_by(&lenient, buffer_view(&out), "answer", &arena, &json, NULL),
       "%.*s", SPAN_FORMAT(buffer_view(&out)));
  arena_free(&arena);
  buffer_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
  const char *bytes = (const char *)data, *nul = len ? memchr(bytes, '\0', len) : NULL;
  struct tidings_span line = span_of(bytes, nul ? (size_t)(nul - bytes) : len);
  struct tidings_span text = nul ? span_of(nul + 1, len - line.len - 1) : span_of("", 0);
  struct arena arena = ARENA_EMPTY;
  struct mcp_message message;
  text.len = utf8_valid_length(text);
  if (!mcp_message_read(line, &arena, &message, NULL) && message.kind == MCP_RESULT &&
      message.takes_block)
    check_splice(line, &message, text);
  arena_free(&arena);
  check_answer(line);
  return 0;
}
