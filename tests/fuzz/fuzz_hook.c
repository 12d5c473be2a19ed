/* SPDX-License-Identifier: MIT
 *
 * tests/fuzz/fuzz_hook.c: the input that an agent sends to its hook, in each agent's dialect. The
 * first byte chooses the agent, and the second how the rest is read. The rest is the bytes on
 * stdin; or the agent's transcript; or fields with a NUL between them, from which a call is made
 * that can be parsed: the event's number, the session, the folder, the tool, and then the paths in
 * the tool's input, or a prompt.
 */
#include "fuzz.h"

#include <string.h>
#include <sys/mman.h>
#include <tidings/tidings.h>
#include <unistd.h>

#include "agents/call/call.h"
#include "command/session_path.h"
#include "common/utf8.h"
#include "fuzz_transcript.h"

enum {
  IS_STRUCTURED = 1,
  IS_PATCH = 2,
  IS_CUT = 4,
  IS_NOTICE = 8,       /* with the fields of GitHub Copilot CLI: no event, "sessionId" */
  IS_OF_SUBAGENT = 16, /* the subagent has a session of its own, which names its parent */
  IS_PROMPT = 32,      /* the rest is a prompt that ends like the plugin's reasons to go on */
  IS_TRANSCRIPT = 64,  /* no call: the rest is the agent's transcript */
  IS_LARGE = 128,      /* a transcript of which more than the end would be read */
};

/* -- a call of fields -------------------------------------------------------------------------- */

static struct tidings_span take_field(struct tidings_span *rest) {
  const char *nul = rest->len ? memchr(rest->ptr, '\0', rest->len) : NULL;
  size_t len = nul ? (size_t)(nul - rest->ptr) : rest->len;
  struct tidings_span field = span_of(rest->ptr, len);
  if (nul) len++;
  *rest = span_of(rest->ptr + len, rest->len - len);
  return field;
}

/* Leaves out bytes that are not UTF-8, because a host writes JSON. */
static json_t *text_of_field(struct tidings_span field) {
  return json_stringn(field.ptr, utf8_valid_length(field));
}

static json_t *tool_input(struct tidings_span *rest, bool is_patch) {
  static const char *const members[] = {"file_path", "absolute_path", "notebook_path", "path"};
  json_t *input = json_object();
  if (is_patch) {
    (void)json_object_set_new(input, "command", text_of_field(*rest));
    return input;
  }
  for (size_t i = 0; rest->len; i++) {
    struct tidings_span field = take_field(rest);
    (void)json_object_set_new(input, members[i % 4], text_of_field(field));
  }
  return input;
}

static const char marker[] = "\n\n[tidings 1z141z9]\n";

/* Adds the caller: the session, or its subagent. */
static void add_caller(json_t *call, unsigned how, struct tidings_span session) {
  (void)json_object_set_new(call, how & IS_NOTICE ? "sessionId" : "session_id",
                            text_of_field(session));
  if (!(how & IS_OF_SUBAGENT)) return;
  (void)json_object_set_new(call, "agent_id", text_of_field(session));
  (void)json_object_set_new(call, "parent_agent_id", json_string("the parent"));
}

static void add_prompt(json_t *call, struct tidings_span text) {
  struct tidings_span valid = span_of(text.ptr, utf8_valid_length(text));
  (void)json_object_set_new(call, "prompt", json_sprintf("%.*s%s", SPAN_FORMAT(valid), marker));
}

/* Adds the path of the transcript, by which the agent is recognized. */
static void add_transcript(json_t *call, const struct host *host) {
  char *home = host_home(host);
  const char *below = host->caller.transcript;
  (void)json_object_set_new(
      call, "transcript_path",
      json_sprintf("%s/%.*sx", home ? home : "", (int)strcspn(below, "*%"), below));
  free(home);
}

static char *structured(const struct host *host, unsigned how, struct tidings_span rest) {
  static const char *const tools[] = {"Write", "Edit", "write_file", "replace", "notebook_edit"};
  size_t hooks = 0;
  while (host->hooks[hooks].event) hooks++;
  struct tidings_span event = take_field(&rest), session = take_field(&rest),
                      cwd = take_field(&rest), tool = take_field(&rest);
  unsigned choice = event.len ? (unsigned char)event.ptr[0] : 0;
  json_t *call = json_object();
  if (hooks && !(how & IS_NOTICE))
    (void)json_object_set_new(call, "hook_event_name",
                              json_string(host->hooks[choice % hooks].event));
  if (how & IS_NOTICE) (void)json_object_set_new(call, "notification_type", text_of_field(tool));
  add_caller(call, how, session);
  add_transcript(call, host);
  (void)json_object_set_new(call, "cwd", text_of_field(cwd));
  (void)json_object_set_new(call, "tool_use_id", text_of_field(tool));
  const char *name = how & IS_PATCH ? "apply_patch" : tools[tool.len % 5];
  (void)json_object_set_new(call, "tool_name", json_string(name));
  if (how & IS_PROMPT) {
    add_prompt(call, rest);
  } else {
    (void)json_object_set_new(call, "tool_input", tool_input(&rest, how & IS_PATCH));
    (void)json_object_set_new(call, "prompt", text_of_field(rest));
  }
  char *text = json_dumps(call, JSON_COMPACT);
  json_decref(call);
  return text;
}

