/* SPDX-License-Identifier: MIT
 */
#include "kit/rig.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "kit/arguments.h"

static void host_log(void *context, uint32_t severity, const struct tidings_span *message) {
  struct rig *rig = context;
  if (severity <= TIDINGS_LOG_WARNING) atomic_fetch_add(&rig->warnings, 1);
  if (getenv("RIG_LOG"))
    fprintf(stderr, "plugin[%u]: %.*s\n", severity, (int)message->len, message->ptr);
}

static int64_t host_now_ms(void *context) {
  struct rig *rig = context;
  if (rig->virtual_time) return atomic_fetch_add(&rig->virtual_ms, 7);
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static uint64_t host_mono_ns(void *context) {
  (void)context;
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static int32_t host_random(void *context, void *buffer, size_t len) {
  struct rig *rig = context;
  if (!rig->virtual_time) return getrandom(buffer, len, 0) == (ssize_t)len ? 0 : -1;
  for (size_t i = 0; i < len; i++) ((uint8_t *)buffer)[i] = (uint8_t)random_next(&rig->random);
  return 0;
}

void rig_load(struct rig *rig, const char *plugin_path) {
  rig->image = dlopen(plugin_path, RTLD_NOW | RTLD_LOCAL);
  if (!rig->image) die("%s", dlerror());
  rig->entry = dlsym(rig->image, TIDINGS_ENTRY_SYMBOL);
  if (!rig->entry) die("%s has no %s", plugin_path, TIDINGS_ENTRY_SYMBOL);
  if (rig->entry->abi_major != TIDINGS_ABI_MAJOR) die("ABI major %u", rig->entry->abi_major);
  rig->query = rig->entry->get_extension ? rig->entry->get_extension(TIDINGS_EXT_QUERY) : NULL;
}

static void enter(const struct rig *rig) {
  if (rig->before) rig->before();
}

static void leave(const struct rig *rig) {
  if (rig->after) rig->after();
}

static struct tidings_span span(const char *text) {
  return (struct tidings_span){text, text ? strlen(text) : 0};
}

int32_t rig_open(struct rig *rig, const struct rig_open *options, struct tidings_error *error) {
  rig->host = (struct tidings_host){
      .size = sizeof rig->host,
      .context = rig,
      .log = host_log,
      .now_ms = host_now_ms,
      .mono_ns = host_mono_ns,
      .random = host_random,
  };
  if (atomic_load(&rig->virtual_ms) == 0) atomic_store(&rig->virtual_ms, RIG_VIRTUAL_START_MS);
  struct tidings_open_options open_options = {
      .size = sizeof open_options,
      .store_dir = span(options->store),
      .role = options->role,
      .configuration = span(options->configuration),
      .hook_budget_ms = options->hook_budget_ms ? options->hook_budget_ms : 10000,
      .total_budget_ms = options->total_budget_ms,
  };
  enter(rig);
  int32_t code = rig->entry->open(&rig->host, &open_options, &rig->plugin, error);
  leave(rig);
  return code;
}

int32_t rig_close(struct rig *rig, struct tidings_error *error) {
  enter(rig);
  int32_t code = rig->plugin->close(rig->plugin, error);
  leave(rig);
  if (code == 0) rig->plugin = NULL;
  return code;
}

void rig_unload(struct rig *rig) {
  struct tidings_error error = RIG_ERROR;
  if (rig->plugin) {
    int32_t code = rig_close(rig, &error);
    if (code != 0) die("close: %s", rig_why(code, &error));
  }
  if (rig->image && dlclose(rig->image) != 0) die("dlclose: %s", dlerror());
  rig->image = NULL;
  rig->entry = NULL;
}

static int32_t send_event(struct rig *rig, struct tidings_span event, bool *ret_duplicate,
                          struct tidings_error *error) {
  const struct tidings_reply *reply = NULL;
  enter(rig);
  int32_t code = rig->plugin->on_event(rig->plugin, &event, &reply, error);
  leave(rig);
  if (code == 0 && ret_duplicate)
    *ret_duplicate = reply && (reply->flags & TIDINGS_REPLY_DUPLICATE);
  if (code == 0) rig->plugin->release(rig->plugin, reply);
  return code;
}

int32_t rig_event(struct rig *rig, const char *event, struct tidings_error *error) {
  return send_event(rig, span(event), NULL, error);
}

size_t rig_push_event(char *event, const char *session, uint64_t token, bool identified) {
  static const char *const levels[] = {"info", "warning", "error"};
  char message[TOKEN_TEXT_MAX], identity[96] = "";
  token_text(token, message);
  if (identified)
    snprintf(identity, sizeof identity, "\"source\":\"rig\",\"id\":\"t%" PRIu64 "\",", token);
  int length = snprintf(event, RIG_EVENT_MAX,
                        "{\"type\":\"notification\",\"session\":\"%s\",%s\"data\":{\"kind\":\"tool."
                        "stopped\",\"level\":\"%s\",\"message\":\"%s\"}}",
                        session, identity, levels[token % 3], message);
  return (size_t)length;
}

int32_t rig_push(struct rig *rig, const char *session, uint64_t token, bool identified,
                 bool *ret_duplicate, struct tidings_error *error) {
  char event[RIG_EVENT_MAX];
  size_t length = rig_push_event(event, session, token, identified);
  return send_event(rig, (struct tidings_span){event, length}, ret_duplicate, error);
}

int32_t rig_attach(struct rig *rig, const char *session, const uint64_t *deliveries, size_t count,
                   struct tidings_error *error) {
  char *event = malloc(256 + strlen(session) + count * 24);
  if (!event) die("out of memory");
  int length;
  if (count == 0 && !deliveries) {
    length =
        sprintf(event, "{\"type\":\"session.opened\",\"session\":\"%s\",\"data\":{}}", session);
  } else {
    length = sprintf(event,
                     "{\"type\":\"session.resumed\",\"session\":\"%s\",\"data\":{\"deliveries\":[",
                     session);
    for (size_t i = 0; i < count; i++)
      length += sprintf(event + length, "%s\"%" PRIu64 "\"", i ? "," : "", deliveries[i]);
    length += sprintf(event + length, "]}}");
  }
  int32_t code = send_event(rig, (struct tidings_span){event, (size_t)length}, NULL, error);
  free(event);
  return code;
}

static void carry(struct carried *carried, const struct tidings_reply *reply) {
  carried->delivery = reply->delivery_id;
  for (size_t i = 0; i < reply->notification_count; i++) {
    struct tidings_span text = reply->notifications[i]->text;
    uint64_t token;
    if (token_parse(text, &token)) {
      tokens_add(&carried->tokens, token);
    } else {
      snprintf(carried->sample, sizeof carried->sample, "%.*s",
               (int)(text.len < 70 ? text.len : 70), text.ptr);
      carried->damaged++;
    }
  }
}

int32_t rig_deliver(struct rig *rig, const char *session, enum rig_hook hook,
                    struct carried *ret_carried, struct tidings_error *error) {
  const struct tidings_reply *reply = NULL;
  struct tidings_tool_result result = {.size = sizeof result,
                                       .session = span(session),
                                       .call_id = span("c1"),
                                       .tool = span("bash"),
                                       .content = span("ok")};
  struct tidings_chat_request request = {
      .size = sizeof request, .session = span(session), .content = span("hi")};
  enter(rig);
  int32_t code = hook == RIG_TOOL_RESULT
                     ? rig->plugin->on_tool_result(rig->plugin, &result, &reply, error)
                     : rig->plugin->on_chat_request(rig->plugin, &request, &reply, error);
  leave(rig);
  if (code != 0) return code;
  carried_clear(ret_carried);
  if (reply) carry(ret_carried, reply);
  rig->plugin->release(rig->plugin, reply);
  return 0;
}

void carried_clear(struct carried *carried) {
  tokens_free(&carried->tokens);
  *carried = (struct carried){0};
}

int32_t rig_settle(struct rig *rig, uint64_t delivery, uint32_t outcome,
                   struct tidings_error *error) {
  struct tidings_settlement settlement = {
      .size = sizeof settlement, .outcome = outcome, .delivery_id = delivery};
  const struct tidings_reply *reply = NULL;
  enter(rig);
  int32_t code = rig->plugin->settle(rig->plugin, &settlement, &reply, error);
  leave(rig);
  if (code == 0) rig->plugin->release(rig->plugin, reply);
  return code;
}

int32_t rig_query(struct rig *rig, const char *request, char **ret_json,
                  struct tidings_error *error) {
  if (!rig->query) die("the plugin has no %s", TIDINGS_EXT_QUERY);
  struct tidings_span text = span(request);
  const struct tidings_answer *answer = NULL;
  enter(rig);
  int32_t code = rig->query->query(rig->plugin, &text, &answer, error);
  leave(rig);
  if (code != 0) return code;
  if (ret_json) *ret_json = strndup(answer->json.ptr, answer->json.len);
  rig->query->release_answer(rig->plugin, answer);
  return 0;
}

static const char *code_name(int32_t code) {
  static const char *const names[] = {"TIDINGS_OK",
                                      "TIDINGS_E_INVAL",
                                      "TIDINGS_E_SCHEMA",
                                      "TIDINGS_E_TOO_BIG",
                                      "TIDINGS_E_UNSUPPORTED",
                                      "TIDINGS_E_NOT_FOUND",
                                      "TIDINGS_E_FIRED",
                                      "TIDINGS_E_STATE",
                                      "TIDINGS_E_BUSY",
                                      "TIDINGS_E_FULL",
                                      "TIDINGS_E_STORE",
                                      "TIDINGS_E_SCHEMA_NEWER",
                                      "TIDINGS_E_NOMEM",
                                      "TIDINGS_E_CLOSED",
                                      "TIDINGS_E_OWNED",
                                      "TIDINGS_E_OUTCOME_UNKNOWN"};
  return code <= 0 && code >= TIDINGS_E_CLOSED ? names[-code] : "an unknown code";
}

const char *rig_why(int32_t code, const struct tidings_error *error) {
  static _Thread_local char why[640];
  snprintf(why, sizeof why, "%s: %s", code_name(code), error && code != 0 ? error->text : "");
  return why;
}
