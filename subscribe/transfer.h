/* SPDX-License-Identifier: MIT
 *
 * subscribe/transfer.h: one HTTP request and what comes back: JSON, or a stream of events.
 */
#ifndef SUBSCRIBE_TRANSFER_H
#define SUBSCRIBE_TRANSFER_H

#include <curl/curl.h>

#include "subscribe/wire.h"

/* The server, and what each request brings. Texts are borrowed. */
struct transfer_target {
  const char *url, *token_file; /* NULL: no token */
  const char *session;          /* Mcp-Session-Id; NULL: none */
  bool plain;                   /* a GET of a stream of events, without MCP */
};

struct transfer {
  struct transfer *next;
  uint64_t id;      /* of the request in it; 0: nobody waits for an answer */
  bool initializes; /* it begins a session */
  CURL *easy;
  struct curl_slist *headers;
  char *text; /* what is sent */
  struct buffer in;
  struct sse sse;
  bool begun, streams; /* streams: the answer is text/event-stream */
  bool too_large;
  bool done, dropped; /* dropped: nobody wants the rest */
  CURLcode result;
  long status;
  char *session; /* that the answer begins */
  char error[CURL_ERROR_SIZE];
};

/* *ret_why: what is wrong, if it returns NULL. */
struct transfer *transfer_new(const struct transfer_target *target, const struct output *output,
                              const char **ret_why);
void transfer_free(struct transfer *transfer);

/* Reports what has come so far, and the end. */
void transfer_report(struct transfer *transfer, bool plain, const struct wire_ears *ears);

#endif