/* -- what must hold ---------------------------------------------------------------------------- */

/* Checks that naming a file twice changes nothing, because a watcher must name it by the same
 * bytes. */
static void check_path(const char *cwd, const char *path) {
  MUST(path[0], "an empty path");
  for (const char *at = path; *at; at += strcspn(at, "/"), at += *at == '/') {
    size_t len = strcspn(at, "/");
    MUST(len || at == path, "%s has an empty part", path);
    MUST(!(len == 1 && at[0] == '.') && !(len == 2 && at[0] == '.' && at[1] == '.'),
         "%s is not tidy", path);
  }
  char *again = session_path(cwd, path);
  MUST(again, "%s from %s becomes nothing", path, cwd);
  MUST(strcmp(again, path) == 0, "%s from %s becomes %s", path, cwd, again);
  free(again);
}

/* Does the host send this prompt without a person's words? */
static bool is_ignored_prompt(const struct hook_call *call) {
  return call->host->ignores_empty_prompts && !call->prompt[strspn(call->prompt, " \t\r\n")];
}

/* Checks that a subagent's calls count for its parent. */
static void check_caller(const struct hook_call *call) {
  const char *agent = json_string_value(json_object_get(call->input, "agent_id")),
             *parent = json_string_value(json_object_get(call->input, "parent_agent_id"));
  if (!agent || !agent[0] || !parent || !parent[0] || strcmp(agent, parent) == 0) return;
  MUST(strcmp(call->session, agent) != 0, "the subagent %s is a session", agent);
}

static void check_call(const struct hook_call *call) {
  enum hook_moment moment = host_moment(call->host, call->event);
  if (!call->known) {
    MUST(call->moment == HOOK_OTHER && call->session, "an unknown caller is answered");
    return;
  }
  if (moment == HOOK_PROMPT && is_ignored_prompt(call)) moment = HOOK_OTHER;
  MUST(call->session[0] && call->event[0], "no session or event");
  MUST(call->cwd && call->source && call->prompt && call->call_id && call->tool && call->failure,
       "a field that is none");
  MUST(call->moment == moment, "moment %d", (int)call->moment);
  check_caller(call);
  MUST(!call->found || strstr(call->found, call->session), "the transcript of another session");
  json_t *paths = hook_call_edits(call), *path;
  size_t i;
  MUST(json_is_array(paths), "no array");
  json_array_foreach(paths, i, path) check_path(call->cwd, json_string_value(path));
  json_decref(paths);
}

static void check_input(const struct host *host, struct tidings_span text) {
  struct tidings_error error = {.size = sizeof error, .text = ""};
  struct hook_call call;
  int fd = memfd_create("call", MFD_CLOEXEC);
  MUST(fd >= 0 && write(fd, text.ptr, text.len) == (ssize_t)text.len && lseek(fd, 0, SEEK_SET) == 0,
       "no file");
  int32_t code = hook_call_read(host, fd, &call, &error);
  (void)close(fd);
  if (code) {
    MUST(error.code == code && error.text[0] && code != TIDINGS_E_NOMEM, "code %d: %s", (int)code,
         error.text);
    MUST(utf8_valid(span_text(error.text)), "the sentence is not UTF-8");
    return;
  }
  check_call(&call);
  hook_call_finish(&call);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
  if (len < 2) return 0;
  const struct host *host = hosts[data[0] % host_count];
  struct tidings_span rest = span_of((const char *)data + 2, len - 2);
  if (host->kind != HOST_HOOKS) return 0;
  if (data[1] & IS_TRANSCRIPT) {
    fuzz_transcript(host, data[1] & IS_LARGE, rest);
    return 0;
  }
  if (!(data[1] & IS_STRUCTURED)) {
    check_input(host, rest);
    return 0;
  }
  char *text = structured(host, data[1], rest);
  MUST(text, "no memory");
  size_t whole = strlen(text);
  check_input(host, span_of(text, data[1] & IS_CUT ? whole * data[0] / 256 : whole));
  free(text);
  return 0;
}
