/* SPDX-License-Identifier: MIT
 */
#include "command/session.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/address.h"
#include "command/json_value.h"
#include "command/near.h"
#include "command/print.h"
#include "command/project.h"
#include "command/session_choice.h"
#include "command/session_list.h"
#include "command/terminal.h"
#include "common/utf8.h"
#include <jansson.h>

/* -- sessions that may have been meant --------------------------------------------------------- */

static unsigned distance(const json_t *session, const char *name) {
  return near_distance(name, json_value_text(session, "session"));
}

/* Finds the session whose name is so near that it was probably meant; NULL: there is none. */
static const char *session_near_find(const json_t *sessions, const char *name) {
  unsigned nearest = near_most(name) + 1;
  const json_t *session = NULL;
  const char *found = NULL;
  size_t i = 0;
  json_array_foreach(sessions, i, session) {
    unsigned away = distance(session, name);
    if (away >= nearest) continue;
    nearest = away;
    found = json_value_text(session, "session");
  }
  return found;
}

struct near {
  json_t *session;
  unsigned away;
  size_t place;
};

static int compare(const void *one, const void *other) {
  const struct near *a = one, *b = other;
  if (a->away != b->away) return a->away < b->away ? -1 : 1;
  return a->place < b->place ? -1 : a->place > b->place;
}

/* Returns a new list of the sessions of the query `sessions`, those with the nearest names first.
 * NULL: out of memory. */
static json_t *session_near_order(const json_t *sessions, const char *name) {
  size_t count = json_array_size(sessions);
  struct near *list = calloc(count ? count : 1, sizeof *list);
  json_t *ordered = list ? json_array() : NULL;
  unsigned far = near_most(name) + 1; /* names at this distance or further count as equally far */
  for (size_t i = 0; ordered && i < count; i++) {
    json_t *session = json_array_get(sessions, i);
    unsigned away = distance(session, name);
    list[i] = (struct near){session, away < far ? away : far, i};
  }
  if (ordered) qsort(list, count, sizeof *list, compare);
  for (size_t i = 0; ordered && i < count; i++) {
    if (!json_array_append(ordered, list[i].session)) continue;
    json_decref(ordered);
    ordered = NULL;
  }
  free(list);
  return ordered;
}

enum { MOST_LISTED = 20 };

static bool alive(const json_t *session) { return json_is_true(json_object_get(session, "alive")); }

const char *session_life(const json_t *session) {
  return alive(session) ? "running" : json_object_get(session, "closed") ? "closed" : "not running";
}

static bool is_mailbox(const json_t *session) {
  return address_is_mailbox(json_value_text(session, "session"));
}

static void list_one(const json_t *session) {
  fputs("  ", stderr);
  terminal_text(stderr, json_value_text(session, "session"));
  fprintf(stderr, "  (%s%s", session_life(session),
          json_value_text(session, "cwd")[0] ? ", in " : "");
  terminal_text(stderr, json_value_text(session, "cwd"));
  fputs(json_value_text(session, "host")[0] ? ", of " : "", stderr);
  terminal_text(stderr, json_value_text(session, "host"));
  fputs(")\n", stderr);
}

static void list_rest(size_t count) {
  if (count > MOST_LISTED) fprintf(stderr, "  and %zu more\n", count - MOST_LISTED);
}

/* Lists the sessions of running hosts first. */
static void list(const json_t *sessions) {
  const json_t *session = NULL;
  size_t i = 0, listed = 0;
  for (int pass = 0; pass < 2; pass++) {
    json_array_foreach(sessions, i, session) {
      if (alive(session) == (pass == 0) && !is_mailbox(session) && listed++ < MOST_LISTED)
        list_one(session);
    }
  }
  list_rest(listed);
}

/* Lists the sessions with the nearest names first. */
static void list_near(const json_t *sessions, const char *name) {
  json_t *ordered = session_near_order(sessions, name);
  const json_t *session = NULL;
  size_t i = 0;
  json_array_foreach(ordered, i, session) {
    if (i < MOST_LISTED) list_one(session);
  }
  list_rest(json_array_size(ordered));
  json_decref(ordered);
}

static int list_sessions(const struct cli *cli, struct hostkit *kit, json_t **ret_answer) {
  struct tidings_error error = {.size = sizeof error};
  int32_t code = session_list(kit, json_object(), ret_answer, &error);
  return code ? cli_fail_with(cli, code, &error) : 0;
}

