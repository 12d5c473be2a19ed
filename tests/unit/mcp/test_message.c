/* SPDX-License-Identifier: MIT
 *
 * test_message.c: tests what is read of lines of the Model Context Protocol, where a block goes,
 * and which calls wait for a result.
 */
#include <criterion/criterion.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mcp/calls.h"
#include "mcp/message.h"
#include "mcp/wrap.h"

#define BLOCK "{\"type\":\"text\",\"text\":\"\\n\\n\\\"new\\\"\"}"
#define START "{\"id\":1,\"result\":"

/* `spliced` NULL: no block may be added. */
static const struct {
  const char *line, *spliced;
} results[] = {
    {START "{\"content\":[]}}", START "{\"content\":[" BLOCK "]}}"},
    {START "{\"content\":[ ]}}\r\n", START "{\"content\":[ " BLOCK "]}}\r\n"},
    {START "{\"content\":[{\"type\":\"text\",\"text\":\"]\"}]}}",
     START "{\"content\":[{\"type\":\"text\",\"text\":\"]\"}," BLOCK "]}}"},
    {START "{\"content\":[{}\t] , \"n\":1.0e5,\"u\":\"\\ud800\"}}",
     START "{\"content\":[{}\t," BLOCK "] , \"n\":1.0e5,\"u\":\"\\ud800\"}}"},
    {START "{\"isError\":true,\"content\":[{}]}}",
     START "{\"isError\":true,\"content\":[{}," BLOCK "]}}"},
    {START "{\"resultType\":\"complete\",\"content\":[{}]}}",
     START "{\"resultType\":\"complete\",\"content\":[{}," BLOCK "]}}"},
    {START "{\"content\":1,\"content\":[{}]}}",
     START "{\"content\":1,\"content\":[{}," BLOCK "]}}"},
    {START "{\"c\\u006fntent\":[{}]}}", START "{\"c\\u006fntent\":[{}," BLOCK "]}}"},
    {START "{\"content\":[{}],\"structuredContent\":null}}", NULL},
    {START "{\"content\":[{}],\"structuredContent\":{}}}", NULL},
    {START "{\"content\":[],\"resultType\":\"input_required\"}}", NULL},
    {START "{\"content\":[],\"resultType\":7}}", NULL},
    {START "{\"content\":[],\"task\":{}}}", NULL},
    {START "{\"content\":{}}}", NULL},
    {START "{\"tools\":[]}}", NULL},
    {START "[{\"content\":[]}]}", NULL},
    {"{\"id\":1,\"error\":{\"content\":[]}}", NULL},
    {START "{\"content\":[]},\"error\":{\"code\":1}}", NULL},
    {START "{\"content\":[]},\"error\":null}", START "{\"content\":[" BLOCK "]},\"error\":null}"},
    {"{\"id\":null,\"result\":{\"content\":[]}}", NULL},
    {"{\"result\":{\"content\":[]}}", NULL},
    {"{\"id\":1,\"method\":\"m\",\"result\":{\"content\":[]}}", NULL},
    {"[{\"id\":1,\"result\":{\"content\":[]}}]", NULL},
    {"7", NULL},
};

Test(message, splice) {
  for (size_t i = 0; i < sizeof results / sizeof *results; i++) {
    struct arena arena = ARENA_EMPTY;
    struct buffer out = BUFFER_EMPTY;
    struct mcp_message message;
    struct tidings_span line = span_text(results[i].line);
    cr_assert(mcp_message_read(line, &arena, &message, NULL) == 0, "%s", results[i].line);
    bool takes = message.kind == MCP_RESULT && message.takes_block;
    cr_expect(takes == (results[i].spliced != NULL), "%s", results[i].line);
    if (takes && results[i].spliced) {
      mcp_message_splice(line, &message, span_text("\n\n\"new\""), &out);
      cr_expect(span_is(buffer_view(&out), results[i].spliced), "%.*s",
                SPAN_FORMAT(buffer_view(&out)));
    }
    buffer_free(&out);
    arena_free(&arena);
  }
}

Test(message, not_json) {
  static const char *const lines[] = {"", "{\"id\":1", "{\"id\":1,\"result\":{\"content\":[}}", "x",
                                      "{\"a\":\"\xFF\"}"};
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
    struct arena arena = ARENA_EMPTY;
    struct mcp_message message = {.kind = MCP_RESULT};
    cr_expect(mcp_message_read(span_text(lines[i]), &arena, &message, NULL) != 0, "%s", lines[i]);
    arena_free(&arena);
  }
}

