/* SPDX-License-Identifier: MIT
 *
 * listen/http_headers.h: copies the headers of a request in the form that recipes and signatures
 * read.
 */
#ifndef LISTEN_HTTP_HEADERS_H
#define LISTEN_HTTP_HEADERS_H

#include <microhttpd.h>

#include "recipes/pointer.h"

struct http_headers {
  struct recipe_document document; /* its headers; names in lower case */
  size_t count, bytes;             /* of all headers, as they were sent */
  struct arena arena;
  bool failed, malformed;
};

/* Decodes %XX in place, and returns the length. Other text stays. The code of a NUL stays too,
 * because readers would stop at a NUL. */
size_t http_headers_decode(char *text);

/* Values of "ce-…" headers are decoded from percent encoding, as CloudEvents asks. Returns 0, or
 * -1: no memory. */
int http_headers_read(struct MHD_Connection *connection, struct http_headers *ret_headers);
void http_headers_free(struct http_headers *headers);

#endif
