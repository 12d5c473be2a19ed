/* SPDX-License-Identifier: MIT
 *
 * tests/unit/policy/reports.h: short ways to write items that reports have made.
 */
#ifndef TESTS_UNIT_POLICY_REPORTS_H
#define TESTS_UNIT_POLICY_REPORTS_H

#include "event/facts.h"
#include "items.h"
#include "values/event.h"

static struct arena facts_arena = ARENA_EMPTY;
static inline void free_facts(void) { arena_free(&facts_arena); }

/* An item with `data`, whose facts are read as a delivery reads them. */
static inline void add_with_data(struct items *items, struct item_spec spec, const char *data) {
  add_item(items, spec);
  struct item *item = &items->items[items->count - 1];
  item->note.data = span_text(data);
  cr_assert_eq(facts_read(item, 1, &facts_arena), 0);
}

#define DATA(items, data, ...) add_with_data((items), (struct item_spec){__VA_ARGS__}, (data))
#define FILE_IS(items, path, what, ...)                                                            \
  DATA((items), "{\"path\":\"" path "\",\"change\":\"" what "\"}", .source = "file",               \
       .name = "changed", .made_by = MADE_BY_FILE_CHANGED,                                         \
       .message = "`" path "` was " what " externally.", __VA_ARGS__)
#define FILE_CHANGED(items, path, ...) FILE_IS(items, path, "modified", __VA_ARGS__)

#define STAMPED(items, path, stamp, ...)                                                           \
  DATA((items), "{\"path\":\"" path "\",\"stamp\":\"" stamp "\"}", .source = "file",               \
       .name = "changed", .made_by = MADE_BY_FILE_CHANGED,                                         \
       .message = "`" path "` was modified externally.", __VA_ARGS__)
#define STAMPED_LIST(items, paths, stamps, ...)                                                    \
  DATA((items), "{\"paths\":" paths ",\"stamps\":" stamps "}", .source = "file",                   \
       .name = "changed", .made_by = MADE_BY_FILE_CHANGED, __VA_ARGS__)

#define MCP(items, state, server)                                                                  \
  DATA((items), "{\"server\":\"" server "\"}", .source = "mcp", .name = (state),                   \
       .message = (state), .made_by = MADE_BY_MCP_STATE)
#define HANDLE(items, state, ...)                                                                  \
  ITEM((items), .source = "tool", .name = (state), .message = (state),                             \
       .made_by = MADE_BY_HANDLE_STATE, __VA_ARGS__)

#endif
