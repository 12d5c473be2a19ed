/* SPDX-License-Identifier: MIT
 */
#include "mcp/serve.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/file.h"
#include "mcp/act.h"
#include "mcp/block.h"
#include "mcp/resumed.h"

enum { READ_AT_ONCE = 65536, LONGEST_LINE = 16 << 20 };

struct serving {
  bool tools, over;
  struct mcp_news news;
  struct mcp_acting acting;
};

static int write_plain(const struct buffer *line) {
  return line->failed ? ENOMEM : file_write_all(STDOUT_FILENO, line->bytes, line->len);
}

/* Writes one of our results with the pending notifications. *ret_added: there were some. If there
 * were none and `only_with` is set, writes nothing. */
static int put_result(struct serving *serving, const struct mcp_action *action,
                      const struct buffer *line, bool only_with, bool *ret_added) {
  struct arena arena = ARENA_EMPTY;
  struct mcp_message message;
  struct mcp_block block = {.text = NULL};
  char *id = NULL; /* a number is not NUL-terminated */
  int reason = 0;
  if (line->failed) return ENOMEM;
  if (!mcp_message_read(buffer_view(line), &arena, &message, NULL) &&
      mcp_block_fits(&serving->news, &message) &&
      (id = strndup(message.id.text.ptr, message.id.text.len)))
    mcp_news_lease(&serving->news, action->session, id, mcp_server_tool_name(action->tool), &block);
  free(id);
  *ret_added = block.text != NULL;
  if (block.text) reason = mcp_block_write(&serving->news, buffer_view(line), &message, &block);
  else if (!only_with) reason = write_plain(line);
  arena_free(&arena);
  return reason;
}

static int do_action(struct serving *serving, const struct mcp_action *action) {
  struct buffer line = BUFFER_EMPTY;
  char *text = NULL;
  bool is_news = action->tool == MCP_TOOL_NEWS, added = false;
  int reason = 0;
  mcp_news_open(&serving->news, action->session);
  if (is_news) {
    mcp_server_answer(action, NULL, false, &line);
    reason = put_result(serving, action, &line, true, &added);
    line.len = 0;
  }
  if (!reason && !added) {
    bool failed = mcp_act(&serving->acting, action, &text);
    mcp_server_answer(action, text ? text : "out of memory", failed || !text, &line);
    reason = is_news ? write_plain(&line) : put_result(serving, action, &line, false, &added);
  }
  mcp_news_settle(&serving->news); /* settles a delivery without a text */
  free(text);
  buffer_free(&line);
  return reason;
}

static int serve_line(struct serving *serving, struct tidings_span line) {
  struct buffer out = BUFFER_EMPTY;
  struct mcp_action action;
  mcp_news_host_goes_on(&serving->news);
  serving->over = mcp_server_line(line, serving->tools, &out, &action);
  int reason = write_plain(&out);
  mcp_news_settle(&serving->news);
  if (!reason && action.arguments) reason = do_action(serving, &action);
  mcp_action_finish(&action);
  buffer_free(&out);
  return reason;
}

/* Serves the complete lines in `lines`. A line that is too long is refused once, and skipped. */
static int serve_lines(struct serving *serving, struct buffer *lines, bool *too_long) {
  size_t begin = 0;
  const char *end;
  int reason = 0;
  while (!reason && !serving->over &&
         (end = memchr(lines->bytes + begin, '\n', lines->len - begin))) {
    size_t len = (size_t)(end - lines->bytes) - begin;
    if (len && !*too_long) reason = serve_line(serving, span_of(lines->bytes + begin, len));
    *too_long = false;
    begin += len + 1;
  }
  if (begin < lines->len) memmove(lines->bytes, lines->bytes + begin, lines->len - begin);
  lines->len -= begin;
  if (lines->len <= LONGEST_LINE) return reason;
  struct buffer out = BUFFER_EMPTY;
  if (!*too_long) mcp_server_refuse_long(&out);
  if (!reason) reason = write_plain(&out);
  buffer_free(&out);
  *too_long = true;
  lines->len = 0;
  return reason;
}

/* Returns how many bytes it has read; 0: the end. Another process may have made the pipe
 * non-blocking. */
static size_t read_some(char *chunk, size_t size) {
  struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
  for (;;) {
    ssize_t got = read(STDIN_FILENO, chunk, size);
    if (got >= 0) return (size_t)got;
    if (errno != EINTR && errno != EAGAIN) return 0;
    if (errno == EAGAIN) (void)poll(&input, 1, -1);
  }
}

int mcp_serve(const struct cli *cli, bool has_tools) {
  static struct serving serving;
  static char chunk[READ_AT_ONCE];
  struct buffer lines = BUFFER_EMPTY;
  bool too_long = false;
  int reason = 0;
  mcp_resumed_watch(cli);
  mcp_news_begin(cli, &serving.news);
  serving.tools = has_tools;
  serving.acting = (struct mcp_acting){.cli = cli, .news = &serving.news};
  while (!reason && !serving.over) {
    size_t got = read_some(chunk, sizeof chunk);
    if (!got) break;
    buffer_append(&lines, chunk, got);
    reason = lines.failed ? ENOMEM : serve_lines(&serving, &lines, &too_long);
  }
  buffer_free(&lines);
  mcp_act_end(&serving.acting);
  mcp_news_end(&serving.news);
  return reason && reason != EPIPE ? cli_fail(cli, "cannot go on: %s", strerror(reason)) : 0;
}
