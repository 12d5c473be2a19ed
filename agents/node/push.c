/* SPDX-License-Identifier: MIT
 *
 * agents/node/push.c: a notification from a JavaScript object, and the wake event. hostkit writes
 * the JSON.
 */
#include <string.h>

#include "instance.h"
#include "values.h"

/* The object's members; missing ones are NULL or 0. */
struct given {
  struct text session, kind, message, level, activation, data, key, tool, handle, caused_by, source,
      id;
  uint64_t ttl_ms;
};

/* Finds the index of the word; a missing word is 0. */
static bool word_of(struct napi_env__ *env, const struct text *text, const char *name,
                    const char *const *words, const char *expected, uint32_t *ret_index) {
  uint32_t index = 0;
  while (text->ptr && words[index] && strcmp(words[index], text->ptr) != 0) index++;
  if (!words[index]) return throw_type(env, name, expected);
  *ret_index = index;
  return true;
}

/* Reads "tool.failed": the source ends at the first dot. */
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
  const struct text_member members[] = {{"session", REQUIRED, &given.session},
                                        {"kind", REQUIRED, &given.kind},
                                        {"message", REQUIRED, &given.message},
                                        {"level", OPTIONAL, &given.level},
                                        {"activation", OPTIONAL, &given.activation},
                                        {"data", OPTIONAL, &given.data},
                                        {"key", OPTIONAL, &given.key},
                                        {"tool", OPTIONAL, &given.tool},
                                        {"handle", OPTIONAL, &given.handle},
                                        {"causedBy", OPTIONAL, &given.caused_by},
                                        {"source", OPTIONAL, &given.source},
                                        {"id", OPTIONAL, &given.id}};
  enum { COUNT = sizeof members / sizeof members[0] };
  struct hostkit_notification note;
  struct tidings_error error = {.size = sizeof error};
  struct tidings_reply *reply = NULL;
  struct napi_value__ *value = NULL;
  if (!call_begin(env, info, &call)) return NULL;
  if (text_members_read(env, call.arguments[0], "notification", members, COUNT) &&
      value_number_member(env, call.arguments[0], "ttlMs", NUMBER_MAX, &given.ttl_ms) &&
      notification_of(env, &given, &note) &&
      instance_is_open(env, call.instance)) { /* a getter may have closed it */
    int32_t code = hostkit_push(call.instance->kit, &note, &reply, &error);
    value = code ? throw_code(env, code, &error) : call_give_reply(env, call.instance->kit, reply);
  }
  text_members_free(members, COUNT);
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
