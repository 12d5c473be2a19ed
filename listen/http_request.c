/* SPDX-License-Identifier: MIT
 */
#include "listen/http_request.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "listen/http_headers.h"
#include "listen/judge.h"
#include "listen/take.h"

enum { MOST_HELD_BYTES = 64 << 20, BUSY_S = 5 };

struct http_request {
  struct http_context *context;
  struct routes *routes;
  struct MHD_Connection *connection;
  const struct route *route; /* NULL: there is no route at the path */
  struct http_headers headers;
  struct verdict verdict;
  struct buffer body;
  size_t most, held; /* the limit of the body's bytes; how many of them the context counts */
  bool too_large, no_room;
};

/* -- the head ---------------------------------------------------------------------------------- */

static bool read_length(struct tidings_span text, uint64_t *ret_length) {
  enum { MOST_DIGITS = 18 };
  uint64_t length = 0;
  if (!text.len || text.len > MOST_DIGITS) return false;
  for (size_t i = 0; i < text.len; i++) {
    if (!isdigit((unsigned char)text.ptr[i])) return false;
    length = length * 10 + (uint64_t)(text.ptr[i] - '0');
  }
  *ret_length = length;
  return true;
}

/* Returns the URL's path. A request's line may have a whole URL, whose host then counts instead of
 * the header's. */
static const char *skip_host(const char *url, struct tidings_span *host) {
  static const char scheme[] = "http://";
  if (strncasecmp(url, scheme, sizeof scheme - 1) != 0) return url;
  url += sizeof scheme - 1;
  *host = span_of(url, strcspn(url, "/"));
  return url + host->len;
}

static struct judge_request describe(const struct http_request *request, const char *path,
                                     struct tidings_span host, const char *method) {
  const struct recipe_document *headers = &request->headers.document;
  struct tidings_span length = signature_header(headers, "content-length");
  struct judge_request judged = {.method = span_text(method),
                                 .content_type = signature_header(headers, "content-type"),
                                 .origin = signature_header(headers, "webhook-request-origin"),
                                 .header_count = request->headers.count,
                                 .header_bytes = request->headers.bytes,
                                 .malformed = request->headers.malformed,
                                 .host_listed = request->context->local ||
                                                routes_has_host(request->routes, host),
                                 .health = strcmp(path, "/healthz") == 0,
                                 .route = request->route != NULL,
                                 .has_length = length.len != 0,
                                 .chunked = signature_header(headers, "transfer-encoding").len != 0,
                                 .stopping = atomic_load(&request->context->stopping)};
  if (length.len && !read_length(length, &judged.length)) judged.length = UINT64_MAX;
  if (request->route) {
    judged.max_bytes = request->route->max_bytes;
    judged.cloudevents = span_is(request->route->recipe_name, "cloudevents");
  }
  return judged;
}

struct http_request *http_begin(struct http_context *context, struct routes *routes,
                                struct MHD_Connection *connection, const char *url,
                                const char *method) {
  struct http_request *request = calloc(1, sizeof *request);
  if (!request) return NULL;
  request->context = context;
  request->connection = connection;
  if (http_headers_read(connection, &request->headers)) {
    http_headers_free(&request->headers);
    free(request);
    return NULL;
  }
  request->routes = routes;
  struct tidings_span host = signature_header(&request->headers.document, "host");
  const char *path = skip_host(url, &host);
  request->route = routes_find(routes, span_text(path));
  request->most = request->route ? request->route->max_bytes : 0;
  const struct judge_request judged = describe(request, path, host, method);
  request->verdict = judge(&judged);
  return request;
}

bool http_answers_at_once(const struct http_request *request) {
  enum { MOST_THROWN_BYTES = 25 << 20 };
  const struct recipe_document *headers = &request->headers.document;
  const unsigned status = request->verdict.status;
  uint64_t length = 0;
  if (request->verdict.step != JUDGE_REFUSE) return false;
  return status == 400 || status == 431 || status == 503 ||
         !read_length(signature_header(headers, "content-length"), &length) ||
         length > MOST_THROWN_BYTES || signature_header(headers, "expect").ptr;
}

/* -- the body ---------------------------------------------------------------------------------- */

