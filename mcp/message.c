/* SPDX-License-Identifier: MIT
 */
#include "mcp/message.h"

/* The rules are lenient, because the wrapper passes messages on and does not judge them. */
static const struct json_rules rules = {
    .max_depth = 512, .nul = true, .halves = true, .repeats = true, .large = true};

static struct tidings_span text_of(const struct json *json) {
  return json && json->kind == JSON_IS_STRING ? json->text : span_of(NULL, 0);
}

static struct mcp_id id_of(const struct json *json) {
  struct mcp_id id = {.is_text = false};
  if (!json || (json->kind != JSON_IS_STRING && json->kind != JSON_IS_NUMBER)) return id;
  id.is_text = json->kind == JSON_IS_STRING;
  id.text = json->text;
  return id;
}

bool mcp_id_equal(const struct mcp_id *one, const struct mcp_id *other) {
  return one->text.ptr && other->text.ptr && one->is_text == other->is_text &&
         span_equal(one->text, other->text);
}

/* If a result has `structuredContent`, Claude Code and Codex do not read its content.
 * A task and a request for input have no content. */
static void read_result(const struct json *result, struct mcp_message *message) {
  const struct json *content = json_member(result, "content"),
                    *type = json_member(result, "resultType"),
                    *failed = json_member(result, "isError");
  message->is_error = failed && failed->kind == JSON_IS_TRUE;
  if (!content || content->kind != JSON_IS_ARRAY) return;
  if (json_member(result, "structuredContent") || json_member(result, "task")) return;
  if (type && !span_is(text_of(type), "complete")) return;
  message->takes_block = true;
  message->is_empty = !content->members;
  message->insert_at = content->end - 1; /* its closing bracket */
}

static void read_request(const struct json *params, struct mcp_message *message) {
  const struct json *meta = json_member(params, "_meta"),
                    *codex = json_member(meta, "x-codex-turn-metadata");
  if (span_is(message->method, "notifications/cancelled"))
    message->cancelled = id_of(json_member(params, "requestId"));
  if (!span_is(message->method, "tools/call")) return;
  message->tool = text_of(json_member(params, "name"));
  message->session = text_of(json_member(codex, "session_id"));
}

/* A block in a message that says both would go into an error, which no model reads as a result. */
static bool is_failure(const struct json *message) {
  const struct json *error = json_member(message, "error");
  return error && error->kind != JSON_IS_NULL;
}

int mcp_message_read(struct tidings_span line, struct arena *arena, struct mcp_message *ret_message,
                     struct tidings_error *error) {
  struct mcp_message message = {.kind = MCP_OTHER};
  const struct json *json = NULL;
  int code = json_read_by(&rules, line, "the line", arena, &json, error);
  if (code) return code;
  const struct json *method = json_member(json, "method"), *result = json_member(json, "result");
  message.id = id_of(json_member(json, "id"));
  message.method = text_of(method);
  if (message.method.ptr) {
    message.kind = message.id.text.ptr ? MCP_REQUEST : MCP_NOTIFICATION;
    read_request(json_member(json, "params"), &message);
  } else if (result && message.id.text.ptr && !is_failure(json)) {
    message.kind = MCP_RESULT;
    read_result(result, &message);
  }
  *ret_message = message;
  return 0;
}

void mcp_message_splice(struct tidings_span line, const struct mcp_message *message,
                        struct tidings_span text, struct buffer *out) {
  buffer_append(out, line.ptr, message->insert_at);
  buffer_text(out,
              message->is_empty ? "{\"type\":\"text\",\"text\":" : ",{\"type\":\"text\",\"text\":");
  json_write_string(text, out);
  buffer_byte(out, '}');
  buffer_append(out, line.ptr + message->insert_at, line.len - message->insert_at);
}
