/* SPDX-License-Identifier: MIT
 */
#include "cli/event_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/host.h"
#include "command/project.h"
#include "command/session.h"
#include "common/file.h"
#include "common/json.h"
#include "common/utf8.h"

enum { LARGEST_EVENT = 1 << 20 }; /* the plugin has a smaller limit */

/* Finds the session that the event names. The plugin finds all other errors. */
static int find_session(const struct cli *cli, struct tidings_span text, char **ret_session) {
  static const struct json_rules rules = {.max_depth = 64, .nul = true};
  struct tidings_error error = {.size = sizeof error};
  struct arena arena = ARENA_EMPTY;
  const struct json *event = NULL;
  int code = json_read_by(&rules, text, "stdin", &arena, &event, &error);
  const struct json *session = json_member(event, "session");
  if (code) code = cli_fail(cli, "%s; expected a CloudEvents object as JSON", error.text);
  else if (event->kind != JSON_IS_OBJECT) code = cli_fail(cli, "stdin: expected one JSON object");
  else if (session && session->kind != JSON_IS_STRING)
    code = cli_fail(cli, "session: expected a session's id");
  else if (session && !(*ret_session = strdup(session->text.ptr)))
    code = cli_fail(cli, "out of memory");
  arena_free(&arena);
  return code;
}

int event_text_read(const struct cli *cli, char **ret_text, char **ret_session) {
  char *text = NULL, *session = NULL;
  size_t len = 0;
  int reason = file_read_all(STDIN_FILENO, LARGEST_EVENT, &text, &len);
  if (reason == EFBIG) return cli_fail(cli, "stdin: more than %d bytes", LARGEST_EVENT);
  if (reason) return cli_fail(cli, "cannot read stdin: %s", strerror(reason));
  int code = strlen(text) == len
                 ? find_session(cli, span_of(text, len), &session)
                 : cli_fail(cli, "stdin: a NUL byte at %zu; expected JSON", strlen(text));
  if (!code && cli->session && session && strcmp(cli->session, session) != 0)
    code = cli_usage(cli, "the event is for session '%s', -s names '%s'", session, cli->session);
  if (code) {
    free(text);
    free(session);
    return code;
  }
  *ret_text = text;
  *ret_session = session;
  return 0;
}

/* Returns the event with `session` added; free it. NULL: out of memory, or it is not UTF-8. */
static char *with_session(const char *text, const char *session) {
  const char *inside = strchr(text, '{') + 1;
  bool empty = inside[strspn(inside, " \t\r\n")] == '}';
  struct buffer whole = BUFFER_EMPTY;
  if (!utf8_valid(span_text(session))) return NULL;
  buffer_text(&whole, "{\"session\":");
  json_write_string(span_text(session), &whole);
  buffer_text(&whole, empty ? "" : ",");
  buffer_text(&whole, inside);
  return buffer_take(&whole);
}

static int open_producer(const struct cli *cli, const char *session, struct hostkit **ret_kit,
                         char **ret_session) {
  if (!session) return session_open(cli, ret_kit, ret_session);
  *ret_session = strdup(session);
  if (!*ret_session) return cli_fail(cli, "out of memory");
  int code = kit_open_or_say(cli, TIDINGS_ROLE_PRODUCER, 0, ret_kit);
  if (!code) project_lay_here(cli, *ret_kit, session);
  return code;
}

int event_text_open(const struct cli *cli, bool as_host, uint32_t owner, char **text,
                    const char *session, struct hostkit **ret_kit) {
  struct hostkit *kit = NULL;
  char *chosen = NULL, *whole = NULL;
  int code = as_host ? host_open(cli, session, &owner, &kit, &chosen)
                     : open_producer(cli, session, &kit, &chosen);
  if (!code && !session && !(whole = with_session(*text, chosen)))
    code = cli_fail(cli, "the session's id is not UTF-8, or there is not enough memory");
  free(chosen);
  if (code) {
    kit_close(kit);
    return code;
  }
  if (whole) {
    free(*text);
    *text = whole;
  }
  *ret_kit = kit;
  return 0;
}

int32_t event_text_send(struct hostkit *kit, const char *text, struct tidings_reply **ret_reply,
                        struct tidings_error *error) {
  const struct tidings_span span = {text, strlen(text)};
  struct tidings_reply *reply = NULL;
  int32_t code = hostkit_event(kit, &span, &reply, error);
  if (!code && ret_reply) *ret_reply = reply;
  else hostkit_reply_free(reply);
  return code;
}
