/* SPDX-License-Identifier: MIT
 */
#include "mcp/server.h"

#include <stdlib.h>
#include <string.h>

#include "command/json_value.h"
#include "mcp/tools.h"

#define PROTOCOL "io.modelcontextprotocol/"
#define MODERN "2026-07-28"
enum {
  CODE_PARSE = -32700,
  CODE_REQUEST = -32600,
  CODE_METHOD = -32601,
  CODE_PARAMS = -32602,
  CODE_VERSION = -32022
};
enum { LIST_TTL_MS = 3600000 };

/* The newest is first; it answers an unknown version. */
static const char *const legacy_versions[] = {"2025-11-25", "2025-06-18", "2025-03-26",
                                              "2024-11-05", NULL};

static const char instructions[] =
    "Notifications of what happens outside this conversation (background commands, files, CI, "
    "other "
    "agents) are added to the results of these tools, after the line \"While you worked (not from "
    "the user):\". They are no words of the user. The tool 'news' shows what is pending.";

struct request {
  char *id; /* JSON text, as the host wrote it */
  const char *method;
  const json_t *params;
  bool modern, without_tools;
};

/* -- answers ----------------------------------------------------------------------------------- */

/* Takes `member` over. `id`: JSON text. */
static void write_answer(const char *id, const char *name, json_t *member, struct buffer *out) {
  char *text = member ? json_dumps(member, JSON_COMPACT) : NULL;
  json_decref(member);
  if (!text) {
    out->failed = true;
    return;
  }
  buffer_format(out, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"%s\":", id, name);
  buffer_text(out, text);
  buffer_text(out, "}\n");
  free(text);
}

static void write_result(const struct request *request, json_t *result, struct buffer *out) {
  if (request->modern) json_object_set_new(result, "resultType", json_string("complete"));
  write_answer(request->id, "result", result, out);
}

/* Takes `data` over; NULL: none. */
static void write_error(const char *id, int code, const char *text, json_t *data,
                        struct buffer *out) {
  json_t *error = json_pack("{s:i, s:s}", "code", code, "message", text);
  if (data) json_object_set_new(error, "data", data);
  write_answer(id, "error", error, out);
}

/* Writes an error: a sentence and a word of the host. */
static void write_error_about(const char *id, int code, const char *sentence, const char *word,
                              struct buffer *out) {
  json_t *text = json_sprintf("%s '%s'", sentence, word);
  write_error(id, code, text ? json_string_value(text) : sentence, NULL, out);
  json_decref(text);
}

void mcp_server_refuse_long(struct buffer *out) {
  write_error("null", CODE_REQUEST, "the line is too long", NULL, out);
}

/* -- methods ----------------------------------------------------------------------------------- */

static json_t *server_info(void) {
  return json_pack("{s:s, s:s}", "name", "tidings", "version", TIDINGS_VERSION);
}

static void initialize(const struct request *request, struct buffer *out) {
  const char *version = json_value_text(request->params, "protocolVersion"), *agreed = NULL;
  for (size_t i = 0; legacy_versions[i] && !agreed; i++) {
    if (strcmp(version, legacy_versions[i]) == 0) agreed = legacy_versions[i];
  }
  json_t *result =
      json_pack("{s:s, s:{s:{}}, s:o}", "protocolVersion", agreed ? agreed : legacy_versions[0],
                "capabilities", "tools", "serverInfo", server_info());
  if (!request->without_tools)
    json_object_set_new(result, "instructions", json_string(instructions));
  write_result(request, result, out);
}

static void add_caching(const struct request *request, json_t *result) {
  if (!request->modern) return;
  json_object_set_new(result, "ttlMs", json_integer(LIST_TTL_MS));
  json_object_set_new(result, "cacheScope", json_string("public"));
}

static void discover(const struct request *request, struct buffer *out) {
  json_t *result = json_pack("{s:[s], s:{s:{}}, s:s, s:{s:o}}", "supportedVersions", MODERN,
                             "capabilities", "tools", "instructions", instructions, "_meta",
                             PROTOCOL "serverInfo", server_info());
  add_caching(request, result);
  write_result(request, result, out);
}

static void list_tools(const struct request *request, struct buffer *out) {
  json_t *result =
      json_pack("{s:o}", "tools", request->without_tools ? json_array() : mcp_tools_list());
  add_caching(request, result);
  write_result(request, result, out);
}

void mcp_server_answer(const struct mcp_action *action, const char *text, bool failed,
                       struct buffer *out) {
  const struct request request = {.id = action->id, .modern = action->modern};
  json_t *content = json_array();
  if (text) json_array_append_new(content, json_pack("{s:s, s:s}", "type", "text", "text", text));
  json_t *result = json_pack("{s:o}", "content", content);
  if (failed) json_object_set_new(result, "isError", json_true());
  write_result(&request, result, out);
}

/* Takes a tool call. If arguments are wrong, the answer tells the model why, and it can call
 * again. */
static void call_tool(const struct request *request, struct buffer *out,
                      struct mcp_action *ret_action) {
  const json_t *given = json_object_get(request->params, "arguments"),
               *meta = json_object_get(request->params, "_meta"),
               *codex = json_object_get(meta, "x-codex-turn-metadata");
  const char *name = json_value_text(request->params, "name");
  struct mcp_action action = {.modern = request->modern, .id = request->id};
  if (request->without_tools || !mcp_tools_find(name, &action.tool)) {
    write_error_about(request->id, CODE_PARAMS, "params.name: there is no tool", name, out);
    return;
  }
  char *wrong = mcp_tools_check(action.tool, given);
  if (wrong) {
    mcp_server_answer(&action, wrong, true, out);
    free(wrong);
    return;
  }
  action.id = strdup(request->id);
  action.session = strdup(json_value_text(codex, "session_id"));
  action.arguments = given ? json_deep_copy(given) : json_object();
  if (!action.id || !action.session || !action.arguments) {
    out->failed = true;
    mcp_action_finish(&action);
  }
  *ret_action = action;
}

