/* SPDX-License-Identifier: MIT
 *
 * agents/node/harmless.c: the query `neutralize` for a tool's output. Most outputs stay unchanged.
 * Then neither the request nor the answer becomes a string of the engine, which would take longer
 * than the plugin's work.
 */
#include <stdlib.h>
#include <string.h>

#include "common/json_write.h"
#include "instance.h"
#include "values.h"

/* Writes the request. From *ret_same on, it equals the answer that changes nothing. */
static char *write_request(const struct text *session, const struct text *text, size_t *ret_same) {
  struct buffer request = BUFFER_EMPTY;
  struct json_writer writer = {.out = &request};
  json_open(&writer, NULL, '{');
  json_put_text(&writer, "name", "neutralize");
  json_put_string(&writer, "session", text_span(session));
  *ret_same = request.len + strlen(",");
  json_put_string(&writer, "text", text_span(text));
  json_close(&writer, '}');
  return buffer_take(&request);
}

static struct napi_value__ *ask(struct napi_env__ *env, struct hostkit *kit, const char *request,
                                size_t same) {
  struct tidings_error error = {.size = sizeof error};
  struct tidings_span span = {.ptr = request, .len = strlen(request)};
  char *answer = NULL;
  int32_t code = hostkit_query(kit, &span, &answer, &error);
  if (code) return throw_code(env, code, &error);
  bool is_same = strcmp(answer + strlen("{"), request + same) == 0;
  struct napi_value__ *value =
      is_same ? value_undefined(env) : value_text(env, answer, strlen(answer));
  hostkit_free(answer);
  return value;
}

struct napi_value__ *call_harmless(struct napi_env__ *env, struct napi_callback_info__ *info) {
  struct call call;
  struct text session, text;
  struct napi_value__ *value = NULL;
  char *request = NULL;
  size_t same = 0;
  session.ptr = text.ptr = NULL;
  if (!call_begin(env, info, &call)) return NULL;
  if (!text_take(env, call.arguments[0], "session", REQUIRED, &session) ||
      !text_take(env, call.arguments[1], "text", REQUIRED, &text))
    goto out;
  request = write_request(&session, &text, &same);
  if (request) value = ask(env, call.instance->kit, request, same);
  else napi_throw_error(env, "TIDINGS_E_NOMEM", "out of memory while asking a plugin");
out:
  free(request);
  text_free(&session);
  text_free(&text);
  return value;
}
