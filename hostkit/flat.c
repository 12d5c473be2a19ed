/* SPDX-License-Identifier: MIT
 *
 * flat.c: handles instead of pointers, for languages whose foreign functions know only integers
 * and strings. No handle is used twice, so a stale one is detected.
 */
#include "flat.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "errors.h"
#include "flat_fields.h"
#include "gate.h"
#include "json.h"
#include "push.h"
#include "text.h"

struct slot {
  struct slot *next;
  int64_t handle;
  struct hostkit *kit;
  uint64_t users; /* calls that have looked the handle up and have not returned yet */
  bool closing;
};

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t
    table_changed; /* made at run time, because its clock must be the monotonic one */
static pthread_once_t table_once = PTHREAD_ONCE_INIT;
static struct slot *table;
static int64_t last_handle;

static _Thread_local char last_error[sizeof(((struct tidings_error *)0)->text)];
static _Thread_local int32_t last_code;

static void make_condition(void) {
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(&table_changed, &attributes);
  pthread_condattr_destroy(&attributes);
}

static void lock_before_fork(void) { pthread_mutex_lock(&table_lock); }

static void unlock_after_fork(void) { pthread_mutex_unlock(&table_lock); }

/* Only the thread that forked is here, so no call of another one will ever return. */
static void begin_as_child(void) {
  for (struct slot *slot = table; slot; slot = slot->next) slot->users = 0;
  make_condition();
  pthread_mutex_unlock(&table_lock);
}

static void make_table(void) {
  make_condition();
  (void)pthread_atfork(lock_before_fork, unlock_after_fork, begin_as_child);
}

static void lock_table(void) {
  pthread_once(&table_once, make_table);
  pthread_mutex_lock(&table_lock);
}

static int32_t remember(const struct tidings_error *error, int32_t code) {
  const char *text = error->text[0] ? error->text : hostkit_error_name(code);
  size_t len = strnlen(text, sizeof last_error - 1);
  memcpy(last_error, text, len);
  last_error[len] = '\0';
  last_code = code;
  return code;
}

const char *hostkit_flat_error(void) { return last_error; }

int32_t hostkit_flat_error_code(void) { return last_code; }

/* Finds the slot of a handle and counts a user; give_back ends the use. Errors: NOT_FOUND. */
static int32_t look_up(int64_t handle, struct slot **ret_slot, struct tidings_error *error) {
  lock_table();
  struct slot *slot = table;
  while (slot && slot->handle != handle) slot = slot->next;
  if (slot && !slot->closing) slot->users++;
  else slot = NULL;
  pthread_mutex_unlock(&table_lock);
  if (!slot)
    return hk_error(error, TIDINGS_E_NOT_FOUND, "handle %lld is not open", (long long)handle);
  *ret_slot = slot;
  return TIDINGS_OK;
}

static void give_back(struct slot *slot) {
  lock_table();
  slot->users--;
  pthread_cond_broadcast(&table_changed);
  pthread_mutex_unlock(&table_lock);
}

static int32_t open_from(const struct json *given, struct arena *arena, struct hostkit **ret_kit,
                         struct tidings_error *error) {
  static const char *const members[] = {
      "plugin",    "store",          "host_name",        "configuration", "role",
      "owner_pid", "hook_budget_ms", "settle_on_return", "probe",         "total_budget_ms",
      NULL};
  static const char *const roles[] = {"host", "producer", NULL};
  struct hk_fields fields = {.object = given, .arena = arena, .name = "options", .error = error};
  hk_fields_only(&fields, members);
  struct hostkit_options options = {
      .size = sizeof options,
      .plugin_path = hk_field_string(&fields, "plugin", HK_REQUIRED),
      .store_dir = hk_field_string(&fields, "store", HK_OPTIONAL),
      .host_name = hk_field_string(&fields, "host_name", HK_OPTIONAL),
      .role = hk_field_word(&fields, "role", roles, HK_OPTIONAL, TIDINGS_ROLE_HOST),
      .owner_pid = hk_field_number(&fields, "owner_pid", 0),
      .hook_budget_ms = hk_field_number(&fields, "hook_budget_ms", 0),
      .settle_on_return = hk_field_flag(&fields, "settle_on_return"),
      .total_budget_ms = hk_field_number64(&fields, "total_budget_ms"),
  };
  const struct json *probe = json_member(given, "probe");
  if (probe && probe->kind == JSON_IS_FALSE) options.flags |= HOSTKIT_NO_PROBE;
  else if (probe && probe->kind != JSON_IS_STRING)
    hk_field_wrong(&fields, "probe", "a path or false");
  else options.probe_path = hk_field_string(&fields, "probe", HK_OPTIONAL);
  const struct json *configuration = hk_field_object(&fields, "configuration", HK_OPTIONAL);
  struct tidings_span text = {NULL, 0};
  if (fields.code) return fields.code;
  if (configuration && json_compact(configuration, arena, &text))
    return hk_error(error, TIDINGS_E_NOMEM, "out of memory while reading the options");
  options.configuration = text.ptr;
  return hostkit_open(&options, ret_kit, error);
}

