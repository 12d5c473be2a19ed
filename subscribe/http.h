/* SPDX-License-Identifier: MIT
 *
 * subscribe/http.h: sends requests to an HTTP server by libcurl, in the caller's loop.
 */
#ifndef SUBSCRIBE_HTTP_H
#define SUBSCRIBE_HTTP_H

#include <poll.h>

#include "subscribe/transfer.h"

struct http;

/* `session` in the target is set here. NULL: no memory. */
struct http *http_begin(const struct transfer_target *target);
void http_send(struct http *http, const struct output *output, int64_t now_ms);
void http_cancel(struct http *http, uint64_t id);
/* Drops all requests and the session. */
void http_reset(struct http *http);
/* Returns when http_handle must be called at the latest; INT64_MAX: never. */
int64_t http_due_ms(const struct http *http);
/* The result is valid until the next call with this http. */
struct pollfd *http_fds(struct http *http, size_t *ret_count);
void http_handle(struct http *http, int64_t now_ms, const struct wire_ears *ears);
void http_end(struct http *http); /* NULL is allowed */

#endif
