/* SPDX-License-Identifier: MIT
 *
 * test_server.c: tests the server as a function, which answers a line of the host with a line.
 */
#include <criterion/criterion.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "mcp/server.h"

#define META                                                                                       \
  "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","                         \
  "\"io.modelcontextprotocol/clientCapabilities\":{}}"

/* `answer`: how the answer begins; "": there is none. */
static const struct {
  const char *line, *answer;
} lines[] = {
    {"{\"id\":1,\"method\":\"ping\"}", "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n"},
    {"{\"id\":\"\\u0041\",\"method\":\"ping\",\"params\":{}}",
     "{\"jsonrpc\":\"2.0\",\"id\":\"\\u0041\",\"result\":{}}\n"},
    {"{\"id\":1e2,\"method\":\"ping\"}", "{\"jsonrpc\":\"2.0\",\"id\":1e2,\"result\":{}}\n"},
    {"{\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2024-11-05\"}}",
     "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":\"2024-11-05\","},
    {"{\"id\":1,\"method\":\"initialize\"}",
     "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":\"2025-11-25\","},
    {"{\"id\":1,\"method\":\"tools/list\"}",
     "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"tools\":[{\"name\":\"news\","},
    {"{\"id\":1,\"method\":\"tools/list\",\"params\":{" META "}}",
     "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"tools\":[{\"name\":\"news\","},
    {"{\"id\":1,\"method\":\"server/discover\",\"params\":{" META "}}",
     "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"supportedVersions\":[\"2026-07-28\"],"},
    {"{\"id\":1,\"method\":\"server/discover\"}",
     "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32602,"},
    {"{\"id\":1,\"method\":\"ping\",\"params\":{" META "}}",
     "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32601,"},
    {"{\"id\":1,\"method\":\"resources/list\"}",
     "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32601,"},
    {"{\"id\":1,\"method\":\"tools/call\"}",
     "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32602,"},
    {"{\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"run\"}}",
     "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[{\"type\":\"text\",\"text\":"
     "\"arguments.command: missing;"},
    {"{\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"send\",\"arguments\":"
     "{\"to\":\"box:a\",\"text\":\"a\\u0000b\"}}}",
     "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[{\"type\":\"text\",\"text\":"
     "\"arguments.text: it is something else;"},
    {"{\"id\":1,\"method\":\"none\",\"params\":{\"a\":\"\\ud83d\",\"b\":1e999,\"b\":"
     "12345678901234567890}}",
     "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32601,"},
    {"{\"method\":\"notifications/initialized\"}", ""},
    {"{\"id\":1,\"result\":{}}", ""},
    {"{\"id\":1,\"error\":{}}", ""},
    {"[]", "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32600,"},
    {"{}", "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32600,"},
    {"{\"id\":null,\"method\":\"ping\"}",
     "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32600,"},
    {"{\"id\":1,\"method\":\"ping\",\"params\":7}",
     "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32600,"},
    {"{\"id\":1", "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,"},
    {"\xff", "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,"},
};

Test(server, lines) {
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
    struct buffer out = BUFFER_EMPTY;
    struct mcp_action action;
    mcp_server_line(span_text(lines[i].line), true, &out, &action);
    cr_assert(!out.failed && !action.arguments, "%s", lines[i].line);
    const char *wanted = lines[i].answer;
    size_t len = strlen(wanted);
    cr_expect(len ? out.len >= len && memcmp(out.bytes, wanted, len) == 0 : !out.len, "%s: %.*s",
              lines[i].line, SPAN_FORMAT(buffer_view(&out)));
    cr_expect(!out.len || memchr(out.bytes, '\n', out.len) == out.bytes + out.len - 1, "%s",
              lines[i].line);
    buffer_free(&out);
  }
}

Test(server, without_tools) {
  static const struct {
    const char *line, *answer;
    bool over;
  } cases[] = {
      {"{\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-06-18\"}}",
       "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":\"2025-06-18\","
       "\"capabilities\":{\"tools\":{}},\"serverInfo\":{\"name\":\"tidings\",\"version\":"
       "\"" TIDINGS_VERSION "\"}}}\n",
       false},
      {"{\"method\":\"notifications/initialized\"}", "", false},
      {"{\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"news\"}}",
       "{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"code\":-32602,\"message\":\"params.name: there "
       "is "
       "no tool 'news'\"}}\n",
       false},
      {"{\"id\":3,\"method\":\"tools/list\"}",
       "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"tools\":[]}}\n", true}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct buffer out = BUFFER_EMPTY;
    struct mcp_action action;
    bool over = mcp_server_line(span_text(cases[i].line), false, &out, &action);
    cr_expect(over == cases[i].over && !action.arguments, "%s", cases[i].line);
    cr_expect(span_is(buffer_view(&out), cases[i].answer), "%.*s", SPAN_FORMAT(buffer_view(&out)));
    buffer_free(&out);
  }
}

static void expect_answer(const char *line, const char *text, bool failed, const char *wanted) {
  struct buffer out = BUFFER_EMPTY;
  struct mcp_action action;
  mcp_server_line(span_text(line), true, &out, &action);
  cr_assert(action.arguments && !out.len, "%s", line);
  mcp_server_answer(&action, text, failed, &out);
  cr_expect(span_is(buffer_view(&out), wanted), "%.*s", SPAN_FORMAT(buffer_view(&out)));
  mcp_action_finish(&action);
  buffer_free(&out);
}

#define NEWS(more) "{\"id\":\"a\",\"method\":\"tools/call\",\"params\":{\"name\":\"news\"" more "}}"

Test(server, actions) {
  expect_answer(NEWS(""), "x\n\"y\"", false,
                "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"result\":{\"content\":[{\"type\":\"text\","
                "\"text\":\"x\\n\\\"y\\\"\"}]}}\n");
  expect_answer(NEWS(",\"arguments\":{}"), NULL, false,
                "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"result\":{\"content\":[]}}\n");
  expect_answer(NEWS("," META), "x", true,
                "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"result\":{\"content\":[{\"type\":\"text\","
                "\"text\":\"x\"}],\"isError\":true,\"resultType\":\"complete\"}}\n");
}