static struct mcp_calls calls;

static void note(const char *line) {
  struct arena arena = ARENA_EMPTY;
  struct mcp_message message;
  cr_assert(mcp_message_read(span_text(line), &arena, &message, NULL) == 0, "%s", line);
  mcp_calls_note(&calls, &message);
  arena_free(&arena);
}

/* The tool of the call that this result answers; NULL: there is none. */
static const char *answered(const char *line) {
  static char tool[64];
  struct arena arena = ARENA_EMPTY;
  struct mcp_message message;
  struct mcp_call call;
  cr_assert(mcp_message_read(span_text(line), &arena, &message, NULL) == 0, "%s", line);
  bool found = mcp_calls_take(&calls, &message.id, &call);
  arena_free(&arena);
  if (!found) return NULL;
  (void)snprintf(tool, sizeof tool, "%s %s", call.tool, call.session);
  mcp_call_finish(&call);
  return tool;
}

static void expect(const char *line, const char *wanted) {
  const char *got = answered(line);
  cr_expect(wanted ? got && strcmp(got, wanted) == 0 : !got, "%s: %s", line, got ? got : "none");
}

#define CALL(id, name)                                                                             \
  "{\"id\":" id ",\"method\":\"tools/call\",\"params\":{\"name\":\"" name "\"}}"

Test(calls, found_once) {
  note(CALL("1", "a"));
  note(CALL("\"1\"", "b"));
  note("{\"id\":2,\"method\":\"tools/list\"}");
  note("{\"method\":\"tools/call\",\"params\":{\"name\":\"c\"}}");
  note("{\"id\":3,\"method\":\"tools/"
       "call\",\"params\":{\"name\":\"d\",\"_meta\":{\"x-codex-turn-metadata\":"
       "{\"session_id\":\"s\"}}}}");
  note("{\"id\":4,\"method\":\"tools/call\"}");
  expect("{\"id\":2,\"result\":{}}", NULL);
  expect("{\"id\":\"1\",\"result\":{}}", "b ");
  expect("{\"id\":1,\"result\":{}}", "a ");
  expect("{\"id\":1,\"result\":{}}", NULL);
  expect("{\"id\":3,\"result\":{}}", "d s");
  expect("{\"id\":4,\"result\":{}}", " ");
  expect("{\"result\":{}}", NULL);
  mcp_calls_finish(&calls);
}

Test(calls, cancelled) {
  note(CALL("1", "a"));
  note(CALL("2", "b"));
  note("{\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}}");
  note("{\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":\"2\"}}");
  note("{\"method\":\"notifications/cancelled\"}");
  expect("{\"id\":1,\"result\":{}}", NULL);
  expect("{\"id\":2,\"result\":{}}", "b ");
  mcp_calls_finish(&calls);
}

Test(calls, more_than_fit) {
  for (int i = 0; i <= MCP_MOST_CALLS; i++) {
    char line[128];
    (void)snprintf(line, sizeof line, CALL("%d", "t"), i);
    note(line);
  }
  expect("{\"id\":0,\"result\":{}}", NULL);
  expect("{\"id\":1,\"result\":{}}", "t ");
  expect("{\"id\":256,\"result\":{}}", "t ");
  mcp_calls_finish(&calls);
}

Test(wrap, name) {
  static const struct {
    const char *argv[6], *name;
  } commands[] = {
      {{"npx", "-y", "@modelcontextprotocol/server-everything", "stdio", NULL, NULL},
       "server-everything"},
      {{"/usr/bin/github-mcp", "stdio", NULL, NULL, NULL, NULL}, "github-mcp"},
      {{"env", "A=1", "uvx", "mcp-server-git", NULL, NULL}, "mcp-server-git"},
      {{"node", "/opt/x/index.js", NULL, NULL, NULL, NULL}, "index.js"},
      {{"bash", NULL, NULL, NULL, NULL, NULL}, "bash"},
  };
  for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
    const char *name = mcp_wrap_name((char *const *)(uintptr_t)commands[i].argv);
    cr_expect(strcmp(name, commands[i].name) == 0, "%s, expected %s", name, commands[i].name);
  }
}
