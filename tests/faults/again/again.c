/* SPDX-License-Identifier: MIT
 *
 * again/again.c: wraps tidings as a plugin in which a call fails for each fault of faults.c, and is
 * repeated until no fault is left. A call that fails names the reason and changes nothing, so
 * everything ends as without faults.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tidings/tidings.h>

#include "again/faults.h"
#include "flow/internal.h"
#include "store/db/db.h"

extern const struct tidings_entry real_entry; /* of entry/entry.c, which is renamed to this */

static struct tidings_plugin real; /* the functions of each instance */

static _Noreturn void wrong(const char *call, const char *what) {
  fprintf(stderr, "%s: %s failed, and the answer is wrong: %s\n", call, faults_failed(), what);
  abort();
}

/* A call and its attempts. */
struct attempts {
  const char *call;
  struct tidings_error error; /* the last attempt's */
  bool is_task;               /* which may also say that it cannot read the store a second time */
  int32_t other;              /* an answer that does not name the reason, and its text */
  struct tidings_error said;
};

/* After an attempt: is another one needed? */
static bool is_refused(struct attempts *attempts, int32_t code) {
  enum fault fault = faults_disarm();
  int32_t expected = fault == FAULT_MEMORY ? TIDINGS_E_NOMEM : TIDINGS_E_STORE;
  if (!fault || !code) return false;
  /* Salvage and forget may have done their work: the caller looks. */
  bool done = strcmp(attempts->call, "salvage") == 0 || strcmp(attempts->call, "forget") == 0;
  if (done && strstr(attempts->error.text, "for an answer")) return false;
  if (attempts->error.code != code || !attempts->error.text[0])
    wrong(attempts->call, "the error is not explained");
  if (code != expected && !(attempts->is_task && code == TIDINGS_E_STORE)) {
    attempts->other = code;
    attempts->said = attempts->error;
  }
  return true;
}

static void begin(struct attempts *attempts) {
  attempts->error = (struct tidings_error){.size = sizeof attempts->error};
  faults_arm();
}

static int32_t end(const struct attempts *attempts, int32_t code, struct tidings_error *error) {
  size_t head = sizeof error->size, size = sizeof *error;
  if (attempts->other && attempts->other != code) wrong(attempts->call, attempts->said.text);
  if (error && error->size < size) size = error->size;
  if (code && error && size > head)
    memcpy((char *)error + head, (const char *)&attempts->error + head, size - head);
  return code;
}

#define AGAIN(name, expression) ATTEMPT(name, false, expression)
#define ATTEMPT(name, task, expression)                                                            \
  struct attempts attempts = {.call = (name), .is_task = (task)};                                  \
  int32_t code;                                                                                    \
  do {                                                                                             \
    begin(&attempts);                                                                              \
    code = expression;                                                                             \
  } while (is_refused(&attempts, code));                                                           \
  return end(&attempts, code, error)

/* -- the plugin -------------------------------------------------------------------------------- */

static int32_t on_tool_result(struct tidings_plugin *plugin,
                              const struct tidings_tool_result *result,
                              const struct tidings_reply **ret_reply, struct tidings_error *error) {
  AGAIN("on_tool_result", real.on_tool_result(plugin, result, ret_reply, &attempts.error));
}

static int32_t on_chat_request(struct tidings_plugin *plugin,
                               const struct tidings_chat_request *request,
                               const struct tidings_reply **ret_reply,
                               struct tidings_error *error) {
  AGAIN("on_chat_request", real.on_chat_request(plugin, request, ret_reply, &attempts.error));
}

static int32_t on_event(struct tidings_plugin *plugin, const struct tidings_span *event,
                        const struct tidings_reply **ret_reply, struct tidings_error *error) {
  AGAIN("on_event", real.on_event(plugin, event, ret_reply, &attempts.error));
}

static int32_t settle(struct tidings_plugin *plugin, const struct tidings_settlement *settlement,
                      const struct tidings_reply **ret_reply, struct tidings_error *error) {
  /* An engine with another machine's rows remembers a settle that it cannot make now. */
  if (db_remote) return real.settle(plugin, settlement, ret_reply, error);
  AGAIN("settle", real.settle(plugin, settlement, ret_reply, &attempts.error));
}

static int32_t open_again(const struct tidings_host *host,
                          const struct tidings_open_options *options,
                          struct tidings_plugin **ret_plugin, struct tidings_error *error) {
  AGAIN("open", real_entry.open(host, options, ret_plugin, &attempts.error));
}

