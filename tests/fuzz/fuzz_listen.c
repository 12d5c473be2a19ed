/* SPDX-License-Identifier: MIT
 *
 * tests/fuzz/fuzz_listen.c: the input is a request: lines "name: value", an empty line, and a body.
 * The first byte chooses the scheme. Without the secret no headers make a valid signature, and a
 * signature with the secret is valid for one body only. A request that is refused by its first
 * lines has a status and a reason. A body that is read is JSON for a listed host, and is no larger
 * than the route allows. An input that begins with "{" is also read as a file of routes: it is
 * taken whole, or refused with a sentence.
 */
#include "fuzz.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/sha256.h"
#include "common/span.h"
#include "listen/base64.h"
#include "listen/judge.h"
#include "listen/routes.h"
#include "listen/signature.h"

enum { MOST_HEADERS = 16, MOST_BODY = 100 };

static const char secret[] = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
static const int64_t now_s = 1700000000;

struct request {
  struct recipe_header headers[MOST_HEADERS + 1]; /* with room for a signature */
  size_t header_count;
  struct tidings_span body;
};

static struct request read_request(struct tidings_span input) {
  struct request request = {.header_count = 0};
  const char *at = input.ptr, *end = input.ptr + input.len;
  while (at < end && *at != '\n' && request.header_count < MOST_HEADERS) {
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    if (!stop) stop = end;
    const char *colon = memchr(at, ':', (size_t)(stop - at));
    const char *value = colon ? colon + 1 : stop;
    while (value < stop && *value == ' ') value++;
    request.headers[request.header_count++] = (struct recipe_header){
        span_of(at, (size_t)((colon ? colon : stop) - at)), span_of(value, (size_t)(stop - value))};
    at = stop < end ? stop + 1 : end;
  }
  if (at < end && *at == '\n') at++;
  request.body = span_of(at, (size_t)(end - at));
  return request;
}

static const char *refusal(enum signature_scheme scheme, const struct request *request,
                           struct tidings_span body) {
  const struct signature_secrets secrets = {.secrets = {span_text(secret)}, .count = 1};
  const struct recipe_document document = {.headers = request->headers,
                                           .header_count = request->header_count};
  return signature_refusal(scheme, &secrets, &document, body, now_s);
}

/* Checks a request that is signed with the secret, by GitHub's scheme. */
static void check_signed(const struct request *request) {
  char text[7 + 2 * SHA256_BYTES + 1] = "sha256=", body[MOST_BODY + 1];
  unsigned char mac[SHA256_BYTES];
  struct request own = {.header_count = 1};
  sha256_hmac(span_text(secret), &request->body, 1, mac);
  for (size_t i = 0; i < SHA256_BYTES; i++) (void)snprintf(text + 7 + 2 * i, 3, "%02x", mac[i]);
  own.headers[0] = (struct recipe_header){span_text("x-hub-signature-256"), span_text(text)};
  MUST(!refusal(SIGNATURE_GITHUB, &own, request->body), "the holder of the secret is refused");
  if (request->body.len > MOST_BODY) return;
  if (request->body.len) memcpy(body, request->body.ptr, request->body.len);
  body[request->body.len] = '!';
  MUST(refusal(SIGNATURE_GITHUB, &own, span_of(body, request->body.len + 1)),
       "another body is taken");
}

static void check_signature(const struct request *request, unsigned how) {
  enum signature_scheme scheme = (enum signature_scheme)(1 + how % SIGNATURE_BEARER);
  MUST(refusal(scheme, request, request->body), "scheme %d: signed without the secret",
       (int)scheme);
  check_signed(request);
}

/* -- the first lines --------------------------------------------------------------------------- */

static struct tidings_span find_header(const struct request *request, const char *name) {
  const struct recipe_document document = {.headers = request->headers,
                                           .header_count = request->header_count};
  return signature_header(&document, name);
}

static void check_head(const struct request *request, unsigned how) {
  const struct judge_request head = {.method = find_header(request, "method"),
                                     .content_type = find_header(request, "content-type"),
                                     .origin = find_header(request, "webhook-request-origin"),
                                     .header_count = request->header_count * (how % 8),
                                     .header_bytes = request->body.len * (how % 64),
                                     .host_listed = how & 1,
                                     .health = how & 2,
                                     .route = how & 4,
                                     .cloudevents = how & 8,
                                     .max_bytes = MOST_BODY,
                                     .has_length = how & 16,
                                     .chunked = how & 32,
                                     .length = request->body.len,
                                     .stopping = how & 64};
  struct verdict verdict = judge(&head);
  bool refused = verdict.step == JUDGE_REFUSE;
  MUST(refused == (verdict.reason != NULL), "a reason of step %d", (int)verdict.step);
  MUST(!refused || (verdict.status >= 400 && verdict.status < 600), "status %u", verdict.status);
  MUST(refused || (head.host_listed && head.header_count <= JUDGE_MOST_HEADERS &&
                   head.header_bytes <= JUDGE_MOST_HEADER_BYTES && !head.stopping),
       "step %d", (int)verdict.step);
  if (verdict.step != JUDGE_READ_BODY) return;
  MUST(head.route && span_equal(head.method, span_text("POST")) &&
           judge_is_json(head.content_type) && (!head.has_length || head.length <= MOST_BODY),
       "a body is read that no route takes");
}

static void check_base64(struct tidings_span text) {
  unsigned char bytes[BASE64_MOST];
  size_t len = base64_read(text, bytes);
  MUST(len <= BASE64_MOST && len <= text.len / 4 * 3 + 2, "%zu bytes of %zu", len, text.len);
}

/* -- a file of routes -------------------------------------------------------------------------- */

static void check_routes(struct tidings_span text) {
  char path[64];
  struct routes *routes = NULL;
  struct tidings_error error = {.size = sizeof error, .text = ""};
  int fd = memfd_create("routes", MFD_CLOEXEC);
  if (fd < 0 || write(fd, text.ptr, text.len) != (ssize_t)text.len) abort();
  (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  int32_t code = routes_read(path, &routes, &error);
  close(fd);
  MUST(!code == (routes != NULL) && (!code || error.text[0]), "code %d: %s", code, error.text);
  for (size_t i = 0; routes && i < routes->count; i++)
    MUST(routes_find(routes, routes->routes[i].path), "route %zu is not found", i);
  routes_drop(routes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
  struct tidings_span input = span_of((const char *)data, len);
  if (len && data[0] == '{') check_routes(input);
  if (!len) return 0;
  struct request request = read_request(span_of(input.ptr + 1, len - 1));
  check_signature(&request, data[0]);
  check_head(&request, data[0]);
  check_base64(request.body);
  return 0;
}
