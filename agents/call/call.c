/* SPDX-License-Identifier: MIT
 */
#include "agents/call/call.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agents/call/caller.h"
#include "agents/transcript/time.h"
#include "command/json_value.h"
#include "command/kit.h"
#include "command/paths.h"
#include "common/file.h"

enum { LARGEST_INPUT = 64 << 20, SHOWN = 60 };

static int32_t missing(struct tidings_error *error, const json_t *input, const char *name,
                       const char *expected) {
  const json_t *value = json_object_get(input, name);
  if (!value)
    return kit_error(error, TIDINGS_E_SCHEMA, "%s: is missing; expected %s", name, expected);
  char *shown = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
  int32_t code = kit_error(error, TIDINGS_E_SCHEMA, "%s: %.*s; expected %s", name, SHOWN,
                           shown ? shown : "?", expected);
  free(shown);
  return code;
}

static bool is_blank(const char *text) { return !text[strspn(text, " \t\r\n")]; }

/* Some agents also call the prompt's hook without a person's prompt. */
static bool is_no_prompt(const struct hook_call *call) {
  return call->host->ignores_empty_prompts && is_blank(call->prompt);
}

/* Returns the transcript's path if the call does not name it; NULL: not known. */
static char *transcript_of(const struct hook_call *call) {
  char *file = NULL, *path = NULL,
       *home = call->host->transcript && !strchr(call->session, '/') ? host_home(call->host) : NULL;
  const char *mark = home ? strchr(call->host->transcript, '%') : NULL;
  if (mark && asprintf(&file, "%.*s%s%s", (int)(mark - call->host->transcript),
                       call->host->transcript, call->session, mark + 2) >= 0) {
    path = paths_join(home, file);
    free(file);
  }
  free(home);
  return path;
}

static void take_texts(struct hook_call *call) {
  call->event = hook_call_text(call, FIELD_EVENT);
  if (!call->event[0] && call->host->notices_without_event && hook_call_text(call, FIELD_NOTICE)[0])
    call->event = host_event(call->host, HOOK_NOTICE);
  call->session = hook_call_text(call, FIELD_SESSION);
  call->cwd = hook_call_text(call, FIELD_FOLDER);
  call->source = hook_call_text(call, FIELD_SOURCE);
  call->prompt = hook_call_text(call, FIELD_PROMPT);
  call->tool = hook_call_text(call, FIELD_TOOL);
  call->call_id = hook_call_text(call, FIELD_CALL);
  call->failure = hook_call_text(call, FIELD_FAILURE);
  call->transcript = hook_call_text(call, FIELD_TRANSCRIPT);
  call->time_ms = hook_time_ms(hook_call_text(call, FIELD_TIME));
}

static int32_t take_fields(struct hook_call *call, struct tidings_error *error) {
  const json_t *input = call->input;
  take_texts(call);
  const char *agent = hook_call_text(call, FIELD_AGENT),
             *parent = hook_call_text(call, FIELD_PARENT);
  call->of_subagent = agent[0] != '\0';
  if (!call->known) return TIDINGS_OK;
  if (agent[0] && parent[0] && strcmp(call->session, agent) == 0)
    call->session = parent; /* its subagents are sessions, too */
  if (!call->event[0])
    return missing(error, input, host_field_names(call->host, FIELD_EVENT),
                   "the name of a hook's event");
  if (!call->session[0])
    return missing(error, input, host_field_names(call->host, FIELD_SESSION), "the session's id");
  call->moment = host_moment(call->host, call->event);
  if (call->moment == HOOK_PROMPT && is_no_prompt(call)) call->moment = HOOK_OTHER;
  call->room = call->host->room;
  const struct host_scheduler *scheduler = call->host->scheduler;
  if (scheduler && strcmp(call->event, scheduler->event) == 0)
    call->characters = scheduler->characters;
  if (!call->transcript[0] && (call->found = transcript_of(call))) call->transcript = call->found;
  return TIDINGS_OK;
}

int32_t hook_call_take(const struct host *host, json_t *input, struct hook_call *ret_call,
                       struct tidings_error *error) {
  struct hook_call call = {.host = host, .input = input};
  if (!input) return kit_no_memory(error);
  const struct host *caller = hook_caller(host, call.input);
  call.known = caller != NULL;
  if (caller) call.host = caller;
  int32_t code = json_is_object(call.input)
                     ? take_fields(&call, error)
                     : kit_error(error, TIDINGS_E_SCHEMA, "stdin: JSON, but not an object");
  if (code) {
    json_decref(call.input);
    return code;
  }
  *ret_call = call;
  return TIDINGS_OK;
}

static int32_t parse_call(const struct host *host, const char *text, size_t len,
                          struct hook_call *ret_call, struct tidings_error *error) {
  /* Hosts cut texts in the middle of a character, a tool's input may be nested deeply, and a tool's
   * result may have numbers beyond the signed 64 bits. */
  static const struct json_rules rules = {
      .max_depth = 2048, .nul = true, .halves = true, .repeats = true, .large = true};
  json_t *input = NULL;
  int32_t code = json_value_read(&rules, span_of(text, len), "stdin", &input, error);
  return code ? code : hook_call_take(host, input, ret_call, error);
}

static void read_away(int fd) {
  char buffer[65536];
  while (read(fd, buffer, sizeof buffer) > 0) continue;
}

int32_t hook_call_read(const struct host *host, int fd, struct hook_call *ret_call,
                       struct tidings_error *error) {
  char *text = NULL;
  size_t len = 0;
  int reason = file_read_all(fd, LARGEST_INPUT, &text, &len);
  if (reason == EFBIG) {
    read_away(fd);
    return kit_error(error, TIDINGS_E_TOO_BIG, "stdin: more than %d bytes", LARGEST_INPUT);
  }
  if (reason) return kit_error(error, TIDINGS_E_INVAL, "cannot read stdin: %s", strerror(reason));
  int32_t code = parse_call(host, text, len, ret_call, error);
  free(text);
  return code;
}

const char *hook_call_result(const struct hook_call *call) {
  const json_t *result = hook_call_value(call, FIELD_RESULT),
               *content = hook_member(result, call->host->result_text);
  if (json_is_array(content)) content = json_object_get(json_array_get(content, 0), "text");
  const char *text = json_string_value(content ? content : result);
  return text ? text : "";
}

void hook_call_finish(struct hook_call *call) {
  json_decref(call->input);
  free(call->found);
  free(call->place);
}
