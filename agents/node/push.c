/* SPDX-License-Identifier: MIT
 *
 * agents/node/push.c: a notification from a JavaScript object, and the wake event. hostkit writes
 * the JSON.
 */
#include <string.h>

#include "instance.h"
#include "values.h"

/* The object's members; those that were not given are NULL or 0. */
struct given {
  struct text session, kind, message, level, activation, data, key, tool, handle, caused_by, source,
      id;
  uint32_t ttl_ms;
};

static bool given_read(struct napi_env__ *env, struct napi_value__ *object, struct given *given) {
  const struct {
    const char *name;
    enum need need;
    struct text *text;
  } members[] = {{"session", REQUIRED, &given->session},
                 {"kind", REQUIRED, &given->kind},
                 {"message", REQUIRED, &given->message},
                 {"level", OPTIONAL, &given->level},
                 {"activation", OPTIONAL, &given->activation},
                 {"data", OPTIONAL, &given->data},
                 {"key", OPTIONAL, &given->key},
                 {"tool", OPTIONAL, &given->tool},
                 {"handle", OPTIONAL, &given->handle},
                 {"causedBy", OPTIONAL, &given->caused_by},
                 {"source", OPTIONAL, &given->source},
                 {"id", OPTIONAL, &given->id}};
  int type = NAPI_UNDEFINED;
  if (napi_typeof(env, object, &type) != NAPI_OK) return throw_engine(env);
  if (type != NAPI_OBJECT) return throw_type(env, "notification", "an object");
  for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
    if (!text_member(env, object, members[i].name, members[i].need, members[i].text)) return false;
  }
  return value_number_member(env, object, "ttlMs", UINT32_MAX, &given->ttl_ms);
}

static void given_free(struct given *given) {
  struct text *const texts[] = {&given->session,   &given->kind,       &given->message,
                                &given->level,     &given->activation, &given->data,
                                &given->key,       &given->tool,       &given->handle,
                                &given->caused_by, &given->source,     &given->id};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) text_free(texts[i]);
}

/* The index of the word; not given is 0. */
static bool word_of(struct napi_env__ *env, const struct text *text, const char *name,
                    const char *const *words, const char *expected, uint32_t *ret_index) {
  uint32_t index = 0;
  while (text->ptr && words[index] && strcmp(words[index], text->ptr) != 0) index++;
  if (!words[index]) return throw_type(env, name, expected);
  *ret_index = index;
  return true;
}

/* "tool.failed": the source goes to the first dot. */
static bool kind_of(struct napi_env__ *env, const struct text *kind,
                    struct hostkit_notification *note) {
  const char *dot = kind->len ? memchr(kind->ptr, '.', kind->len) : NULL;
  size_t source_len = dot ? (size_t)(dot - kind->ptr) : kind->len;
  if (!source_len || source_len + 1 == kind->len)
    return throw_type(env, "kind", "a source, a dot and a name, such as \"tool.failed\"");
  note->kind_source = (struct tidings_span){.ptr = kind->ptr, .len = source_len};
  if (dot)
    note->kind_name = (struct tidings_span){.ptr = dot + 1, .len = kind->len - source_len - 1};
  return true;
}

static bool notification_of(struct napi_env__ *env, const struct given *given,
                            struct hostkit_notification *ret_note) {
  static const char *const levels[] = {"info", "warning", "error", "critical", NULL};
  static const char *const activations[] = {"", "passive", "idle", "interrupt", NULL};
  *ret_note = (struct hostkit_notification){.size = sizeof *ret_note,
                                            .session = text_span(&given->session),
                                            .text = text_span(&given->message),
                                            .data = text_span(&given->data),
                                            .key = text_span(&given->key),
                                            .tool = text_span(&given->tool),
                                            .handle = text_span(&given->handle),
                                            .ttl_ms = given->ttl_ms,
                                            .caused_by = text_span(&given->caused_by),
                                            .event_source = text_span(&given->source),
                                            .event_id = text_span(&given->id)};
  return kind_of(env, &given->kind, ret_note) &&
         word_of(env, &given->level, "level", levels, "info, warning, error or critical",
                 &ret_note->level) &&
         word_of(env, &given->activation, "activation", activations, "passive, idle or interrupt",
                 &ret_note->activation);
}

struct napi_value__ *call_push(struct napi_env__ *env, struct napi_callback_info__ *info) {
  struct call call;
  struct given given = {.ttl_ms = 0};
  struct hostkit_notification note;
  struct tidings_error error = {.size = sizeof error};
  struct tidings_reply *reply = NULL;
  struct napi_value__ *value = NULL;
  if (!call_begin(env, info, &call)) return NULL;
  if (given_read(env, call.arguments[0], &given) && notification_of(env, &given, &note) &&
      instance_is_open(env, call.instance)) { /* a getter may have closed it */
    int32_t code = hostkit_push(call.instance->kit, &note, &reply, &error);
    value = code ? throw_code(env, code, &error) : call_give_reply(env, call.instance->kit, reply);
  }
  given_free(&given);
  return value;
}

struct napi_value__ *call_wake(struct napi_env__ *env, struct napi_callback_info__ *info) {
  struct call call;
  struct text session;
  struct tidings_error error = {.size = sizeof error};
  struct tidings_reply *reply = NULL;
  struct napi_value__ *value = NULL;
  if (!call_begin(env, info, &call)) return NULL;
  if (text_take(env, call.arguments[0], "session", REQUIRED, &session)) {
    struct tidings_span span = text_span(&session);
    int32_t code = hostkit_wake(call.instance->kit, &span, &reply, &error);
    value = code ? throw_code(env, code, &error) : call_give_reply(env, call.instance->kit, reply);
  }
  text_free(&session);
  return value;
}