static int32_t open_plugin(const struct tidings_host *host,
                           const struct tidings_open_options *options,
                           struct tidings_plugin **ret_plugin, struct tidings_error *error) {
  int32_t code = open_again(host, options, ret_plugin, error);
  if (code) return code;
  real = **ret_plugin;
  (*ret_plugin)->on_tool_result = on_tool_result;
  (*ret_plugin)->on_chat_request = on_chat_request;
  (*ret_plugin)->on_event = on_event;
  (*ret_plugin)->settle = settle;
  return 0;
}

/* After the event is stored, the plugin decides what a notification asks of the host. If that
 * fails, the event still succeeds: the host must send `wake` soon, which decides. */
void __real_react_to_notification(struct op *op, const struct tidings_reply **ret_reply);
void __wrap_react_to_notification(struct op *op, const struct tidings_reply **ret_reply);
void __wrap_react_to_notification(struct op *op, const struct tidings_reply **ret_reply) {
  enum { SOON_MS = 250 };
  const struct tidings_reply *reply = NULL;
  for (;;) {
    faults_arm();
    __real_react_to_notification(op, &reply);
    if (!faults_disarm()) break;
    /* The connection that shows a database that this host is alive may fail without effect on the
     * result. */
    if (db_remote && reply && reply->action_count) break;
    if (!reply || reply->wake_at_ms != op->now_ms + SOON_MS)
      wrong("the decision about a notification", "the host is not asked to send `wake`");
    reply_release(op->instance, reply);
    reply = NULL;
  }
  if (reply) *ret_reply = reply;
}

/* -- the extensions ---------------------------------------------------------------------------- */

static const struct tidings_query *real_query;
static const struct tidings_wake *real_wake;
static const struct tidings_store *real_store;

static int32_t query(struct tidings_plugin *plugin, const struct tidings_span *request,
                     const struct tidings_answer **ret_answer, struct tidings_error *error) {
  AGAIN("query", real_query->query(plugin, request, ret_answer, &attempts.error));
}

static int32_t descriptor(struct tidings_plugin *plugin, int32_t *ret_fd,
                          struct tidings_error *error) {
  AGAIN("descriptor", real_wake->descriptor(plugin, ret_fd, &attempts.error));
}

static int32_t next_session(struct tidings_plugin *plugin, char *buffer, size_t buffer_size,
                            size_t *ret_len, struct tidings_error *error) {
  AGAIN("next_session",
        real_wake->next_session(plugin, buffer, buffer_size, ret_len, &attempts.error));
}

#define TASK(name)                                                                                 \
  static int32_t store_##name(const struct tidings_store_request *request,                         \
                              const struct tidings_answer **ret_answer,                            \
                              struct tidings_error *error) {                                       \
    ATTEMPT(#name, true, real_store->name(request, ret_answer, &attempts.error));                  \
  }
TASK(check)
TASK(backup)
TASK(salvage)
TASK(migrate)
TASK(dump)
TASK(load)
TASK(forget)

static const void *get_extension(const char *id) {
  static struct tidings_query query_extension = {.size = sizeof query_extension, .query = query};
  static const struct tidings_wake wake_extension = {
      .size = sizeof wake_extension, .descriptor = descriptor, .next_session = next_session};
  static struct tidings_store store_extension;
  if (id && strcmp(id, TIDINGS_EXT_QUERY) == 0) {
    real_query = real_entry.get_extension(id);
    query_extension.release_answer = real_query->release_answer;
    return &query_extension;
  }
  if (id && strcmp(id, TIDINGS_EXT_WAKE) == 0) {
    real_wake = real_entry.get_extension(id);
    return &wake_extension;
  }
  if (!id || strcmp(id, TIDINGS_EXT_STORE) != 0) return NULL;
  real_store = real_entry.get_extension(id);
  store_extension = *real_store;
  store_extension.check = store_check;
  store_extension.backup = store_backup;
  store_extension.salvage = store_salvage;
  store_extension.migrate = store_migrate;
  store_extension.dump = store_dump;
  store_extension.load = store_load;
  store_extension.forget = store_forget;
  return &store_extension;
}

const struct tidings_entry tidings_entry = {
    .size = sizeof tidings_entry,
    .abi_major = TIDINGS_ABI_MAJOR,
    .abi_minor = TIDINGS_ABI_MINOR,
    .name = "tidings",
    .version = "again",
    .build_id = "again",
    .open = open_plugin,
    .get_extension = get_extension,
};
