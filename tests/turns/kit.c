/* SPDX-License-Identifier: MIT
 *
 * kit.c: clients, calls, and functions that read replies. kit_crew.c has threads and processes.
 */
#include "kit.h"

#include "kit_store.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define KIT_FLAGS                                                                                  \
  (HOSTKIT_NO_PROBE | HOSTKIT_KEEP_MAPPED) /* a leak checker has to name the image's functions */
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define KIT_FLAGS (HOSTKIT_NO_PROBE | HOSTKIT_KEEP_MAPPED)
#endif
#endif
#ifndef KIT_FLAGS
#define KIT_FLAGS HOSTKIT_NO_PROBE
#endif

/* So that no test fails on a busy machine. */
enum { BUDGET_MS = 30000, DRAIN_MS = 30000 };

const char *store_folder;

/* -- failing ----------------------------------------------------------------------------------- */

_Noreturn void fail_at(const char *file, int line, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  flockfile(stdout);
  (void)printf("# %s:%d: ", file, line);
  (void)vprintf(format, arguments);
  (void)printf("\n");
  funlockfile(stdout);
  va_end(arguments);
  (void)fflush(stdout);
  kit_give_up();
}

void same_at(const char *file, int line, const char *got, const char *expected) {
  if (!got || strcmp(got, expected) != 0)
    fail_at(file, line, "expected \"%s\", got \"%s\"", expected, got ? got : "nothing");
}

/* -- memory that lives until the process ends -------------------------------------------------- */

struct kept {
  struct kept *next;
  json_t *value;
  char *text;
};

static pthread_mutex_t kept_lock = PTHREAD_MUTEX_INITIALIZER;
static struct kept *all_kept;

static struct kept *keep(json_t *value, char *string) {
  struct kept *kept = malloc(sizeof *kept);
  check(kept && (value || string), "no memory, or no JSON");
  *kept = (struct kept){.value = value, .text = string};
  pthread_mutex_lock(&kept_lock);
  kept->next = all_kept;
  all_kept = kept;
  pthread_mutex_unlock(&kept_lock);
  return kept;
}

void kit_forget(void) {
  while (all_kept) {
    struct kept *kept = all_kept;
    all_kept = kept->next;
    json_decref(kept->value);
    free(kept->text);
    free(kept);
  }
}

__attribute__((format(printf, 1, 0))) static const char *text_of(const char *format,
                                                                 va_list arguments) {
  char *string = NULL;
  check(vasprintf(&string, format, arguments) >= 0, "no memory");
  return keep(NULL, string)->text;
}

const char *text(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const char *string = text_of(format, arguments);
  va_end(arguments);
  return string;
}

/* -- the host's clocks and log ----------------------------------------------------------------- */

static _Atomic int64_t clock_ms = 1700000000000;

void set_clock(int64_t now_ms) { atomic_store(&clock_ms, now_ms); }

static int64_t now_ms(void *context) {
  (void)context;
  return atomic_load(&clock_ms);
}

