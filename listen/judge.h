/* SPDX-License-Identifier: MIT
 *
 * listen/judge.h: decides from a request's head whether to refuse it, answer it at once, or read
 * its body. Pure; a table of tests covers every case.
 */
#ifndef LISTEN_JUDGE_H
#define LISTEN_JUDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/span.h"

enum { JUDGE_MOST_HEADERS = 64, JUDGE_MOST_HEADER_BYTES = 16 << 10 };

struct judge_request {
  struct tidings_span method, content_type, origin; /* origin: WebHook-Request-Origin */
  size_t header_count, header_bytes;
  bool malformed; /* two readers could understand the headers differently */
  bool host_listed;
  bool health;      /* the path is /healthz */
  bool route;       /* there is a route at the path */
  bool cloudevents; /* the route speaks CloudEvents, which has a handshake */
  size_t max_bytes; /* the largest body of the route */
  bool has_length, chunked;
  uint64_t length;
  bool stopping; /* the server accepts no new requests */
};

enum judge_step { JUDGE_REFUSE, JUDGE_READ_BODY, JUDGE_HEALTH, JUDGE_HANDSHAKE };

struct verdict {
  enum judge_step step;
  unsigned status;    /* JUDGE_REFUSE: the status */
  const char *reason; /* JUDGE_REFUSE: a sentence, which quotes nothing of the request */
};

struct verdict judge(const struct judge_request *request);

/* Is it application/json or application/SOMETHING+json, with any parameters? */
bool judge_is_json(struct tidings_span content_type);

#endif
