/* SPDX-License-Identifier: MIT
 *
 * store/rows/tools.c: the one row in which a session's tools have declared their kinds. A session
 * without declarations has no such row; each push looks for it.
 */
#include <errno.h>

#include "common/json_write.h"
#include "store/rows/rows.h"

static void write_declaration(const struct declaration *declaration, struct buffer *out) {
  record_bytes(out, declaration->tool);
  record_u64(out, declaration->kind_count);
  for (size_t i = 0; i < declaration->kind_count; i++) record_bytes(out, declaration->kinds[i]);
}

static int read_declaration(struct record_reader *reader, struct arena *arena,
                            struct declaration *ret_declaration) {
  struct tidings_span tool = record_read_bytes(reader);
  size_t count = record_read_count(reader, 1);
  struct tidings_span *kinds = arena_zalloc(arena, count, sizeof *kinds);
  if (!kinds) return -1;
  for (size_t i = 0; i < count; i++) kinds[i] = record_read_bytes(reader);
  *ret_declaration = (struct declaration){tool, kinds, count};
  return 0;
}

int tools_decode(const struct db_key *key, struct tidings_span record, struct arena *arena,
                 struct declarations *ret_tools) {
  struct record_reader reader;
  *ret_tools = (struct declarations){NULL, 0};
  if (!record_open(&reader, key, record)) return 0;
  size_t count = record_read_count(&reader, 2);
  struct declaration *list = arena_zalloc(arena, count, sizeof *list);
  int failed = list ? 0 : -1;
  for (size_t i = 0; i < count && !failed; i++) failed = read_declaration(&reader, arena, &list[i]);
  if (!failed && record_close(&reader)) *ret_tools = (struct declarations){list, count};
  return failed;
}

int tools_get(struct store_txn *txn, uint32_t session, struct arena *arena,
              struct declarations *ret_tools, struct tidings_error *error) {
  struct db_key key = row_key(session, ROW_TOOLS, 0);
  struct tidings_span value = span_of(NULL, 0);
  int rc = session ? row_get(txn, &key, &value) : 0;
  if (rc) return db_failed(error, rc, "read what tools have declared");
  *ret_tools = (struct declarations){NULL, 0};
  if (!value.ptr) return 0;
  if (arena_copy(arena, value, &value) || tools_decode(&key, value, arena, ret_tools))
    return fail(error, TIDINGS_E_NOMEM, "no memory for what tools have declared");
  return 0;
}

void tools_text(const struct declarations *tools, struct buffer *out) {
  struct json_writer writer = {.out = out};
  json_open(&writer, NULL, '[');
  for (size_t i = 0; i < tools->count; i++) {
    const struct declaration *tool = &tools->list[i];
    json_open(&writer, NULL, '[');
    json_put_string(&writer, NULL, tool->tool);
    for (size_t j = 0; j < tool->kind_count; j++) json_put_string(&writer, NULL, tool->kinds[j]);
    json_close(&writer, ']');
  }
  json_close(&writer, ']');
}

/* Passes the declarations to an engine whose pushes read no rows. */
static int describe_tools_to_engine(struct store_txn *txn, uint32_t session,
                                    const struct declarations *tools, struct tidings_error *error) {
  struct buffer text = BUFFER_EMPTY;
  if (!db_remote) return 0;
  tools_text(tools, &text);
  int rc = text.failed
               ? ENOMEM
               : db_remote->note_tools(txn->db, session,
                                       tools->count ? buffer_view(&text) : span_of(NULL, 0));
  buffer_free(&text);
  return rc ? db_failed(error, rc, "write what tools have declared") : 0;
}

int tools_put(struct store_txn *txn, uint32_t session, const struct declarations *tools,
              struct tidings_error *error) {
  struct db_key key = row_key(session, ROW_TOOLS, 0);
  struct buffer body = BUFFER_EMPTY;
  int code = describe_tools_to_engine(txn, session, tools, error);
  if (code) return code;
  if (!tools->count) {
    int rc = db_delete(txn->db, &key);
    return rc ? db_failed(error, rc, "forget what tools have declared") : 0;
  }
  record_begin(&body);
  record_u64(&body, tools->count);
  for (size_t i = 0; i < tools->count; i++) write_declaration(&tools->list[i], &body);
  return row_put(txn, &key, &body, error);
}

/* -- a push ------------------------------------------------------------------------------------ */

static bool knows_kind(const struct declaration *tool, struct tidings_span kind) {
  for (size_t i = 0; i < tool->kind_count; i++) {
    if (span_equal(tool->kinds[i], kind)) return true;
  }
  return false;
}

static int refuse_kind(const struct declaration *tool, struct tidings_span kind,
                       struct tidings_error *error) {
  enum { LISTED_BYTES = 600 };
  struct buffer known = BUFFER_EMPTY;
  for (size_t i = 0; i < tool->kind_count && known.len < LISTED_BYTES; i++) {
    if (i) buffer_text(&known, ", ");
    buffer_span(&known, tool->kinds[i]);
  }
  if (known.len >= LISTED_BYTES) buffer_text(&known, ", …");
  int code = fail(error, TIDINGS_E_SCHEMA,
                  "data.kind: tool %s has declared no kind %s; expected one of %.*s",
                  quote(tool->tool).text, quote(kind).text, SPAN_FORMAT(buffer_view(&known)));
  buffer_free(&known);
  return code;
}

int tools_check(struct store_txn *txn, uint32_t session, const struct notification *note,
                struct arena *arena, bool *ret_refused, struct tidings_error *error) {
  struct declarations tools = {.count = 0};
  if (note->made_by) return 0; /* the plugin's own producers make only known kinds */
  int code = tools_get(txn, session, arena, &tools, error);
  for (size_t i = 0; !code && i < tools.count; i++) {
    const struct declaration *tool = &tools.list[i];
    bool is_its = span_equal(tool->tool, note->tool) || span_equal(tool->tool, note->source);
    if (!is_its || knows_kind(tool, note->name)) continue;
    *ret_refused = true;
    return refuse_kind(tool, note->name, error);
  }
  return code;
}
