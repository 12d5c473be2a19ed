/* SPDX-License-Identifier: MIT
 *
 * host/agent_child.c: runs an agent host in a child process. It reads requests from its parent,
 * makes the calls through hostkit, and answers. Everything that the plugin gets is in the requests.
 * Each request is an object with "op" and the parent's clocks ("now", "mono"):
 *
 *   {"op": "open", "plugin", "store", "copies", "host_name"?, "config"?: TEXT,
 *    "role"?: "producer", "owner_pid"?, "settle_on_return"?,
 *    "unsynced"?: no commit waits for the disk} -> {}
 *   {"op": "event", "event": TEXT} -> {"reply"}
 *   {"op": "tool_result", "session", "call_id", "tool", "content", "room"?: BYTES}
 *     -> {"reply", "content"}
 *   {"op": "chat_request", "session", "source", "content", "messages"?: [IDS], "room"?: BYTES}
 *     -> {"reply", "content"}
 *   {"op": "settle", "delivery", "outcome"} -> {"reply"}
 *   {"op": "query", "query": TEXT} -> {"answer"}
 *   {"op": "swap"}, {"op": "arm", "n"} -> {}
 *   {"op": "next_session"} -> {"sessions"}: all that have rung
 *   {"op": "disarm"} -> {"commits"}
 *   {"op": "close"} -> {}, and the process ends
 *
 * A call that fails answers {"error": {"code", "text"}, "content"?}: "content" is the unchanged
 * carrier.
 */
#include "host/agent_child.h"

#include "host/commits.h"
#include "host/hostkit_flags.h"
#include "host/process.h"
#include "host/simhost.h"
#include "host/wire.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tidings/hostkit.h>

#include "common/store_url.h"

#define DRAIN_MS 5000
#define DATABASE_BUDGET_MS 20000

typedef json_t *operation(struct agent_child *child, const json_t *request);

static struct tidings_span span_of(const json_t *value) {
  struct tidings_span span = {json_string_value(value), json_string_length(value)};
  return span;
}

static json_t *failure(int32_t code, const struct tidings_error *error) {
  return json_pack("{s:{s:s, s:s}}", "error", "code", hostkit_error_name(code), "text",
                   error->text);
}

static json_t *broken(const char *text) {
  return json_pack("{s:{s:s, s:s}}", "error", "code", "HOSTSIM", "text", text);
}

/* Takes the reply over, and returns its JSON form as the answer. */
static json_t *with_reply(struct tidings_reply *reply) {
  char *text = NULL;
  struct tidings_error error = {.size = sizeof error};
  int32_t code = hostkit_reply_json(reply, &text, &error);
  hostkit_reply_free(reply);
  if (code != TIDINGS_OK) return failure(code, &error);
  json_t *value = json_loads(text, JSON_ALLOW_NUL, NULL);
  hostkit_free(text);
  return value ? json_pack("{s:o}", "reply", value) : broken("the reply's JSON form is not JSON");
}

/* Takes the reply over, and returns as the answer its JSON form, and the content as the model would
 * get it. */
static json_t *with_carrier(const struct tidings_span *content, struct tidings_reply *reply) {
  struct hostkit_outgoing *outgoing = NULL;
  struct tidings_error error = {.size = sizeof error};
  int32_t code = hostkit_compose(content, reply, &outgoing, &error);
  if (code != TIDINGS_OK) {
    hostkit_reply_free(reply);
    return failure(code, &error);
  }
  const struct hostkit_part *carrier = outgoing->parts[outgoing->carrier];
  json_t *text = json_stringn(carrier->text, carrier->text_len);
  hostkit_outgoing_free(outgoing);
  json_t *answer = with_reply(reply);
  if (!text) {
    json_decref(answer);
    return broken("the carrier is not UTF-8 any more");
  }
  json_object_set_new(answer, "content", text);
  return answer;
}

static json_t *failure_unchanged(int32_t code, const struct tidings_error *error,
                                 const struct tidings_span *content) {
  json_t *answer = failure(code, error);
  json_object_set_new(answer, "content",
                      json_stringn(content->len > 0 ? content->ptr : "", content->len));
  return answer;
}

static json_t *do_open(struct agent_child *child, const json_t *request) {
  const char *role = json_string_value(json_object_get(request, "role"));
  const char *store = json_string_value(json_object_get(request, "store"));
  struct hostkit_options options = {
      .size = sizeof options,
      /* Without a probe, because this process itself may crash. */
      .flags = HOSTKIT_NO_PROBE | HOSTSIM_HOSTKIT_FLAGS,
      .plugin_path = json_string_value(json_object_get(request, "plugin")),
      .store_dir = store,
      .copy_dir = json_string_value(json_object_get(request, "copies")),
      .host_name = json_string_value(json_object_get(request, "host_name")),
      .configuration = json_string_value(json_object_get(request, "config")),
      .role = role && strcmp(role, "producer") == 0 ? TIDINGS_ROLE_PRODUCER : TIDINGS_ROLE_HOST,
      .settle_on_return = json_is_true(json_object_get(request, "settle_on_return")) ? 1 : 0,
      .owner_pid = (uint32_t)json_integer_value(json_object_get(request, "owner_pid")),
      /* A case needs its answer even if the server is busy. */
      .hook_budget_ms = store_url_is(store) ? DATABASE_BUDGET_MS : 0,
      .host = &child->simhost.host,
  };
  if (child->hostkit) return broken("open already");
  if (json_is_true(json_object_get(request, "unsynced"))) commits_skip_sync();
  struct tidings_error error = {.size = sizeof error};
  int32_t code = hostkit_open(&options, &child->hostkit, &error);
  return code == TIDINGS_OK ? json_object() : failure(code, &error);
}

