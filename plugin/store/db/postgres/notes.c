/* SPDX-License-Identifier: MIT
 *
 * store/db/postgres/notes.c: facts of the rows that the store notes for the engine.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/db/postgres/remote.h"

void pg_notes_ended_below(struct db_txn *txn, uint32_t number, uint8_t kind, uint64_t n) {
  struct pg_session *session = NULL;
  if (pg_txn_session(txn, number, &session)) return;
  if (n > session->ended[kind]) session->ended[kind] = n;
}

bool pg_notes_is_history(struct db_txn *txn, const struct db_key *key) {
  struct pg_session *session = NULL;
  uint32_t number;
  uint8_t kind = key->bytes[4];
  memcpy(&number, key->bytes, 4);
  return !pg_txn_session(txn, be32toh(number), &session) && txn->db->kinds[kind] == DB_KIND_ENDS &&
         pg_key_n(key) < session->floors[kind];
}

void pg_notes_note(struct db_txn *txn, uint32_t number, const struct db_noted *noted) {
  struct pg_session *session = NULL;
  if (pg_txn_session(txn, number, &session)) return;
  session->is_noted = true;
  session->noted = *noted;
  /* Other machines must see that the owner of a session is alive; otherwise they may take the
   * session over, and the owner's calls are refused. */
  if (owner_equal(&noted->owner, &txn->db->self) &&
      pg_alive_begin(txn->db, pg_engine(txn)->deadline, NULL))
    db_log(txn->db, TIDINGS_LOG_WARNING, "store %s: no connection to say that this host is alive",
           txn->db->place.shown);
}

int pg_notes_tools(struct db_txn *txn, uint32_t number, struct tidings_span json) {
  struct pg_session *session = NULL;
  int rc = pg_txn_session(txn, number, &session);
  if (rc) return rc;
  free(session->tools);
  session->tools = json.len ? strndup(json.ptr, json.len) : NULL;
  session->tools_noted = session->written = true;
  return json.len && !session->tools ? ENOMEM : 0;
}

/* A session that was declared by its name gets a number. */
int pg_notes_name_session(struct db_txn *txn, uint32_t number, struct tidings_span name) {
  struct pg_txn *engine = txn->engine;
  struct pg_session *session = engine->declared;
  if (session && !session->number && session->name && span_equal(span_text(session->name), name)) {
    session->number = number;
    return 0;
  }
  int rc = pg_txn_session(txn, number, &session);
  if (rc) return rc;
  bool another = session->exists && session->name && !span_equal(span_text(session->name), name);
  if (another) return EEXIST;
  if (!session->name && !(session->name = strndup(name.ptr, name.len))) return ENOMEM;
  session->written = true;
  return 0;
}

/* Any machine may commit at any time. */
struct db_state db_state(const struct db_txn *txn) {
  (void)txn;
  return (struct db_state){0, 0};
}
