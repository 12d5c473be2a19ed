/* SPDX-License-Identifier: MIT
 *
 * tidings/query.h: the extension tidings.query/1: questions about a session, as JSON in and JSON
 * out. It is for status lines, tools and tests; it is not made for speed. No query changes
 * anything, except `configure`, and `marker`, which stores a secret if the store has none.
 *
 * A request is {"name": NAME, "session": ID, ...}. These names are about a session: pending,
 * status, history, explain, queue, tools, stats, timeline, stream, preview, render, instructions,
 * neutralize, totals. Without "session", totals is about all sessions. These are about the whole
 * store and take no session: sessions, marker, configure. schema/query.schema.json says what each
 * takes and answers.
 */
#ifndef TIDINGS_QUERY_H
#define TIDINGS_QUERY_H

#include <tidings/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The id for get_extension. Since 1.0. */
#define TIDINGS_EXT_QUERY "tidings.query/1"

/* An answer. It belongs to the plugin until release_answer. Since 1.0. */
struct tidings_answer {
  uint32_t size;
  uint32_t flags;           /* none is defined */
  struct tidings_span json; /* one JSON object, UTF-8 */
};
#define TIDINGS_ANSWER_SIZE_1_0 TIDINGS_SIZE_TO(struct tidings_answer, json)

/* The functions of the extension. Since 1.0. */
struct tidings_query {
  uint32_t size;
  uint32_t reserved; /* 0 */

  /* Answers a question. [any thread] [never from a callback] Any role may ask. `request` is
   * borrowed until the call returns. On success *ret_answer is the answer, to be released; until
   * then quiesce answers BUSY. On an error it is not written.
   *
   * Errors:
   *   INVAL        not JSON, a null pointer, or host.random failed (host.h)
   *   SCHEMA       the JSON is not such a request
   *   TOO_BIG      the request, or a field of it, is over its limit
   *   UNSUPPORTED  this plugin does not have the query
   *   NOT_FOUND    explain: there is no such item
   *   BUSY, STORE, NOMEM, CLOSED   as in abi.h
   * Since 1.0. */
  int32_t (*query)(struct tidings_plugin *plugin, const struct tidings_span *request,
                   const struct tidings_answer **ret_answer, struct tidings_error *error);

  /* Gives an answer back. [any thread] [never from a callback] No pointer into it may be used
   * afterwards. NULL is allowed. It cannot fail: a pointer that was released before, or is no
   * answer of this instance, is not followed, as with release (plugin.h). Since 1.0. */
  void (*release_answer)(struct tidings_plugin *plugin, const struct tidings_answer *answer);
};
#define TIDINGS_QUERY_SIZE_1_0 TIDINGS_SIZE_TO(struct tidings_query, release_answer)

#ifdef __cplusplus
}
#endif

#endif
