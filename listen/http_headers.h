/* SPDX-License-Identifier: MIT
 *
 * listen/http_headers.h: copies a request's headers into the form that recipes and signatures read.
 */
#ifndef LISTEN_HTTP_HEADERS_H
#define LISTEN_HTTP_HEADERS_H

#include <microhttpd.h>

#include "recipes/pointer.h"

struct http_headers {
  struct recipe_document document; /* has the headers, with names in lower case */
  size_t count, bytes;             /* the number and the bytes of all headers, as they were sent */
  struct arena arena;
  bool failed, malformed;
};

/* Decodes %XX in place, and returns the length. %00 stays, because readers would stop at a NUL. */
size_t http_headers_decode(char *text);

/* Reads the headers. Values of "ce-…" headers are percent-decoded, as CloudEvents demands. Returns
 * 0, or -1: no memory. */
int http_headers_read(struct MHD_Connection *connection, struct http_headers *ret_headers);
void http_headers_free(struct http_headers *headers);

#endif
