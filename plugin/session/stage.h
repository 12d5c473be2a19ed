/* SPDX-License-Identifier: MIT
 *
 * session/stage.h: one write transaction in which a session's run is decided on: from the head to
 * the reply. Whoever uses it commits, and hands the reply out after that.
 */
#ifndef SESSION_STAGE_H
#define SESSION_STAGE_H

#include "session/reply.h"
#include "session/turning.h"

struct stage {
  struct instance *instance;
  const struct settings *settings;
  struct store_txn *txn;
  uint32_t session;
  int64_t now_ms;
  struct arena arena; /* the reply takes it */
  struct head head;
  bool head_changed;
  bool answers; /* the caller is the attached host and gets the reply */
  bool owned;   /* somebody alive is attached */

  struct turning turning;
  uint64_t last_item;
  struct tidings_span system_text;
  struct turns_result result;
};

/* Of the stage's txn, session, head. Errors: STORE, NOMEM. */
int stage_load(struct stage *stage, const struct tidings_span *ids, size_t count,
               ptrdiff_t *ret_named, struct tidings_error *error);
int stage_load_numbers(struct stage *stage, const uint64_t *numbers, size_t count,
                       ptrdiff_t *ret_named, struct tidings_error *error);
struct turns_input stage_input(const struct stage *stage, enum turns_event event);
/* After the step: urgency, an offer that is due or was not told. Errors: STORE, NOMEM. */
int stage_look(struct stage *stage, struct tidings_error *error);
/* Rows and head, if anything changed: *ret_changed. */
int stage_save(struct stage *stage, enum turns_event event, bool *ret_changed,
               struct tidings_error *error);
/* A reply with the status and the actions, in the stage's arena; still inside the transaction, so
 * that it cannot fail after the commit. */
int stage_reply(struct stage *stage, struct tidings_reply **ret_reply, struct tidings_error *error);

/* A reply that only says how `session` stands, by a snapshot of its own. Errors: STORE, NOMEM. */
int stage_stand(struct stage *stage, struct tidings_span session, struct tidings_reply **ret_reply,
                struct tidings_error *error);

#endif
