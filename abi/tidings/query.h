/* SPDX-License-Identifier: MIT
 *
 * tidings/query.h: the extension `tidings.query/1`: questions about a session, as JSON in and JSON
 * out. Queries never change state, save `configure`. They are for hosts' status lines, for tools,
 * and for tests; no hot path.
 *
 * A request is {"name": NAME, "session": ID, ...}. Names: pending, status, history, explain, stats,
 * stream, configure, instructions, preview, render, neutralize, sessions (of the whole store: it
 * takes no session). What each takes and answers is in schema/query.schema.json. A name that this
 * version does not have answers TIDINGS_E_UNSUPPORTED.
 */
#ifndef TIDINGS_QUERY_H
#define TIDINGS_QUERY_H

#include <tidings/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TIDINGS_EXT_QUERY "tidings.query/1"

/* An answer; belongs to the plugin until release_answer. Since 1.0. */
struct tidings_answer {
  uint32_t size;
  uint32_t flags;           /* none defined */
  struct tidings_span json; /* one JSON object, UTF-8 */
};

/* Since 1.0. */
struct tidings_query {
  uint32_t size;
  uint32_t reserved;

  /* Any thread, any role. `request` is borrowed for the call. On success *ret_answer is the answer,
   * which counts as a reply that is out until it is released. Errors: INVAL (not JSON), SCHEMA,
   * TOO_BIG, UNSUPPORTED (unknown name), NOT_FOUND (explain: no such item), BUSY, STORE, NOMEM,
   * CLOSED. */
  int32_t (*query)(struct tidings_plugin *plugin, const struct tidings_span *request,
                   const struct tidings_answer **ret_answer, struct tidings_error *error);

  /* Gives an answer back. Any thread; NULL is allowed; cannot fail. */
  void (*release_answer)(struct tidings_plugin *plugin, const struct tidings_answer *answer);
};

#ifdef __cplusplus
}
#endif

#endif