static json_t *do_event(struct agent_child *child, const json_t *request) {
  struct tidings_span event = span_of(json_object_get(request, "event"));
  struct tidings_reply *reply = NULL;
  struct tidings_error error = {.size = sizeof error};
  int32_t code = hostkit_event(child->hostkit, &event, &reply, &error);
  return code == TIDINGS_OK ? with_reply(reply) : failure(code, &error);
}

static json_t *do_tool_result(struct agent_child *child, const json_t *request) {
  struct tidings_tool_result result = {
      .size = sizeof result,
      .session = span_of(json_object_get(request, "session")),
      .call_id = span_of(json_object_get(request, "call_id")),
      .tool = span_of(json_object_get(request, "tool")),
      .content = span_of(json_object_get(request, "content")),
      .room_bytes = (uint64_t)json_integer_value(json_object_get(request, "room")),
  };
  struct tidings_reply *reply = NULL;
  struct tidings_error error = {.size = sizeof error};
  int32_t code = hostkit_tool_result(child->hostkit, &result, &reply, &error);
  return code == TIDINGS_OK ? with_carrier(&result.content, reply)
                            : failure_unchanged(code, &error, &result.content);
}

static json_t *do_chat_request(struct agent_child *child, const json_t *request) {
  const json_t *ids = json_object_get(request, "messages");
  const char *source = json_string_value(json_object_get(request, "source"));
  size_t count = json_array_size(ids);
  struct tidings_span *spans = calloc(count + 1, sizeof *spans);
  const struct tidings_span **messages = calloc(count + 1, sizeof *messages);
  json_t *answer = NULL;
  if (!spans || !messages) {
    answer = broken("out of memory");
    goto out;
  }
  for (size_t i = 0; i < count; i++) {
    spans[i] = span_of(json_array_get(ids, i));
    messages[i] = &spans[i];
  }
  struct tidings_chat_request chat = {
      .size = sizeof chat,
      .session = span_of(json_object_get(request, "session")),
      .origin =
          source && strcmp(source, "system") == 0 ? TIDINGS_ORIGIN_SYSTEM : TIDINGS_ORIGIN_USER,
      .content = span_of(json_object_get(request, "content")),
      .messages = ids ? messages : NULL,
      .message_count = count,
      .room_bytes = (uint64_t)json_integer_value(json_object_get(request, "room")),
  };
  struct tidings_reply *reply = NULL;
  struct tidings_error error = {.size = sizeof error};
  int32_t code = hostkit_chat_request(child->hostkit, &chat, &reply, &error);
  answer = code == TIDINGS_OK ? with_carrier(&chat.content, reply)
                              : failure_unchanged(code, &error, &chat.content);
out:
  free(messages);
  free(spans);
  return answer;
}

static json_t *do_settle(struct agent_child *child, const json_t *request) {
  const char *outcome = json_string_value(json_object_get(request, "outcome"));
  const char *delivery = json_string_value(json_object_get(request, "delivery"));
  uint64_t id = 0;
  if (!delivery || !outcome || cli_number(delivery, 0, UINT64_MAX, &id) != 0)
    return broken("settle takes a delivery's number and an outcome");
  struct tidings_reply *reply = NULL;
  struct tidings_error error = {.size = sizeof error};
  int32_t code = hostkit_settle(child->hostkit, id,
                                strcmp(outcome, "committed") == 0 ? TIDINGS_OUTCOME_COMMITTED
                                                                  : TIDINGS_OUTCOME_ROLLED_BACK,
                                &reply, &error);
  return code == TIDINGS_OK ? with_reply(reply) : failure(code, &error);
}

/* Parses an answer, whose text it takes over. Most answers equal an earlier one, whose value is
 * then returned. */
static json_t *parsed(struct agent_child *child, char *text) {
  for (size_t i = 0; i < KNOWN_ANSWERS; i++) {
    if (!child->known[i].text || strcmp(child->known[i].text, text) != 0) continue;
    hostkit_free(text);
    return json_incref(child->known[i].value);
  }
  json_t *value = json_loads(text, JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES, NULL);
  hostkit_free(child->known[child->oldest].text);
  json_decref(child->known[child->oldest].value);
  child->known[child->oldest].text = text;
  child->known[child->oldest].value = json_incref(value);
  child->oldest = (child->oldest + 1) % KNOWN_ANSWERS;
  return value;
}