static int find_here(const struct cli *cli, struct hostkit *kit, char folder[PATH_MAX],
                     struct session_choice *ret_choice, json_t **ret_answer) {
  if (!getcwd(folder, PATH_MAX))
    return cli_fail(cli, "cannot find the current folder; name the session with -s");
  int code = list_sessions(cli, kit, ret_answer);
  if (!code)
    *ret_choice = session_choice_by_folder(json_object_get(*ret_answer, "sessions"), folder);
  return code;
}

static int copy_id(const struct cli *cli, const struct session_choice *choice, char **ret_session) {
  char *copy = choice->session ? strdup(json_value_text(choice->session, "session")) : NULL;
  if (choice->session && !copy) return cli_fail(cli, "out of memory");
  *ret_session = copy;
  return 0;
}

int session_used_last_here(const struct cli *cli, struct hostkit *kit, char **ret_session) {
  char folder[PATH_MAX];
  struct session_choice choice = {.session = NULL};
  json_t *answer = NULL;
  int code = find_here(cli, kit, folder, &choice, &answer);
  if (!code) code = copy_id(cli, &choice, ret_session);
  json_decref(answer);
  return code;
}

/* Says which session was chosen. A script gets this line only if there were several to choose
 * from. */
static void say_choice(const struct cli *cli, const struct session_choice *choice) {
  char why[128];
  if (!(cli->verb->with & WITH_CREATE) || cli->print_session) return;
  if (choice->fit == 1 && !isatty(STDERR_FILENO)) return;
  session_choice_why(choice, why, sizeof why);
  cli_warn(cli, "session %s in %s: %s", json_value_text(choice->session, "session"),
           json_value_text(choice->session, "cwd"), why);
}

static int choose_by_folder(const struct cli *cli, struct hostkit *kit, char **ret_session) {
  char folder[PATH_MAX];
  struct session_choice choice = {.session = NULL};
  json_t *answer = NULL;
  int code = find_here(cli, kit, folder, &choice, &answer);
  const json_t *sessions = json_object_get(answer, "sessions");
  if (!code && choice.session) {
    code = copy_id(cli, &choice, ret_session);
    if (!code) say_choice(cli, &choice);
  } else if (!code && !json_array_size(sessions)) {
    code = cli_fail(cli, "the store has no session yet; start an agent that tidings "
                         "is set up for and send it a message, or name a session "
                         "with -s");
  } else if (!code) {
    code = cli_fail(cli,
                    "no running session works in %s; name one with -s. The sessions are:", folder);
    list(sessions);
  }
  json_decref(answer);
  return code;
}

/* -- one that was named ------------------------------------------------------------------------ */

static bool is_listed(const json_t *answer, const char *name) {
  const json_t *sessions = json_object_get(answer, "sessions"), *session = NULL;
  size_t i = 0;
  json_array_foreach(sessions, i, session) {
    if (strcmp(json_value_text(session, "session"), name) == 0) return true;
  }
  return json_value_count(answer, "total") >
         json_array_size(sessions); /* it may be one that the answer leaves out */
}

/* Asks for this session first: usually the store knows it, and no list is needed. *ret_answer: the
 * list of sessions, if the store does not know this one. */
static int look_up(const struct cli *cli, struct hostkit *kit, const char *name,
                   json_t **ret_answer) {
  struct tidings_error error = {.size = sizeof error};
  json_t *status = NULL, *answer = NULL;
  int32_t refused =
      kit_query(kit, json_pack("{s:s, s:s}", "name", "status", "session", name), &status, &error);
  if (refused) return cli_fail_with(cli, refused, &error);
  bool known = json_is_object(json_object_get(status, "attachment"));
  json_decref(status);
  int code = known ? 0 : list_sessions(cli, kit, &answer);
  if (!code && !known && !is_listed(answer, name)) *ret_answer = answer;
  else json_decref(answer);
  return code;
}

/* Agents name their sessions by random digits, and people copy the first few of them. */
bool session_may_be_short(const char *name) {
  enum { SHORTEST = 8, WHOLE = 32 };
  size_t len = strlen(name);
  return len >= SHORTEST && len < WHOLE && strspn(name, "0123456789abcdef-") == len;
}