static uint64_t mono_ns(void *context) {
  struct timespec now;
  (void)context;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static int32_t random_bytes(void *context, void *buffer, size_t len) {
  (void)context;
  return getrandom(buffer, len, 0) == (ssize_t)len ? 0 : -1;
}

static void log_line(void *context, uint32_t severity, const struct tidings_span *message) {
  (void)context;
  if (severity <= TIDINGS_LOG_WARNING)
    (void)printf("# the plugin says: %.*s\n", (int)message->len, message->ptr);
}

static const struct tidings_host kit_host = {.size = sizeof kit_host,
                                             .log = log_line,
                                             .now_ms = now_ms,
                                             .mono_ns = mono_ns,
                                             .random = random_bytes};

/* -- clients ----------------------------------------------------------------------------------- */

static struct client open_as(uint32_t role, const char *configuration) {
  struct hostkit_options options = {.size = sizeof options,
                                    .flags = KIT_FLAGS,
                                    .plugin_path = getenv("TIDINGS_PLUGIN"),
                                    .store_dir = store_folder,
                                    .configuration = configuration,
                                    .role = role,
                                    .hook_budget_ms = BUDGET_MS,
                                    .copy_dir = kit_copies(),
                                    .host = &kit_host};
  struct tidings_error error = {.size = sizeof error};
  struct client client = {NULL};
  int32_t code = hostkit_open(&options, &client.hostkit, &error);
  check(code == TIDINGS_OK, "open: %s: %s", hostkit_error_name(code), error.text);
  return client;
}

struct client open_unattached(const char *configuration) {
  return open_as(TIDINGS_ROLE_HOST, configuration);
}
struct client open_producer(void) {
  return open_as(TIDINGS_ROLE_PRODUCER, NULL);
}

struct client open_host(const char *configuration) {
  struct client client = open_unattached(configuration);
  event(client, "session.opened", NULL);
  return client;
}

void close_client(struct client client) {
  struct tidings_error error = {.size = sizeof error};
  int32_t code = hostkit_close(client.hostkit, DRAIN_MS, &error);
  check(code == TIDINGS_OK, "close: %s", error.text);
}

/* -- calls ------------------------------------------------------------------------------------- */

static json_t *in_json(struct tidings_reply *reply) {
  char *string = NULL;
  struct tidings_error error = {.size = sizeof error};
  check(hostkit_reply_json(reply, &string, &error) == TIDINGS_OK, "a reply without JSON form: %s",
        error.text);
  hostkit_reply_free(reply);
  json_t *value = json_loads(string, 0, NULL);
  hostkit_free(string);
  return keep(value, NULL)->value;
}

static int32_t send_event(struct client client, const char *string, json_t **ret_reply,
                          struct tidings_error *error) {
  struct tidings_span span = {string, strlen(string)};
  struct tidings_reply *reply = NULL;
  int32_t code = hostkit_event(client.hostkit, &span, &reply, error);
  if (code == TIDINGS_OK) *ret_reply = in_json(reply);
  return code;
}

static const char *event_text(const char *type, const char *data) {
  return text("{\"type\":\"%s\",\"session\":\"s\",\"data\":%s}", type, data ? data : "null");
}

json_t *event(struct client client, const char *type, const char *data, ...) {
  va_list arguments;
  va_start(arguments, data);
  const char *string = event_text(type, data ? text_of(data, arguments) : NULL);
  va_end(arguments);
  struct tidings_error error = {.size = sizeof error};
  json_t *reply = NULL;
  int32_t code = send_event(client, string, &reply, &error);
  check(code == TIDINGS_OK, "%s: %s: %s", string, hostkit_error_name(code), error.text);
  return reply;
}

const char *refused(struct client client, const char *type, const char *data, ...) {
  va_list arguments;
  va_start(arguments, data);
  const char *string = event_text(type, data ? text_of(data, arguments) : NULL);
  va_end(arguments);
  struct tidings_error error = {.size = sizeof error};
  json_t *reply = NULL;
  int32_t code = send_event(client, string, &reply, &error);
  check(code != TIDINGS_OK, "%s was taken; it was to be refused", string);
  return hostkit_error_name(code) + strlen("TIDINGS_E_");
}

json_t *submit(struct client client, const char *id) {
  return event(client, "message.submitted", "{\"id\":\"%s\",\"content\":\"text of %s\"}", id, id);
}

json_t *finish(struct client client) { return event(client, "turn.finished", NULL); }

static void commit(struct client client, const struct tidings_reply *reply) {
  struct tidings_error error = {.size = sizeof error};
  if (!reply || !reply->delivery_id) return;
  int32_t code =
      hostkit_settle(client.hostkit, reply->delivery_id, TIDINGS_COMMITTED, NULL, &error);
  check(code == TIDINGS_OK, "settle: %s: %s", hostkit_error_name(code), error.text);
}

json_t *start(struct client client, const json_t *reply) {
  enum { IDS_MAX = 256 };
  struct tidings_span ids[IDS_MAX];
  const struct tidings_span *pointers[IDS_MAX];
  size_t count = 0;
  for (json_t *message; (message = offered_message(reply, count)); count++) {
    check(count < IDS_MAX, "a turn of more messages than a test makes");
    const char *id = json_string_value(json_object_get(message, "id"));
    ids[count] = (struct tidings_span){id, strlen(id)};
    pointers[count] = &ids[count];
  }
  check(count > 0, "no turn was offered that could be started");
  struct tidings_span session = {"s", 1}, content = {"hi", 2};
  struct tidings_chat_request request = {.size = sizeof request,
                                         .session = session,
                                         .content = content,
                                         .messages = pointers,
                                         .message_count = count};
  struct tidings_reply *carried = NULL;
  struct tidings_error error = {.size = sizeof error};
  int32_t code = hostkit_chat_request(client.hostkit, &request, &carried, &error);
  check(code == TIDINGS_OK, "chat request of %s: %s: %s", offered(reply), hostkit_error_name(code),
        error.text);
  check(carried && carried->delivery_id, "a chat request that starts a turn has no delivery");
  commit(client, carried);
  return in_json(carried);
}

json_t *tool_result(struct client client) {
  struct tidings_span session = {"s", 1}, call = {"c1", 2}, tool = {"bash", 4}, content = {"ok", 2};
  struct tidings_tool_result result = {
      .size = sizeof result, .session = session, .call_id = call, .tool = tool, .content = content};
  struct tidings_reply *carried = NULL;
  struct tidings_error error = {.size = sizeof error};
  int32_t code = hostkit_tool_result(client.hostkit, &result, &carried, &error);
  check(code == TIDINGS_OK, "tool result: %s: %s", hostkit_error_name(code), error.text);
  commit(client, carried);
  return in_json(carried);
}

json_t *query(struct client client, const char *name) {
  const char *string = text("{\"name\":\"%s\",\"session\":\"s\"}", name);
  struct tidings_span span = {string, strlen(string)};
  struct tidings_error error = {.size = sizeof error};
  char *answer = NULL;
  int32_t code = hostkit_query(client.hostkit, &span, &answer, &error);
  check(code == TIDINGS_OK, "%s: %s: %s", name, hostkit_error_name(code), error.text);
  json_t *value = json_loads(answer, 0, NULL);
  hostkit_free(answer);
  return keep(value, NULL)->value;
}

/* -- what replies say -------------------------------------------------------------------------- */

static const json_t *action_of(const json_t *reply, const char *type) {
  const json_t *found = NULL;
  const json_t *actions = json_object_get(reply, "actions");
  for (size_t i = 0; i < json_array_size(actions); i++) {
    const json_t *action = json_array_get(actions, i);
    if (strcmp(json_string_value(json_object_get(action, "type")), type) != 0) continue;
    check(!found, "two actions %s in one reply", type);
    found = action;
  }
  return found;
}

json_t *offered_message(const json_t *reply, size_t index) {
  return json_array_get(json_object_get(action_of(reply, "start_turn"), "messages"), index);
}

const char *offered(const json_t *reply) {
  return ids_in(json_object_get(action_of(reply, "start_turn"), "messages"));
}

bool aborts(const json_t *reply) { return action_of(reply, "abort_stream") != NULL; }

const char *ids_in(const json_t *list) {
  const char *ids = "";
  for (size_t i = 0; i < json_array_size(list); i++) {
    const json_t *item = json_array_get(list, i);
    const char *id = json_string_value(json_is_object(item) ? json_object_get(item, "id") : item);
    ids = text("%s%s%s", ids, i > 0 ? " " : "", id);
  }
  return ids;
}

const char *state(struct client client) {
  return json_string_value(json_object_get(query(client, "status"), "state"));
}

const char *running(struct client client) {
  return ids_in(json_object_get(query(client, "status"), "messages"));
}

const char *drain(struct client host, const json_t *reply) {
  const char *fired = "";
  while (offered(reply)[0]) {
    start(host, reply);
    fired = text("%s%s%s", fired, fired[0] ? "|" : "", offered(reply));
    reply = finish(host);
  }
  return fired;
}

const char *end_of(struct client client, const char *id) {
  const json_t *transitions = json_object_get(query(client, "history"), "transitions");
  const char *end = NULL;
  for (size_t i = 0; i < json_array_size(transitions); i++) {
    const json_t *messages = json_object_get(json_array_get(transitions, i), "messages");
    for (size_t m = 0; m < json_array_size(messages); m++) {
      const json_t *message = json_array_get(messages, m);
      if (strcmp(json_string_value(json_object_get(message, "id")), id) == 0)
        end = json_string_value(json_object_get(message, "state"));
    }
  }
  return end;
}
