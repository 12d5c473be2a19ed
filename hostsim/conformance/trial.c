/* SPDX-License-Identifier: MIT
 *
 * conformance/trial.c: the functions that conformance cases use: they load, open and call the
 * plugin, and end the case with a sentence.
 */
#include "conformance/trial.h"

#include "host/process.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <tidings/hostkit.h>
#include <unistd.h>

noreturn void trial_fail(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vdprintf(PROCESS_CHANNEL_FD, format, arguments);
  va_end(arguments);
  _exit(EXIT_FAILURE);
}

noreturn void trial_skip(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vdprintf(PROCESS_CHANNEL_FD, format, arguments);
  va_end(arguments);
  _exit(TRIAL_SKIPPED);
}

void trial_load(struct trial *trial) {
  trial->image = dlopen(trial->plugin_path, RTLD_NOW | RTLD_LOCAL);
  if (!trial->image) trial_fail("dlopen: %s", dlerror());
  trial->entry = dlsym(trial->image, TIDINGS_ENTRY_SYMBOL);
  if (!trial->entry) trial_fail("dlsym: %s", dlerror());
  if (trial->entry->abi_major != TIDINGS_ABI_MAJOR || !trial->entry->get_extension) {
    trial_fail("ABI major %u, this suite is for %d", (unsigned)trial->entry->abi_major,
               TIDINGS_ABI_MAJOR);
  }
  trial->query = trial->entry->get_extension(TIDINGS_EXT_QUERY);
  trial->wake = trial->entry->get_extension(TIDINGS_EXT_WAKE);
}

struct tidings_span trial_span(const char *text) {
  struct tidings_span span = {text, strlen(text)};
  return span;
}

/* The budget is large, because a case needs its answer even on a busy machine. */
struct tidings_open_options trial_options(const struct trial *trial) {
  struct tidings_open_options options = {
      .size = sizeof options, .store_dir = trial_span(trial->store), .hook_budget_ms = 20000};
  return options;
}

struct tidings_plugin *trial_open(struct trial *trial, const struct tidings_open_options *options) {
  struct tidings_open_options usual = trial_options(trial);
  struct tidings_plugin *plugin = NULL;
  struct tidings_error error = {.size = sizeof error};
  trial_expect(
      TIDINGS_OK,
      trial->entry->open(&trial->simhost.host, options ? options : &usual, &plugin, &error), &error,
      "open");
  if (!plugin) trial_fail("open returned 0 and no instance");
  return plugin;
}

void trial_close(struct tidings_plugin *plugin) {
  struct tidings_error error = {.size = sizeof error};
  trial_expect(TIDINGS_OK, plugin->close(plugin, &error), &error, "close");
}

/* Returns what is wrong with an error struct that was empty before the call, or NULL. */
static const char *error_defect(int32_t code, const struct tidings_error *error) {
  if (code == TIDINGS_OK)
    return error->code || error->text[0] ? "its error struct was written" : NULL;
  if (error->code != code) return "its error struct has another code";
  if (!memchr(error->text, '\0', sizeof error->text)) return "its error's text is not terminated";
  return error->text[0] == '\0' ? "its error has no text" : NULL;
}

void trial_expect(int32_t wanted, int32_t code, const struct tidings_error *error,
                  const char *what) {
  if (code != wanted) {
    trial_fail("%s: expected %s got %s (%d)%s%s", what, hostkit_error_name(wanted),
               hostkit_error_name(code), code, code != TIDINGS_OK ? ": " : "",
               code != TIDINGS_OK && error ? error->text : "");
  }
  const char *defect = error ? error_defect(code, error) : NULL;
  if (defect) trial_fail("%s: %s, but %s", what, hostkit_error_name(code), defect);
}

void trial_expect_refused(int32_t code, const struct tidings_error *error, const char *what) {
  if (code != TIDINGS_E_INVAL && code != TIDINGS_E_SCHEMA && code != TIDINGS_E_TOO_BIG) {
    trial_fail("%s: expected TIDINGS_E_INVAL, TIDINGS_E_SCHEMA or TIDINGS_E_TOO_BIG got %s", what,
               hostkit_error_name(code));
  }
  trial_expect(code, code, error, what);
}

void trial_expect_word(const struct tidings_error *error, const char *word, const char *what) {
  if (!strstr(error->text, word))
    trial_fail("%s: the error's text does not name '%s': %s", what, word, error->text);
}

int32_t trial_event(struct tidings_plugin *plugin, const char *text, size_t len,
                    struct tidings_error *error) {
  struct tidings_span event = {text, len};
  const struct tidings_reply *reply = NULL;
  int32_t code = plugin->on_event(plugin, &event, &reply, error);
  if (code == TIDINGS_OK) plugin->release(plugin, reply);
  return code;
}