int64_t hostkit_flat_open(const char *options_json) {
  struct tidings_error error = {.size = sizeof error};
  struct arena arena = ARENA_EMPTY;
  const struct json *options = NULL;
  struct slot *slot = NULL;
  int64_t handle = 0;
  int32_t code = TIDINGS_OK;
  if (!options_json) code = hk_error(&error, TIDINGS_E_INVAL, "options is a null pointer");
  if (!code)
    code = hk_json_read_object(span_text(options_json), "options", &arena, &options, &error);
  if (code) goto out;
  slot = calloc(1, sizeof *slot);
  if (!slot) {
    code = hk_error(&error, TIDINGS_E_NOMEM, "out of memory while opening a plugin");
    goto out;
  }
  code = open_from(options, &arena, &slot->kit, &error);
  if (code) goto out;
  lock_table();
  handle = slot->handle = ++last_handle;
  slot->next = table;
  table = slot;
  pthread_mutex_unlock(&table_lock);
  slot = NULL;
out:
  free(slot);
  arena_free(&arena);
  if (code) remember(&error, code);
  return handle;
}

/* Marks the slot so that no new call finds it, and waits for the calls that use it. Errors:
 * NOT_FOUND, BUSY. */
static int32_t begin_close(int64_t handle, struct slot **ret_slot, struct tidings_error *error) {
  struct timespec deadline = hk_deadline(HK_FLAT_DRAIN_MS);
  struct slot *slot = NULL;
  int32_t code = look_up(handle, &slot, error);
  if (code) return code;
  lock_table();
  slot->users--;
  if (slot->closing) { /* another thread was quicker, and waits for this one */
    pthread_cond_broadcast(&table_changed);
    code = hk_error(error, TIDINGS_E_NOT_FOUND, "handle %lld is being closed", (long long)handle);
    goto out;
  }
  slot->closing = true;
  int waited = 0;
  while (slot->users && waited != ETIMEDOUT)
    waited = pthread_cond_timedwait(&table_changed, &table_lock, &deadline);
  if (slot->users) {
    slot->closing = false;
    code = hk_error(error, TIDINGS_E_BUSY, "%llu calls were still under way after %u ms",
                    (unsigned long long)slot->users, HK_FLAT_DRAIN_MS);
    goto out;
  }
  *ret_slot = slot;
out:
  pthread_mutex_unlock(&table_lock);
  return code;
}

static void end_close(struct slot *slot, bool closed) {
  lock_table();
  slot->closing = false;
  if (closed) {
    struct slot **at = &table;
    while (*at != slot) at = &(*at)->next;
    *at = slot->next;
  }
  pthread_mutex_unlock(&table_lock);
  if (closed) free(slot);
}

int32_t hostkit_flat_close(int64_t handle) {
  struct tidings_error error = {.size = sizeof error};
  struct slot *slot = NULL;
  int32_t code = begin_close(handle, &slot, &error);
  if (!code) {
    code = hostkit_close(slot->kit, HK_FLAT_DRAIN_MS, &error);
    end_close(slot, code == TIDINGS_OK);
  }
  return code ? remember(&error, code) : TIDINGS_OK;
}