/* A verb that writes does not complete a name that somebody may have chosen: "build" does not mean
 * "build-2". */
static bool takes_short(const struct cli *cli, const char *name) {
  enum { SHORTEST_READ = 4 };
  bool reads = (cli->verb->with & ONLY_READS) == ONLY_READS && !cli->changes;
  return session_may_be_short(name) || (reads && strlen(name) >= SHORTEST_READ);
}

/* Returns the only session id that begins with `name`; NULL: none does, or several do. */
static const char *find_short(const struct cli *cli, const json_t *sessions, const char *name) {
  const json_t *session = NULL;
  const char *found = NULL;
  size_t i = 0, count = 0;
  json_array_foreach(sessions, i, session) {
    const char *id = json_value_text(session, "session");
    if (strncmp(id, name, strlen(name)) != 0) continue;
    found = id;
    count++;
  }
  return count == 1 && takes_short(cli, name) ? found : NULL;
}

static int say_unknown(const struct cli *cli, const json_t *sessions, const char *name) {
  const char *near = session_near_find(sessions, name);
  int code = cli_fail(cli, "the store has no session '%s'%s%s%s%s%s", name,
                      cli->verb->with & WITH_CREATE ? "; --create makes it." : ".",
                      near ? " Did you mean '" : "", near ? near : "", near ? "'?" : "",
                      json_array_size(sessions) ? " The sessions are:" : "");
  list_near(sessions, name);
  return code;
}

static int replace_name(const struct cli *cli, const char *found, char **name) {
  char *copy = strdup(found);
  if (!copy) return cli_fail(cli, "out of memory");
  free(*name);
  *name = copy;
  return 0;
}

/* Completes a name. A name that the store does not know is usually short for another, or mistyped,
 * and rarely new. */
static int complete(const struct cli *cli, struct hostkit *kit, bool may_be_new, char **name) {
  json_t *answer = NULL;
  int code = look_up(cli, kit, *name, &answer);
  const json_t *sessions = json_object_get(answer, "sessions");
  const char *found = find_short(cli, sessions, *name), *near = NULL;
  if (!code && found) code = replace_name(cli, found, name);
  else if (!code && answer && !may_be_new) code = say_unknown(cli, sessions, *name);
  else if (!code && (near = session_near_find(sessions, *name)))
    cli_warn(cli, "session '%s' is new; did you mean '%s'?", *name, near);
  json_decref(answer);
  return code;
}

int session_complete(const struct cli *cli, struct hostkit *kit, char **name) {
  return complete(cli, kit, false, name);
}

int session_complete_or_new(const struct cli *cli, struct hostkit *kit, char **name) {
  return complete(cli, kit, true, name);
}

const char *session_named(const struct cli *cli) {
  const char *named = cli->session ? cli->session : getenv("TIDINGS_SESSION");
  return named && named[0] ? named : NULL;
}

/* Refuses a name now that the plugin would refuse later, perhaps after a command has run. */
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
  char *name = strdup(named);
  if (!name) return cli_fail(cli, "out of memory");
  if (named == cli->session && !cli->create) code = session_complete(cli, kit, &name);
  if (code) free(name);
  else *ret_session = name;
  return code;
}

int session_print(const struct cli *cli) {
  char folder[PATH_MAX], why[128];
  struct hostkit *kit = NULL;
  struct session_choice choice = {.session = NULL};
  char *session = NULL;
  json_t *answer = NULL;
  const char *named = session_named(cli);
  int code = kit_open_or_say(cli, TIDINGS_ROLE_PRODUCER, 0, &kit);
  if (!code) code = session_choose(cli, kit, &session);
  if (!code && !named) code = find_here(cli, kit, folder, &choice, &answer);
  if (!named) session_choice_why(&choice, why, sizeof why);
  else snprintf(why, sizeof why, "%s names it", cli->session ? "-s" : "$TIDINGS_SESSION");
  json_t *choice_json = code ? NULL : json_pack("{s:s, s:s}", "session", session, "why", why);
  if (choice_json && cli->json) code = print_json(cli, choice_json);
  else if (choice_json) {
    terminal_text(stdout, session);
    putchar('\n');
    fprintf(stderr, "%s\n", why);
  }
  json_decref(choice_json);
  json_decref(answer);
  kit_close(kit);
  free(session);
  return code;
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
