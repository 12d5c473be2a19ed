/* SPDX-License-Identifier: MIT
 *
 * subscribe/transfer.h: one HTTP request and its answer: JSON, or a stream of events.
 */
#ifndef SUBSCRIBE_TRANSFER_H
#define SUBSCRIBE_TRANSFER_H

#include <curl/curl.h>

#include "subscribe/wire.h"

/* The server, and the parts that all requests have in common. Texts are borrowed. */
struct transfer_target {
  const char *url, *token_file; /* NULL: no token */
  const char *session;          /* Mcp-Session-Id; NULL: none */
  bool plain;                   /* a GET of a stream of events, without MCP */
  bool local;                   /* on this machine, and not encrypted */
};

struct transfer {
  struct transfer *next;
  uint64_t id;      /* the request's id; 0: it has no answer */
  bool plain;       /* as in the target */
  bool initializes; /* the request begins a session */
  CURL *easy;
  struct curl_slist *headers;
  char *text; /* the body of the request */
  struct buffer in;
  struct sse sse;
  bool begun, streams;    /* streams: the answer is text/event-stream */
  bool opened;            /* .. and that is not reported yet */
  bool too_large, unread; /* unread: the text is of no interest, and may have no end */
  bool done, dropped;     /* dropped: the rest is not wanted */
  CURLcode result;
  long status;
  int64_t date_ms; /* when the server sent the answer, by its own clock; 0: not known */
  char *session;   /* the session that the answer begins */
  char error[CURL_ERROR_SIZE];
};

/* Begins a request. If it returns NULL, *ret_why says why. */
struct transfer *transfer_new(const struct transfer_target *target, const struct output *output,
                              const char **ret_why);
void transfer_free(struct transfer *transfer);

/* Reports what has come so far, and the end. */
void transfer_report(struct transfer *transfer, bool plain, const struct wire_ears *ears);

#endif