/* Replaces what has been written. */
static void write_error(int32_t code, const struct tidings_error *error, struct buffer *answer) {
  struct json_writer writer = {.out = answer};
  buffer_free(answer);
  json_open(&writer, NULL, '{');
  json_open(&writer, "error", '{');
  json_put_text(&writer, "code", hostkit_error_name(code));
  json_put_text(&writer, "text", error->text);
  json_close(&writer, '}');
  json_close(&writer, '}');
}

static int32_t answer_to(int64_t handle, const char *request_json, struct buffer *answer,
                         struct tidings_error *error) {
  if (!request_json) return hk_error(error, TIDINGS_E_INVAL, "request is a null pointer");
  struct arena arena = ARENA_EMPTY;
  const struct json *request = NULL;
  struct slot *slot = NULL;
  int32_t code = hk_json_read_object(span_text(request_json), "request", &arena, &request, error);
  if (!code) code = look_up(handle, &slot, error);
  if (!code) {
    code = hk_flat_perform(slot->kit, request, &arena, answer, error);
    give_back(slot);
  }
  arena_free(&arena);
  return code;
}

char *hostkit_flat_call(int64_t handle, const char *request_json) {
  struct tidings_error error = {.size = sizeof error};
  struct buffer answer = BUFFER_EMPTY;
  int32_t code = answer_to(handle, request_json, &answer, &error);
  if (code) {
    remember(&error, code);
    write_error(code, &error, &answer);
  }
  char *text = buffer_take(&answer);
  if (!text) {
    (void)fail(&error, TIDINGS_E_NOMEM, "out of memory while writing the answer");
    remember(&error, TIDINGS_E_NOMEM);
  }
  return text;
}

int32_t hostkit_flat_push(int64_t handle, const char *session, const char *kind, int32_t level,
                          const char *text) {
  struct tidings_error error = {.size = sizeof error};
  struct hostkit_notification note = {.size = sizeof note,
                                      .session = hk_span(session),
                                      .text = hk_span(text),
                                      .level = (uint32_t)level};
  struct slot *slot = NULL;
  int32_t code = TIDINGS_OK;
  if (!session || !kind || !text)
    code = hk_error(&error, TIDINGS_E_INVAL, "%s is a null pointer",
                    !session ? "session"
                    : !kind  ? "kind"
                             : "text");
  if (!code && (level < 0 || level > (int32_t)TIDINGS_LEVEL_CRITICAL))
    code = hk_error(&error, TIDINGS_E_INVAL, "level is %d, expected 0 (info) to 3 (critical)",
                    (int)level);
  if (!code) code = look_up(handle, &slot, &error);
  if (!code) {
    code = hk_push(slot->kit, &note, hk_span(kind), NULL, &error);
    give_back(slot);
  }
  return code ? remember(&error, code) : TIDINGS_OK;
}

int32_t hostkit_flat_wake_descriptor(int64_t handle) {
  struct tidings_error error = {.size = sizeof error};
  struct slot *slot = NULL;
  int32_t fd = -1;
  int32_t code = look_up(handle, &slot, &error);
  if (!code) {
    code = hostkit_wake_descriptor(slot->kit, &fd, &error);
    give_back(slot);
  }
  return code ? remember(&error, code) : fd;
}

char *hostkit_flat_next_session(int64_t handle) {
  struct tidings_error error = {.size = sizeof error};
  struct slot *slot = NULL;
  size_t len = 0;
  char *id = malloc(HK_SESSION_BYTES);
  int32_t code = id ? look_up(handle, &slot, &error)
                    : hk_error(&error, TIDINGS_E_NOMEM, "out of memory for the next session");
  if (!code) {
    code = hostkit_next_session(slot->kit, id, HK_SESSION_BYTES - 1, &len, &error);
    give_back(slot);
  }
  if (code) {
    free(id);
    remember(&error, code);
    return NULL;
  }
  id[len] = '\0';
  return id;
}
