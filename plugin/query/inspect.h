/* SPDX-License-Identifier: MIT
 *
 * query/inspect.h: the extension tidings.query/1: reading a session's rows and telling what they
 * say, as JSON. Changes nothing, save `configure`.
 */
#ifndef QUERY_INSPECT_H
#define QUERY_INSPECT_H

#include <tidings/query.h>

#include "common/json_write.h"
#include "query/query.h"
#include "session/op.h"

int inspect(struct instance *instance, struct tidings_span request,
            const struct tidings_answer **ret_answer, struct tidings_error *error);
void inspect_release(struct instance *instance,
                     const struct tidings_answer *answer); /* NULL is allowed */

/* One question being answered, in a snapshot. A session that the store has not heard of, or none at
 * all, has number 0 and an empty head. */
struct inspection {
  struct op op;
  const struct query *query;
  uint64_t last; /* number of the newest item */
  struct json_writer writer;
};

/* Each writes the members of the answer. Errors: NOT_FOUND, STORE, NOMEM. */
int inspect_pending(struct inspection *inspection, struct tidings_error *error);
int inspect_status(struct inspection *inspection, struct tidings_error *error);
int inspect_stats(struct inspection *inspection, struct tidings_error *error);
/* Part of the history: what the run did. */
int inspect_transitions(struct inspection *inspection, struct tidings_error *error);
int inspect_history(struct inspection *inspection, struct tidings_error *error);
int inspect_explain(struct inspection *inspection, struct tidings_error *error);
int inspect_stream(struct inspection *inspection, struct tidings_error *error);
int inspect_instructions(struct inspection *inspection, struct tidings_error *error);
int inspect_preview(struct inspection *inspection, struct tidings_error *error);
int inspect_sessions(struct inspection *inspection,
                     struct tidings_error *error); /* of the whole store */
int inspect_render(struct inspection *inspection, struct tidings_error *error);

/* "kind": {"source": …, "name": …}, as everywhere. */
void write_kind(struct json_writer *writer, const struct notification *note);

#endif
