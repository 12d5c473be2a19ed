/* SPDX-License-Identifier: MIT
 *
 * event_text.c: see the header.
 */
#include "cli/event_text.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/host.h"
#include "command/paths.h"
#include "command/session.h"

enum {
  LARGEST_EVENT = 1 << 20
}; /* a parser that recurses reads it; the plugin has a smaller limit of its own */

/* What the session is, without changing a byte of the rest. */
static int look(const struct cli *cli, const char *text, size_t len, char **ret_session) {
  json_error_t wrong;
  json_t *event =
      json_loadb(text, len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL | JSON_DECODE_ANY, &wrong);
  if (!event)
    return cli_fail(cli, "stdin, line %d: %s; expected a CloudEvents object as JSON", wrong.line,
                    wrong.text);
  const json_t *session = json_object_get(event, "session");
  int code = 0;
  if (!json_is_object(event)) code = cli_fail(cli, "stdin: expected one JSON object");
  else if (session && !json_is_string(session))
    code = cli_fail(cli, "session: expected a session's id");
  else if (session && !(*ret_session = strdup(json_string_value(session))))
    code = cli_fail(cli, "out of memory");
  json_decref(event);
  return code;
}

int event_text_read(const struct cli *cli, char **ret_text, char **ret_session) {
  char *text = NULL, *session = NULL;
  size_t len = 0;
  int reason = paths_read_all(STDIN_FILENO, LARGEST_EVENT, &text, &len);
  if (reason == EFBIG) return cli_fail(cli, "stdin: more than %d bytes", LARGEST_EVENT);
  if (reason) return cli_fail(cli, "cannot read stdin: %s", strerror(reason));
  int code = strlen(text) == len
                 ? look(cli, text, len, &session)
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

/* The event with `session` put in; fresh memory, NULL: out of memory. */
static char *with_session(const char *text, const char *session) {
  json_t *name = json_string(session);
  char *quoted = name ? json_dumps(name, JSON_ENCODE_ANY) : NULL, *whole = NULL;
  const char *inside = strchr(text, '{') + 1;
  bool empty = inside[strspn(inside, " \t\r\n")] == '}';
  if (quoted && asprintf(&whole, "{\"session\":%s%s%s", quoted, empty ? "" : ",", inside) < 0)
    whole = NULL;
  json_decref(name);
  free(quoted);
  return whole;
}

static int open_producer(const struct cli *cli, const char *session, struct hostkit **ret_kit,
                         char **ret_session) {
  if (!session) return session_open(cli, ret_kit, ret_session);
  *ret_session = strdup(session);
  return *ret_session ? kit_open_or_say(cli, TIDINGS_ROLE_PRODUCER, 0, ret_kit)
                      : cli_fail(cli, "out of memory");
}

int event_text_open(const struct cli *cli, bool as_host, uint32_t owner, char **text,
                    const char *session, struct hostkit **ret_kit) {
  struct hostkit *kit = NULL;
  char *chosen = NULL, *whole = NULL;
  int code = as_host ? host_open(cli, session, &owner, &kit, &chosen)
                     : open_producer(cli, session, &kit, &chosen);
  if (!code && !session && !(whole = with_session(*text, chosen)))
    code = cli_fail(cli, "the session's id is not UTF-8, or memory is short");
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
