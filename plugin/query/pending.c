/* SPDX-License-Identifier: MIT
 *
 * query/pending.c: the query `pending`.
 */
#include "query/answer.h"
#include "session/ledger.h"

int query_pending(struct question *question, struct tidings_error *error) {
  struct json_writer *writer = &question->writer;
  struct item *items = NULL;
  size_t count = 0;
  int code = item_pending(question->op.txn, question->op.session, &question->op.head,
                          &question->op.arena, &items, &count, error);
  if (code) return code;
  count = query_leave_out_ended(items, count);
  json_put_u64(writer, "count", count);
  json_put_u64(writer, "leased", ledger_leased(&question->op.head));
  json_open(writer, "items", '[');
  for (size_t i = 0; i < count && i < question->request->limit; i++) {
    json_open(writer, NULL, '{');
    json_put_id(writer, "id", public_id(question->op.session, items[i].n));
    query_write_kind(writer, &items[i].note);
    json_put_text(writer, "level", level_name(items[i].note.level));
    json_put_string(writer, "message", items[i].note.message);
    json_put_time(writer, "time", items[i].pushed_ms);
    query_write_due(writer, items[i].note.due_ms);
    if (items[i].note.handle.len) json_put_string(writer, "handle", items[i].note.handle);
    query_write_occurred(writer, &items[i].note);
    query_write_data(writer, &items[i].note);
    if (items[i].note.activation == ACTIVATION_SILENT) json_put_bool(writer, "silent", true);
    if (items[i].note.caused_by.len) json_put_string(writer, "caused_by", items[i].note.caused_by);
    json_close(writer, '}');
  }
  json_close(writer, ']');
  return 0;
}
