/* SPDX-License-Identifier: MIT
 *
 * query/explain.c: the query `explain`: what happened to one item (explain_item.c), or to a
 * message (explain_message.c).
 */
#include "common/error.h"
#include "query/past.h"

/* Describes what each delivery that had item `n` did with it, in order. */
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

/* -- an item that was copied or moved to this session ------------------------------------------ */

struct copy_search {
  struct question *question;
  uint64_t n; /* of the copy; 0: none was found */
  struct tidings_error *error;
};

static int compare_origin(void *context, const struct item *item) {
  struct copy_search *search = context;
  struct op *op = &search->question->op;
  struct origin origin = {0};
  if (!item->copied) return 0;
  int code = item_get_origin(op->txn, op->session, item->n, &origin, search->error);
  if (!code && origin.item == search->question->request->id) search->n = item->n;
  return code;
}

/* The request's id is that of an item of this session, with or without the session's number, or
 * that of an item of which this session has a copy. */
static int find_number(struct question *question, uint64_t *ret_n, struct tidings_error *error) {
  struct op *op = &question->op;
  uint64_t id = question->request->id;
  struct copy_search search = {.question = question, .error = error};
  bool own = !public_id_session(id) || public_id_session(id) == op->session;
  if (op->session && own) search.n = public_id_n(id);
  else if (op->session) {
    int code = item_scan(op->txn, op->session, 0, UINT64_MAX, NULL, compare_origin, &search, error);
    if (code) return code;
  }
  if (!search.n)
    return fail(error, TIDINGS_E_NOT_FOUND, "session %s has no item %llu",
                quote(question->request->session).text, (unsigned long long)id);
  *ret_n = search.n;
  return 0;
}

int query_write_moved(struct question *question, uint64_t number, struct tidings_error *error) {
  struct tidings_span name = span_of(NULL, 0);
  int code = query_session_name(question, number, &name, error);
  if (!code && name.len) json_put_string(&question->writer, "moved_to", name);
  return code;
}

/* Retention may have removed the item. If no item ever had the number, the caller made a mistake.
 */
static int say_missing(const struct question *question, uint64_t n, struct tidings_error *error) {
  unsigned long long id = question->request->id;
  struct quoted session = quote(question->request->session);
  if (!n || n > question->last)
    return fail(error, TIDINGS_E_NOT_FOUND, "session %s has no item %llu", session.text, id);
  return fail(error, TIDINGS_E_NOT_FOUND,
              "session %s had item %llu and has forgotten it: a session keeps the newest %d "
              "notifications that have ended, for at most %d days",
              session.text, id, STORE_RETAIN_ITEMS, STORE_RETAIN_DAYS);
}

/* -- the query --------------------------------------------------------------------------------- */

int query_explain(struct question *question, struct tidings_error *error) {
  struct json_writer *writer = &question->writer;
  uint64_t n = 0;
  struct buffer explanation = BUFFER_EMPTY;
  struct past past = {0};
  struct past_disposition *dispositions = NULL;
  struct past_end end;
  struct item item;
  size_t count = 0;
  if (question->request->message.len) return query_explain_message(question, error);
  int code = find_number(question, &n, error);
  if (code) return code;
  code = item_get(question->op.txn, question->op.session, n, &question->op.arena, &item, error);
  if (code == TIDINGS_E_NOT_FOUND) code = say_missing(question, n, error);
  if (!code) code = past_read(question, false, &past, error);
  if (!code) code = collect_dispositions(question, &past, n, &dispositions, &count, error);
  if (code) return code;
  past_explain_item(question, &item, dispositions, count, &explanation, &end);
  uint64_t id = question->request->id;
  json_put_id(writer, "id", public_id_session(id) ? id : public_id(question->op.session, n));
  json_put_text(writer, "outcome", end.outcome);
  json_put_string(writer, "text", buffer_view(&explanation));
  if (explanation.failed) writer->out->failed = true;
  buffer_free(&explanation);
  bool moved = end.by.disposition && end.by.disposition->reason == REASON_COLLECTED;
  return moved ? query_write_moved(question, end.by.disposition->ref, error) : 0;
}
