/* SPDX-License-Identifier: MIT
 *
 * command/session.c: see the header.
 */
#include "command/session.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/project.h"
#include "command/terminal.h"
#include "common/utf8.h"

enum { MOST_LISTED = 20 };

static const char *text_of(const json_t *object, const char *name) {
  const char *text = json_string_value(json_object_get(object, name));
  return text ? text : "";
}

/* Is `folder` the same as `inside`, or above it? */
static bool holds(const char *folder, const char *inside) {
  size_t len = strlen(folder);
  while (len > 1 && folder[len - 1] == '/') len--;
  if (!len || folder[0] != '/') return false;
  if (len == 1) return true;
  return strncmp(folder, inside, len) == 0 && (inside[len] == '/' || !inside[len]);
}

/* A host may have named its folder by a symbolic link. */
static bool holds_really(const char *folder, const char *inside) {
  char *real = holds(folder, inside) ? NULL : realpath(folder, NULL);
  bool yes = real ? holds(real, inside) : holds(folder, inside);
  free(real);
  return yes;
}

static bool alive(const json_t *session) { return json_is_true(json_object_get(session, "alive")); }

/* Times are RFC 3339 in UTC: they compare as texts. NULL: none fits. */
static const char *newest(const json_t *sessions, const char *folder) {
  const json_t *best = NULL, *session = NULL;
  size_t i = 0;
  json_array_foreach(sessions, i, session) {
    if (!alive(session) || !holds_really(text_of(session, "cwd"), folder)) continue;
    if (!best || strcmp(text_of(session, "since"), text_of(best, "since")) > 0) best = session;
  }
  return best ? text_of(best, "session") : NULL;
}

static void list(const json_t *sessions) {
  const json_t *session = NULL;
  size_t i = 0, listed = 0;
  for (int pass = 0; pass < 2; pass++) { /* those of running hosts first */
    json_array_foreach(sessions, i, session) {
      if (alive(session) != (pass == 0) || listed++ >= MOST_LISTED) continue;
      fputs("  ", stderr);
      terminal_text(stderr, text_of(session, "session"));
      fprintf(stderr, "  (%s%s", alive(session) ? "running" : "not running",
              text_of(session, "cwd")[0] ? ", in " : "");
      terminal_text(stderr, text_of(session, "cwd"));
      fputs(text_of(session, "host")[0] ? ", of " : "", stderr);
      terminal_text(stderr, text_of(session, "host"));
      fputs(")\n", stderr);
    }
  }
  if (listed > MOST_LISTED) fprintf(stderr, "  and %zu more\n", listed - MOST_LISTED);
}

/* *ret_sessions is all there are. */
static int find_here(const struct cli *cli, struct hostkit *kit, char **ret_session,
                     char folder[PATH_MAX], json_t **ret_sessions) {
  struct tidings_error error = {.size = sizeof error};
  json_t *answer = NULL;
  if (!getcwd(folder, PATH_MAX))
    return cli_fail(cli, "cannot find the current folder; name the session with -s");
  int32_t code =
      kit_query(kit, json_pack("{s:s, s:i}", "name", "sessions", "limit", 10000), &answer, &error);
  if (code) return cli_fail_with(cli, code, &error);
  json_t *sessions = json_object_get(answer, "sessions");
  const char *found = newest(sessions, folder);
  char *copy = found ? strdup(found) : NULL;
  if (!found || copy) {
    *ret_session = copy;
    *ret_sessions = json_incref(sessions);
  }
  json_decref(answer);
  return found && !copy ? cli_fail(cli, "out of memory") : 0;
}

int session_newest_here(const struct cli *cli, struct hostkit *kit, char **ret_session) {
  char folder[PATH_MAX];
  json_t *sessions = NULL;
  int code = find_here(cli, kit, ret_session, folder, &sessions);
  json_decref(sessions);
  return code;
}

static int choose_by_folder(const struct cli *cli, struct hostkit *kit, char **ret_session) {
  char folder[PATH_MAX], *found = NULL;
  json_t *sessions = NULL;
  int code = find_here(cli, kit, &found, folder, &sessions);
  if (!code && found) {
    *ret_session = found;
  } else if (!code && !json_array_size(sessions)) {
    code = cli_fail(cli, "the store has no session yet; start an agent that tidings "
                         "is set up for and send it a message, or name a session "
                         "with -s");
  } else if (!code) {
    code = cli_fail(cli,
                    "no running session works in %s; name one with -s. The sessions are:", folder);
    list(sessions);
  }
  json_decref(sessions);
  return code;
}

const char *session_named(const struct cli *cli) {
  const char *named = cli->session ? cli->session : getenv("TIDINGS_SESSION");
  return named && named[0] ? named : NULL;
}

/* What the plugin would refuse too, but perhaps only after a command has run. */
int session_check(const struct cli *cli, const char *session) {
  enum { LONGEST = 255 };
  const struct tidings_span text = span_text(session);
  uint32_t character = 0;
  if (text.len > LONGEST)
    return cli_fail(cli, "session: it has %zu bytes; expected 1 to %d", text.len, LONGEST);
  for (size_t at = 0, width = 0; at < text.len; at += width) {
    width = utf8_decode(text, at, &character);
    if (!width) return cli_fail(cli, "session: '%s' is not UTF-8; expected text", session + at);
    if (utf8_is_control(character))
      return cli_fail(cli, "session: it has the control character U+%04X; expected none",
                      (unsigned)character);
  }
  return 0;
}

int session_choose(const struct cli *cli, struct hostkit *kit, char **ret_session) {
  const char *named = session_named(cli);
  if (!named) return choose_by_folder(cli, kit, ret_session);
  int code = session_check(cli, named);
  if (code) return code;
  *ret_session = strdup(named);
  return *ret_session ? 0 : cli_fail(cli, "out of memory");
}

int session_open(const struct cli *cli, struct hostkit **ret_kit, char **ret_session) {
  struct hostkit *kit = NULL;
  int status = kit_open_or_say(cli, TIDINGS_ROLE_PRODUCER, 0, &kit);
  if (!status) status = session_choose(cli, kit, ret_session);
  if (status) {
    kit_close(kit);
    return status;
  }
  project_lay_here(cli, kit, *ret_session);
  *ret_kit = kit;
  return 0;
}