void trial_send(struct tidings_plugin *plugin, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  char *text = NULL;
  int len = vasprintf(&text, format, arguments);
  va_end(arguments);
  if (len < 0) trial_fail("out of memory");
  struct tidings_error error = {.size = sizeof error};
  int32_t code = trial_event(plugin, text, (size_t)len, &error);
  if (code == TIDINGS_E_UNSUPPORTED) trial_skip("%s", error.text);
  trial_expect(TIDINGS_OK, code, &error, text);
  free(text);
}

void trial_push(struct tidings_plugin *plugin, const char *session, const char *message) {
  trial_send(plugin,
             "{\"type\":\"notification\",\"session\":\"%s\",\"data\":{\"kind\":\"tool.stopped\","
             "\"message\":\"%s\"}}",
             session, message);
}

int32_t trial_tool_result(struct tidings_plugin *plugin, const char *session,
                          const struct tidings_reply **ret_reply, struct tidings_error *error) {
  struct tidings_tool_result result = {.size = sizeof result,
                                       .session = trial_span(session),
                                       .call_id = trial_span("c1"),
                                       .tool = trial_span("bash"),
                                       .content = trial_span("ok")};
  return plugin->on_tool_result(plugin, &result, ret_reply, error);
}

const struct tidings_reply *trial_deliver(struct tidings_plugin *plugin, const char *session) {
  const struct tidings_reply *reply = NULL;
  struct tidings_error error = {.size = sizeof error};
  trial_expect(TIDINGS_OK, trial_tool_result(plugin, session, &reply, &error), &error,
               "on_tool_result");
  return reply;
}

void trial_expect_delivery(struct tidings_plugin *plugin, const char *session,
                           const char *message) {
  const struct tidings_reply *reply = trial_deliver(plugin, session);
  if (!reply || reply->notification_count != 1) {
    trial_fail("one notification was pending ('%s'), the hook handed out %zu", message,
               reply ? reply->notification_count : 0);
  }
  const struct tidings_span *got = &reply->notifications[0]->text;
  if (got->len != strlen(message) || memcmp(got->ptr, message, got->len) != 0)
    trial_fail("expected '%s' got '%.*s'", message, (int)got->len, got->ptr);
  uint64_t id = reply->delivery_id;
  plugin->release(plugin, reply);
  struct tidings_error error = {.size = sizeof error};
  trial_expect(TIDINGS_OK, trial_settle(plugin, id, TIDINGS_OUTCOME_COMMITTED, &error), &error,
               "settle");
}

void trial_expect_nothing(struct tidings_plugin *plugin, const char *session) {
  const struct tidings_reply *reply = trial_deliver(plugin, session);
  if (reply && reply->notification_count != 0) {
    const struct tidings_span *got = &reply->notifications[0]->text;
    trial_fail("nothing was to be delivered, got %zu: '%.*s'", reply->notification_count,
               (int)got->len, got->ptr);
  }
  plugin->release(plugin, reply);
}

int32_t trial_settle(struct tidings_plugin *plugin, uint64_t delivery_id, uint32_t outcome,
                     struct tidings_error *error) {
  struct tidings_settlement settlement = {
      .size = sizeof settlement, .outcome = outcome, .delivery_id = delivery_id};
  return plugin->settle(plugin, &settlement, NULL, error);
}

static json_t *other_answers(struct agent *agent, json_t *request) {
  json_t *answer = NULL;
  enum agent_outcome outcome = agent_call(agent, request, &answer);
  if (outcome != AGENT_OK) {
    trial_fail("the second process did not answer (outcome %d, status %d)", (int)outcome,
               agent->status);
  }
  return answer;
}

json_t *trial_other(struct agent *agent, json_t *request) {
  json_t *answer = other_answers(agent, request);
  const json_t *error = json_object_get(answer, "error");
  if (error) {
    trial_fail("in the second process: %s: %s", json_string_value(json_object_get(error, "code")),
               json_string_value(json_object_get(error, "text")));
  }
  return answer;
}

json_t *trial_other_fails(struct agent *agent, json_t *request, const char *code) {
  json_t *answer = other_answers(agent, request);
  const char *got = json_string_value(json_object_get(json_object_get(answer, "error"), "code"));
  if (!got || strcmp(got, code) != 0)
    trial_fail("in the second process: expected %s got %s", code, got ? got : "success");
  return answer;
}

void trial_start_other(const struct trial *trial, struct agent *agent, const char *role,
                       pid_t owner_pid) {
  if (agent_start(agent, 2, AGENT_TIMEOUT_MS / 2, false) != AGENT_OK)
    trial_fail("a second process could not be started");
  json_t *request =
      json_pack("{s:s, s:s, s:s, s:s, s:i}", "op", "open", "plugin", trial->plugin_path, "store",
                trial->store, "copies", trial->dir, "owner_pid", (int)owner_pid);
  if (role) json_object_set_new(request, "role", json_string(role));
  json_decref(trial_other(agent, request));
}
