/* SPDX-License-Identifier: MIT
 *
 * flow/declare.c: a tool declares its kinds of notifications. The declaration applies to its
 * session until the tool declares again.
 */
#include "common/error.h"
#include "flow/internal.h"

static bool is_same_declaration(const struct declaration *a, const struct declaration *b) {
  if (a->kind_count != b->kind_count) return false;
  for (size_t i = 0; i < a->kind_count; i++) {
    if (!span_equal(a->kinds[i], b->kinds[i])) return false;
  }
  return true;
}

/* Takes out the tool's old declaration and adds the new one unless it is empty. */
static int replace_declaration(struct op *op, const struct declaration *declared,
                               struct declarations *tools, bool *ret_changed,
                               struct tidings_error *error) {
  struct declaration *list = arena_zalloc(&op->arena, tools->count + 1, sizeof *list);
  size_t count = 0;
  if (!list) return fail(error, TIDINGS_E_NOMEM, "no memory for what a tool declares");
  *ret_changed = declared->kind_count;
  for (size_t i = 0; i < tools->count; i++) {
    if (!span_equal(tools->list[i].tool, declared->tool)) list[count++] = tools->list[i];
    else *ret_changed = !is_same_declaration(&tools->list[i], declared);
  }
  if (declared->kind_count) list[count++] = *declared;
  if (count > DECLARED_TOOLS)
    return fail(error, TIDINGS_E_FULL,
                "session %s: %zu tools have declared their kinds, which is the limit; a tool takes "
                "its declaration back with empty data.kinds",
                quote(op->name).text, count - 1);
  *tools = (struct declarations){list, count};
  return 0;
}

static int write_declared(struct op *op, const struct event *event, bool *ret_duplicate,
                          bool *ret_changed, struct tidings_error *error) {
  struct declarations tools;
  int code = session_add(op->txn, op->name, &op->session, error);
  if (!code) code = op_see_event(op, event, ret_duplicate, error);
  if (code || *ret_duplicate) return code;
  code = tools_get(op->txn, op->session, &op->arena, &tools, error);
  if (!code) code = replace_declaration(op, &event->declared, &tools, ret_changed, error);
  if (!code && *ret_changed) code = tools_put(op->txn, op->session, &tools, error);
  if (event->id.len) *ret_changed = true;
  return code ? code : store_sweep(op->txn, op->session, op->now_ms, error);
}

int declare_kinds(struct op *op, const struct event *event, bool *ret_duplicate,
                  struct tidings_error *error) {
  bool changed = false;
  int code = op_write_event(op, event, error);
  if (!code) code = write_declared(op, event, ret_duplicate, &changed, error);
  if (!code && changed) return op_commit(op, error);
  op_give_up(op);
  return code;
}