static json_t *do_query(struct agent_child *child, const json_t *request) {
  struct tidings_span query = span_of(json_object_get(request, "query"));
  char *text = NULL;
  struct tidings_error error = {.size = sizeof error};
  int32_t code = hostkit_query(child->hostkit, &query, &text, &error);
  if (code != TIDINGS_OK) return failure(code, &error);
  json_t *value = parsed(child, text);
  if (json_is_object(value)) return json_pack("{s:o}", "answer", value);
  json_decref(value);
  return broken("the answer is not a JSON object");
}

static json_t *do_swap(struct agent_child *child, const json_t *request) {
  (void)request;
  struct tidings_error error = {.size = sizeof error};
  int32_t code = hostkit_swap(child->hostkit, NULL, DRAIN_MS, &error);
  return code == TIDINGS_OK ? json_object() : failure(code, &error);
}

static json_t *do_next_session(struct agent_child *child, const json_t *request) {
  (void)request;
  char session[256];
  size_t len = 0;
  json_t *sessions = json_array();
  struct tidings_error error = {.size = sizeof error};
  int32_t code = TIDINGS_OK;
  while ((code = hostkit_next_session(child->hostkit, session, sizeof session, &len, &error)) ==
             TIDINGS_OK &&
         len > 0)
    json_array_append_new(sessions, json_stringn(session, len));
  if (code != TIDINGS_OK) {
    json_decref(sessions);
    return failure(code, &error);
  }
  return json_pack("{s:o}", "sessions", sessions);
}

static json_t *do_arm(struct agent_child *child, const json_t *request) {
  (void)child;
  commits_arm((uint64_t)json_integer_value(json_object_get(request, "n")));
  return json_object();
}

static json_t *do_disarm(struct agent_child *child, const json_t *request) {
  (void)child;
  (void)request;
  return json_pack("{s:I}", "commits", (json_int_t)commits_disarm());
}

static json_t *do_close(struct agent_child *child, const json_t *request) {
  (void)request;
  struct tidings_error error = {.size = sizeof error};
  int32_t code = hostkit_close(child->hostkit, DRAIN_MS, &error);
  if (code != TIDINGS_OK) return failure(code, &error);
  child->hostkit = NULL;
  return json_object();
}

static const struct {
  const char *name;
  operation *run;
} operations[] = {
    {"open", do_open},
    {"event", do_event},
    {"tool_result", do_tool_result},
    {"chat_request", do_chat_request},
    {"settle", do_settle},
    {"query", do_query},
    {"swap", do_swap},
    {"next_session", do_next_session},
    {"arm", do_arm},
    {"disarm", do_disarm},
    {"close", do_close},
};

json_t *agent_child_serve(struct agent_child *child, const json_t *request) {
  const char *name = json_string_value(json_object_get(request, "op"));
  const json_t *now = json_object_get(request, "now");
  if (now) {
    simhost_set_clock(&child->simhost, json_integer_value(now),
                      (uint64_t)json_integer_value(json_object_get(request, "mono")));
  }
  if (!name) return broken("no operation");
  if (!child->hostkit && strcmp(name, "open") != 0 && strcmp(name, "close") != 0)
    return broken("not open");
  for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++)
    if (strcmp(operations[i].name, name) == 0) return operations[i].run(child, request);
  return broken("no such operation");
}

void agent_child_init(struct agent_child *child, uint64_t seed, bool verbose) {
  *child = (struct agent_child){0};
  simhost_init(&child->simhost, seed, verbose);
}

void agent_child_finish(struct agent_child *child) {
  if (child->hostkit) {
    hostkit_close(child->hostkit, DRAIN_MS, NULL);
    child->hostkit = NULL;
  }
  for (size_t i = 0; i < KNOWN_ANSWERS; i++) {
    hostkit_free(child->known[i].text);
    json_decref(child->known[i].value);
  }
  simhost_finish(&child->simhost);
}

static int agent_verb(struct cli *cli) {
  uint64_t seed = 0;
  if (cli->argc != 3 || cli_number(cli->argv[1], 0, UINT64_MAX, &seed) != 0)
    return cli_usage(cli, "internal; not for use by hand");
  process_become_child();
  struct agent_child child;
  agent_child_init(&child, seed, strcmp(cli->argv[2], "verbose") == 0);
  bool closing = false;
  while (!closing) {
    json_t *request = NULL;
    if (wire_receive(PROCESS_CHANNEL_FD, -1, &request) != WIRE_OK) break;
    const char *name = json_string_value(json_object_get(request, "op"));
    json_t *answer = agent_child_serve(&child, request);
    closing = name && strcmp(name, "close") == 0;
    json_decref(request);
    enum wire_outcome sent = wire_send(PROCESS_CHANNEL_FD, answer);
    json_decref(answer);
    if (sent == WIRE_TOO_LONG) {
      answer = broken("as JSON the answer has more than 64 MiB");
      sent = wire_send(PROCESS_CHANNEL_FD, answer);
      json_decref(answer);
    }
    if (sent != WIRE_OK) break;
  }
  agent_child_finish(&child);
  return EXIT_SUCCESS;
}

const struct cli_verb verb_internal_agent = {
    .name = "internal-agent", .usage = "SEED quiet|verbose", .run = agent_verb};