/* Adds a part of the body. A body that is too large is discarded, but read, because the library
 * answers only after it. */
void http_add(struct http_request *request, const char *bytes, size_t len) {
  if (request->verdict.step != JUDGE_READ_BODY || request->too_large || request->no_room) return;
  request->too_large = len > request->most - request->body.len;
  if (request->too_large) return;
  request->held += len;
  if (atomic_fetch_add(&request->context->held_bytes, len) + len > MOST_HELD_BYTES)
    request->no_room = true;
  else buffer_append(&request->body, bytes, len);
}

/* -- the answer -------------------------------------------------------------------------------- */

static void add_header(struct MHD_Response *response, const char *name, const char *value) {
  (void)MHD_add_response_header(response, name, value);
}

/* May the connection stay open? A proxy may send requests of several senders in one. If a
 * stranger's request ended elsewhere for the proxy than here, its rest would become the beginning
 * of the next request, so only signed requests keep the connection. */
static bool keeps_connection(const struct http_request *request, unsigned status) {
  return status == 200 && request->verdict.step == JUDGE_READ_BODY &&
         request->route->scheme != SIGNATURE_NONE && !atomic_load(&request->context->stopping);
}

static enum MHD_Result send_answer(const struct http_request *request, struct answer *answer) {
  char seconds[16];
  if (answer->body.failed) answer->status = 503;
  struct MHD_Response *response = MHD_create_response_from_buffer(
      answer->body.failed ? 0 : answer->body.len, answer->body.bytes, MHD_RESPMEM_MUST_COPY);
  if (!response) return MHD_NO;
  add_header(response, "Content-Type", "application/json");
  add_header(response, "Cache-Control", "no-store");
  if (answer->status == 405) add_header(response, "Allow", request->route ? "POST" : "GET, HEAD");
  if (answer->retry_after_s) {
    (void)snprintf(seconds, sizeof seconds, "%u", answer->retry_after_s);
    add_header(response, "Retry-After", seconds);
  }
  if (!keeps_connection(request, answer->status)) add_header(response, "Connection", "close");
  if (request->verdict.step == JUDGE_HANDSHAKE) {
    add_header(response, "WebHook-Allowed-Rate", "*");
    add_header(response, "WebHook-Allowed-Origin",
               signature_header(&request->headers.document, "webhook-request-origin").ptr);
    add_header(response, "Allow", "POST");
  }
  enum MHD_Result queued = MHD_queue_response(request->connection, answer->status, response);
  MHD_destroy_response(response);
  return queued;
}

static void refuse_request(const struct http_request *request, unsigned status, const char *reason,
                           struct answer *answer) {
  struct counts *counts = request->route ? request->route->counts : &request->routes->elsewhere;
  counts_refused(counts, status);
  take_refusal(status, reason, answer);
  if (status == 503) answer->retry_after_s = BUSY_S;
}

static void answer_body(struct http_request *request, struct answer *answer) {
  if (request->too_large)
    refuse_request(request, 413, "The body is larger than this route takes.", answer);
  else if (request->no_room || request->body.failed)
    refuse_request(request, 503, "Too many bodies are read at this time.", answer);
  else
    take_request(&request->context->place, request->route, &request->headers.document,
                 buffer_view(&request->body), answer);
}

enum MHD_Result http_answer(struct http_request *request) {
  struct answer answer = {.status = 200, .body = BUFFER_EMPTY};
  switch (request->verdict.step) {
  case JUDGE_REFUSE:
    refuse_request(request, request->verdict.status, request->verdict.reason, &answer);
    break;
  case JUDGE_HEALTH:
    if (take_can_store(&request->context->place)) buffer_text(&answer.body, "{\"ok\":true}\n");
    else refuse_request(request, 503, "The store cannot be written.", &answer);
    break;
  case JUDGE_HANDSHAKE: break;
  case JUDGE_READ_BODY: answer_body(request, &answer); break;
  }
  enum MHD_Result queued = send_answer(request, &answer);
  buffer_free(&answer.body);
  return queued;
}

void http_free(struct http_request *request) {
  atomic_fetch_sub(&request->context->held_bytes, request->held);
  http_headers_free(&request->headers);
  buffer_free(&request->body);
  routes_drop(request->routes);
  free(request);
}
