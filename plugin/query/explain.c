/* SPDX-License-Identifier: MIT
 *
 * query/explain.c: the query `explain`: what happened to one item (explain_item.c), or to a
 * message (explain_message.c).
 */
#include "common/error.h"
#include "query/past.h"

/* Of item `n` in each delivery that had it, in order. */
static int collect_dispositions(struct question *question, const struct past *past, uint64_t n,
                                struct past_disposition **ret_dispositions, size_t *ret_count,
                                struct tidings_error *error) {
  struct past_disposition *dispositions =
      arena_zalloc(&question->op.arena, past->delivery_count + 1, sizeof *dispositions);
  size_t count = 0;
  if (!dispositions) return fail(error, TIDINGS_E_NOMEM, "no memory to explain an item");
  for (size_t i = 0; i < past->delivery_count; i++) {
    const struct delivery *delivery = &past->deliveries[i];
    const struct disposition_range *disposition =
        past_find_disposition(delivery->dispositions, delivery->disposition_count, n);
    if (disposition) dispositions[count++] = (struct past_disposition){delivery, disposition};
  }
  *ret_dispositions = dispositions;
  *ret_count = count;
  return 0;
}

int query_explain(struct question *question, struct tidings_error *error) {
  struct json_writer *writer = &question->writer;
  uint64_t n = public_id_n(question->request->id);
  struct buffer explanation = BUFFER_EMPTY;
  struct past past = {0};
  struct past_disposition *dispositions = NULL;
  struct past_end end;
  struct item item;
  size_t count = 0;
  if (question->request->message.len) return query_explain_message(question, error);
  if (!question->op.session || public_id_session(question->request->id) != question->op.session) {
    return fail(error, TIDINGS_E_NOT_FOUND, "session %s has no item %llu",
                quote(question->request->session).text, (unsigned long long)question->request->id);
  }
  int code = item_get(question->op.txn, question->op.session, n, &question->op.arena, &item, error);
  if (code == TIDINGS_E_NOT_FOUND)
    code = fail(error, code, "session %s has no item %llu", quote(question->request->session).text,
                (unsigned long long)question->request->id);
  if (!code) code = past_read(question, false, &past, error);
  if (!code) code = collect_dispositions(question, &past, n, &dispositions, &count, error);
  if (code) return code;
  past_explain_item(question, &item, dispositions, count, &explanation, &end);
  json_put_id(writer, "id", question->request->id);
  json_put_text(writer, "outcome", end.outcome);
  json_put_string(writer, "text", buffer_view(&explanation));
  if (explanation.failed) writer->out->failed = true;
  buffer_free(&explanation);
  return 0;
}
