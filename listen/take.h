/* SPDX-License-Identifier: MIT
 *
 * listen/take.h: handles a complete request: checks its signature, reads its JSON, applies its
 * recipe, and stores the notifications. It uses no HTTP library.
 */
#ifndef LISTEN_TAKE_H
#define LISTEN_TAKE_H

#include "command/kit.h"
#include "listen/forward.h"
#include "listen/routes.h"

struct answer {
  unsigned status;
  unsigned retry_after_s; /* 0: without Retry-After */
  struct buffer body;     /* JSON; free it with buffer_free */
};

/* The store for all requests, and how to reach it. */
struct take_place {
  const struct cli *cli;
  struct hostkit *kit;
  struct forward *forward;
  const atomic_bool *away; /* the store's folder was moved or deleted */
};

/* `request` has the headers, with names in lower case. The answer is 200 only after everything is
 * stored. Any thread may call it. */
void take_request(const struct take_place *place, const struct route *route,
                  const struct recipe_document *request, struct tidings_span body,
                  struct answer *ret_answer);

/* Makes the answer {"error": TEXT} with the status. */
void take_refusal(unsigned status, const char *text, struct answer *ret_answer);

/* Is a commit possible? Makes one to find out. */
bool take_can_store(const struct take_place *place);

/* Writes the id by which a repeated request is recognized: a header's value if `ids_count`, else
 * the body's SHA-256. */
int take_id(bool ids_count, const struct recipe_document *request, struct tidings_span body,
            struct buffer *out);

#endif
