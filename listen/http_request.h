/* SPDX-License-Identifier: MIT
 *
 * listen/http_request.h: handles one request of libmicrohttpd: it judges the head, collects the
 * body and sends the answer.
 */
#ifndef LISTEN_HTTP_REQUEST_H
#define LISTEN_HTTP_REQUEST_H

#include <microhttpd.h>

#include "listen/routes.h"
#include "listen/take.h"

/* All requests share these. */
struct http_context {
  struct take_place place;
  struct routes *routes;
  bool local;               /* peers connect by a Unix socket */
  atomic_bool stopping;     /* the server accepts no new requests */
  atomic_size_t held_bytes; /* the bytes of all bodies that are being read */
};

struct http_request;

/* Takes over one use of `routes`. NULL: no memory. */
struct http_request *http_begin(struct http_context *context, struct routes *routes,
                                struct MHD_Connection *connection, const char *url,
                                const char *method);
/* Is the request answered before its body is read? Senders that do not wait for 100 Continue read
 * no answer before they have written the body, so if its length is known, it is read and discarded
 * first. */
bool http_answers_at_once(const struct http_request *request);
void http_add(struct http_request *request, const char *bytes, size_t len);
/* Does what the request asks for, and queues the answer. */
enum MHD_Result http_answer(struct http_request *request);
void http_free(struct http_request *request);

#endif
