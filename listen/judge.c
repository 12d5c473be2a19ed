/* SPDX-License-Identifier: MIT
 */
#include "listen/judge.h"

#include <strings.h>

static struct verdict refuse_with(unsigned status, const char *reason) {
  return (struct verdict){JUDGE_REFUSE, status, reason};
}

static struct verdict take_step(enum judge_step step) { return (struct verdict){step, 0, NULL}; }

static bool ends_with(struct tidings_span text, const char *suffix) {
  size_t len = strlen(suffix);
  return text.len >= len && strncasecmp(text.ptr + text.len - len, suffix, len) == 0;
}

bool judge_is_json(struct tidings_span content_type) {
  static const char prefix[] = "application/";
  size_t len = 0;
  while (len < content_type.len && content_type.ptr[len] != ';' && content_type.ptr[len] != ' ')
    len++;
  struct tidings_span type = span_of(content_type.ptr, len);
  if (len < sizeof prefix - 1 || strncasecmp(type.ptr, prefix, sizeof prefix - 1) != 0)
    return false;
  return ends_with(type, "/json") || ends_with(type, "+json");
}

static struct verdict judge_body(const struct judge_request *request) {
  if (request->has_length && request->chunked)
    return refuse_with(400, "The request has both Content-Length and Transfer-Encoding.");
  if (!request->has_length && !request->chunked)
    return refuse_with(411, "The request has no Content-Length.");
  if (request->length > request->max_bytes)
    return refuse_with(413, "The body is larger than this route takes.");
  if (!judge_is_json(request->content_type))
    return refuse_with(415, "The body is not declared as JSON; expected application/json.");
  return take_step(JUDGE_READ_BODY);
}

struct verdict judge(const struct judge_request *request) {
  bool reads = span_is(request->method, "GET") || span_is(request->method, "HEAD");
  if (request->header_count > JUDGE_MOST_HEADERS || request->header_bytes > JUDGE_MOST_HEADER_BYTES)
    return refuse_with(431, "The request has too many headers.");
  if (request->malformed) return refuse_with(400, "A header is malformed, or is there twice.");
  if (!request->host_listed)
    return refuse_with(421, "The Host is not among the hosts of the configuration.");
  if (request->stopping) return refuse_with(503, "The server stops.");
  if (request->health)
    return reads ? take_step(JUDGE_HEALTH) : refuse_with(405, "Expected GET or HEAD.");
  if (!request->route) return refuse_with(404, "There is no route at this path.");
  if (span_is(request->method, "OPTIONS") && request->cloudevents && request->origin.len)
    return take_step(JUDGE_HANDSHAKE);
  if (!span_is(request->method, "POST")) return refuse_with(405, "Expected POST.");
  return judge_body(request);
}