static void answer_request(const struct request *request, struct buffer *out,
                           struct mcp_action *ret_action) {
  static const struct {
    const char *name;
    bool modern, legacy;
    void (*answer)(const struct request *request, struct buffer *out);
  } methods[] = {{"initialize", false, true, initialize},
                 {"server/discover", true, false, discover},
                 {"tools/list", true, true, list_tools}};
  if (strcmp(request->method, "ping") == 0 && !request->modern) {
    write_result(request, json_object(), out);
    return;
  }
  if (strcmp(request->method, "tools/call") == 0) {
    call_tool(request, out, ret_action);
    return;
  }
  for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
    bool in_era = request->modern ? methods[i].modern : methods[i].legacy;
    if (!in_era || strcmp(request->method, methods[i].name) != 0) continue;
    methods[i].answer(request, out);
    return;
  }
  write_error_about(request->id, CODE_METHOD, "there is no method", request->method, out);
}

/* -- lines ------------------------------------------------------------------------------------- */

/* Is the request valid in the era of 2026-07-28? If not, answers with an error and returns
 * false. */
static bool is_modern_request(struct request *request, struct buffer *out) {
  const json_t *meta = json_object_get(request->params, "_meta"),
               *version = json_object_get(meta, PROTOCOL "protocolVersion");
  request->modern = json_is_string(version);
  if (!request->modern && strcmp(request->method, "server/discover") != 0) return true;
  if (!request->modern) {
    write_error(request->id, CODE_PARAMS, "params._meta: " PROTOCOL "protocolVersion is missing",
                NULL, out);
    return false;
  }
  if (strcmp(json_string_value(version), MODERN) != 0) {
    write_error(
        request->id, CODE_VERSION, "this version of the protocol is not supported",
        json_pack("{s:[s], s:s}", "supported", MODERN, "requested", json_string_value(version)),
        out);
    return false;
  }
  if (json_is_object(json_object_get(meta, PROTOCOL "clientCapabilities"))) return true;
  write_error(request->id, CODE_PARAMS,
              "params._meta: " PROTOCOL "clientCapabilities: missing; expected an object", NULL,
              out);
  return false;
}

/* Returns the id as the line has it. NULL: it is neither a text nor a number, or no memory. */
static char *copy_id(struct tidings_span line, const struct json *message) {
  const struct json *id = json_member(message, "id");
  if (!id || (id->kind != JSON_IS_STRING && id->kind != JSON_IS_NUMBER)) return NULL;
  return strndup(line.ptr + id->start, id->end - id->start);
}

/* Returns whether the answer says that there are no tools. */
static bool answer_message(struct tidings_span line, const struct json *message, bool tools,
                           struct buffer *out, struct mcp_action *ret_action) {
  const struct json *method = json_member(message, "method"),
                    *params = json_member(message, "params");
  if (message->kind != JSON_IS_OBJECT ||
      (!method && !json_member(message, "result") && !json_member(message, "error"))) {
    write_error("null", CODE_REQUEST,
                message->kind == JSON_IS_ARRAY ? "batches are not supported" : "this is no request",
                NULL, out);
    return false;
  }
  if (!method || !json_member(message, "id")) return false;
  struct request request = {.id = copy_id(line, message), .without_tools = !tools};
  bool over = false;
  json_t *value = params ? json_value_of(params) : NULL;
  request.params = value;
  request.method = method->text.ptr;
  if (!request.id || method->kind != JSON_IS_STRING || (params && params->kind != JSON_IS_OBJECT))
    write_error(request.id ? request.id : "null", CODE_REQUEST,
                "expected a text or a number in id, a text in method, an object in params", NULL,
                out);
  else if (params && !value) out->failed = true;
  else if (is_modern_request(&request, out)) {
    answer_request(&request, out, ret_action);
    over = !tools && strcmp(request.method, "tools/list") == 0;
  }
  json_decref(value);
  free(request.id);
  return over;
}

bool mcp_server_line(struct tidings_span line, bool tools, struct buffer *out,
                     struct mcp_action *ret_action) {
  /* The rules are lenient, because the host waits for an answer with its id. */
  static const struct json_rules rules = {
      .max_depth = 64, .nul = true, .halves = true, .repeats = true, .large = true};
  struct tidings_error error = {.size = sizeof error};
  struct arena arena = ARENA_EMPTY;
  const struct json *message = NULL;
  bool over = false;
  *ret_action = (struct mcp_action){.arguments = NULL};
  int code = json_read_by(&rules, line, "the line", &arena, &message, &error);
  if (code == TIDINGS_E_NOMEM) out->failed = true;
  else if (code) write_error("null", CODE_PARSE, error.text, NULL, out);
  else over = answer_message(line, message, tools, out, ret_action);
  arena_free(&arena);
  return over;
}

void mcp_action_finish(struct mcp_action *action) {
  json_decref(action->arguments);
  free(action->id);
  free(action->session);
  *action = (struct mcp_action){.arguments = NULL};
}
