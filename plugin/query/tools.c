/* SPDX-License-Identifier: MIT
 *
 * query/tools.c: the query `tools`: which kinds the tools of a session have declared.
 */
#include "query/answer.h"

int query_tools(struct question *question, struct tidings_error *error) {
  struct op *op = &question->op;
  struct json_writer *writer = &question->writer;
  struct declarations tools;
  int code = tools_get(op->txn, op->session, &op->arena, &tools, error);
  if (code) return code;
  json_open(writer, "tools", '[');
  for (size_t i = 0; i < tools.count; i++) {
    json_open(writer, NULL, '{');
    json_put_string(writer, "tool", tools.list[i].tool);
    json_open(writer, "kinds", '[');
    for (size_t k = 0; k < tools.list[i].kind_count; k++)
      json_put_string(writer, NULL, tools.list[i].kinds[k]);
    json_close(writer, ']');
    json_close(writer, '}');
  }
  json_close(writer, ']');
  return 0;
}
