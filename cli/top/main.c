/* SPDX-License-Identifier: MIT
 *
 * top/main.c: the program tidings-top, which `tidings top` starts: it queries, sleeps, and passes
 * keys and answers to the view.
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/top/actions.h"
#include "cli/top/draw.h"
#include "cli/top/listing.h"
#include "cli/top/owners.h"
#include "cli/top/screen.h"
#include "cli/top/top.h"
#include "command/follow.h"
#include "command/interrupt.h"
#include "command/json_value.h"
#include "command/kit.h"
#include "command/session.h"
#include "command/session_choice.h"
#include "common/clock.h"
#include "common/random.h"
#include "common/store_url.h"

enum { MOST_SESSIONS = 1000, MOST_LISTED = 500, MOST_DELIVERIES = 20, PACE_MS = 100 };

struct watching {
  const struct cli *cli;
  struct hostkit *kit;
  char *store; /* the store's place as it is shown */
  struct top top;
  struct top_screen screen;
  struct follow follow;
  struct owners owners;
  struct tidings_error error; /* the error that ended the program */
  bool lost;                  /* the last query could not reach the store */
  bool quit;
};

/* The plugin's last line of log, which must not be printed on the screen. */
static char said[TOP_NOTE_BYTES];

static void keep_said(uint32_t severity, const char *text, size_t len) {
  if (severity > TIDINGS_LOG_WARNING) return;
  (void)snprintf(said, sizeof said, "%.*s", (int)(len < sizeof said ? len : sizeof said), text);
}

/* -- asking ------------------------------------------------------------------------------------ */

/* Notes a lost store. A server may come back; a failing folder is damaged and stays so. */
static void note_lost(struct watching *watching, int32_t code) {
  bool lost = code == TIDINGS_E_STORE && store_url_is(watching->store);
  if (lost) top_note(&watching->top, "%s", watching->error.text);
  else if (!code && watching->lost) top_note(&watching->top, "%s", "");
  watching->lost = lost;
}

/* Opens the store again with another role: only a host may close sessions, and a process can open a
 * store only once. If it fails, nothing is open. */
static int32_t open_as(struct watching *watching, uint32_t role) {
  kit_close(watching->kit);
  watching->kit = NULL;
  return kit_open(watching->cli, role, 0, &watching->kit, &watching->error);
}

/* Queries the store. *ret_answer stays NULL while the store is busy or cannot be reached; then the
 * query is repeated. */
static int32_t ask_store(struct watching *watching, json_t *request, json_t **ret_answer) {
  watching->error = (struct tidings_error){.size = sizeof watching->error};
  int32_t code = watching->kit ? TIDINGS_OK : open_as(watching, TIDINGS_ROLE_PRODUCER);
  if (code) json_decref(request);
  else code = kit_query(watching->kit, request, ret_answer, &watching->error);
  note_lost(watching, code);
  if (code == TIDINGS_E_BUSY) follow_look_again(&watching->follow);
  return code == TIDINGS_E_BUSY || watching->lost ? 0 : code;
}

static json_t *about_session(const struct watching *watching, const char *query) {
  return json_pack("{s:s, s:s, s:i}", "name", query, "session", watching->top.session, "limit",
                   (int)MOST_LISTED);
}

static int32_t ask_items(struct watching *watching) {
  json_t *queue = NULL, *pending = NULL, *history = NULL;
  if (!watching->top.session[0]) return 0;
  int32_t code = ask_store(watching, about_session(watching, "queue"), &queue);
  if (!code) code = ask_store(watching, about_session(watching, "pending"), &pending);
  if (!code && queue && pending) {
    top_take_items(&watching->top, queue, pending);
    code = ask_store(watching,
                     json_pack("{s:s, s:s, s:i}", "name", "history", "session",
                               watching->top.session, "limit", (int)MOST_DELIVERIES),
                     &history);
    if (history) top_take_delivered(&watching->top, history);
    return code == TIDINGS_E_NOT_FOUND ? 0 : code;
  }
  json_decref(queue);
  json_decref(pending);
  if (code != TIDINGS_E_NOT_FOUND) return code;
  follow_look_again(&watching->follow); /* the session is gone since the sessions were listed */
  return 0;
}

static int32_t ask_explanation(struct watching *watching) {
  struct top *top = &watching->top;
  json_t *answer = NULL;
  int32_t code = ask_store(watching,
                           json_pack("{s:s, s:s, s:s}", "name", "explain", "session", top->session,
                                     top->item_is_message ? "message" : "id", top->item),
                           &answer);
  const char *text = code ? watching->error.text : json_value_text(answer, "text");
  if (answer || code == TIDINGS_E_NOT_FOUND) {
    free(top->explanation);
    top->explanation = strdup(text);
  }
  json_decref(answer);
  return code == TIDINGS_E_NOT_FOUND ? 0 : code;
}

static int32_t ask_preview(struct watching *watching) {
  struct top *top = &watching->top;
  json_t *answer = NULL;
  const json_t *message = NULL;
  struct buffer text = BUFFER_EMPTY;
  size_t i = 0;
  int32_t code = ask_store(watching,
                           json_pack("{s:s, s:s, s:s}", "name", "preview", "session", top->session,
                                     "carrier", "tool_result"),
                           &answer);
  json_array_foreach(json_object_get(answer, "messages"), i, message)
      buffer_text(&text, json_value_text(message, "text"));
  if (answer) {
    free(top->words);
    free(top->explanation);
    top->explanation = strdup(text.len ? "This is what the next tool result would carry, with the "
                                         "configuration of this command."
                                       : "The next tool result would carry nothing.");
    top->words = buffer_take(&text);
  }
  buffer_free(&text);
  json_decref(answer);
  return code;
}

static int32_t look_at_store(struct watching *watching) {
  json_t *sessions = NULL;
  int32_t code = ask_store(
      watching,
      json_pack("{s:s, s:i, s:b}", "name", "sessions", "limit", (int)MOST_SESSIONS, "details", 1),
      &sessions);
  if (code || !sessions) return code;
  listing_drop_closed(sessions);
  top_take_sessions(&watching->top, sessions);
  owners_watch(&watching->owners, json_object_get(sessions, "sessions"));
  code = ask_items(watching);
  if (!code && watching->top.mode == MODE_EXPLAIN) code = ask_explanation(watching);
  if (!code && watching->top.mode == MODE_PREVIEW) code = ask_preview(watching);
  return code;
}

/* Looks at the store. The longer a look takes, the rarer looks become. */
static int32_t look(struct watching *watching) {
  enum { SHARE = 10 }; /* at most one part in SHARE of the time goes into looks */
  int64_t begun_ms = clock_mono_ms();
  int32_t code = look_at_store(watching);
  int64_t pace_ms = (clock_mono_ms() - begun_ms) * SHARE;
  watching->follow.pace_ms = (uint32_t)(pace_ms > PACE_MS ? pace_ms : PACE_MS);
  return code;
}

/* Chooses the named session, or else the one of this folder. Returns 0, or the exit code.
 */
static int choose_first(struct watching *watching) {
  const json_t *sessions = json_object_get(watching->top.sessions, "sessions");
  char folder[PATH_MAX];
  const char *named = session_named(watching->cli), *given = watching->cli->session;
  char *whole = NULL;
  int code = given && named == given ? session_choose(watching->cli, watching->kit, &whole) : 0;
  if (whole) named = whole;
  if (!named && getcwd(folder, sizeof folder)) {
    struct session_choice choice = session_choice_by_folder(sessions, folder);
    if (choice.session) named = json_value_text(choice.session, "session");
  }
  if (!code && named) {
    top_choose_session(&watching->top, named);
    if (strcmp(watching->top.session, named) != 0)
      top_note(&watching->top, "Session '%s' is not among those that are listed.", named);
  }
  free(whole);
  return code;
}

/* -- doing ------------------------------------------------------------------------------------- */

/* Gives a new message a random id. */
static int give_id(json_t *data) {
  uint64_t bits = 0;
  char id[24];
  if (random_fill(&bits, sizeof bits)) return -1;
  (void)snprintf(id, sizeof id, "m-%016llx", (unsigned long long)bits);
  return json_object_set_new(data, "id", json_string(id));
}

static void send_event(struct watching *watching, const struct top_action *action) {
  struct tidings_error error = {.size = sizeof error};
  if (action->data && strcmp(action->type, "message.submitted") == 0 && give_id(action->data)) {
    json_decref(action->data);
    top_sent(&watching->top, action->type, "no random id can be made");
    return;
  }
  int32_t code = watching->kit ? TIDINGS_OK : open_as(watching, TIDINGS_ROLE_PRODUCER);
  if (code) {
    json_decref(action->data);
    top_sent(&watching->top, action->type, watching->error.text);
    return;
  }
  code = action->data ? kit_event(watching->kit,
                                  kit_new_event(action->type, watching->top.session, action->data),
                                  NULL, &error)
                      : kit_no_memory(&error);
  top_sent(&watching->top, action->type, code ? error.text : NULL);
}

static int32_t close_session(struct watching *watching, const char *name,
                             struct tidings_error *error) {
  return kit_event(watching->kit, kit_new_event("session.closed", name, json_object()), NULL,
                   error);
}

/* Closes the idle sessions, except those that a host has taken since they were listed. */
static void close_idle(struct watching *watching) {
  const json_t *list = json_object_get(watching->top.all_sessions, "sessions"), *session = NULL;
  struct tidings_error error = {.size = sizeof error};
  size_t i = 0, closed = 0;
  int32_t code = 0;
  json_array_foreach(list, i, session) {
    if (code || !top_session_is_idle(session)) continue;
    code = close_session(watching, json_value_text(session, "session"), &error);
    if (code == TIDINGS_E_OWNED) code = 0;
    else if (!code) closed++;
  }
  top_cleared(&watching->top, closed, code ? error.text : NULL);
}

/* Closes the chosen session, or all idle ones. The next query opens the store as before. */
static int32_t close_sessions(struct watching *watching, bool all) {
  struct tidings_error error = {.size = sizeof error};
  watching->error = (struct tidings_error){.size = sizeof watching->error};
  if (open_as(watching, TIDINGS_ROLE_HOST))
    top_sent(&watching->top, "session.closed", watching->error.text);
  else if (all) close_idle(watching);
  else
    top_sent(&watching->top, "session.closed",
             close_session(watching, watching->top.session, &error) ? error.text : NULL);
  kit_close(watching->kit);
  watching->kit = NULL;
  return look(watching);
}

static int32_t press(struct watching *watching, uint32_t key) {
  struct top_action action = top_key(&watching->top, key);
  switch (action.what) {
  case TOP_DRAW: return 0;
  case TOP_ASK_ITEMS: return ask_items(watching);
  case TOP_ASK_EXPLANATION: return ask_explanation(watching);
  case TOP_ASK_PREVIEW: return ask_preview(watching);
  case TOP_SEND: send_event(watching, &action); return look(watching);
  case TOP_CLOSE: return close_sessions(watching, false);
  case TOP_CLEAR: return close_sessions(watching, true);
  case TOP_QUIT: watching->quit = true; return 0;
  }
  return 0;
}

static int32_t press_keys(struct watching *watching) {
  uint32_t key = 0;
  int32_t code = 0;
  while (!code && !watching->quit && screen_key(&watching->screen, &key))
    code = press(watching, key);
  return code;
}

/* Draws the screen. *ret_ms: how long it stays current; -1: until something happens. */
static int32_t show(struct watching *watching, int64_t *ret_ms) {
  struct grid grid;
  size_t rows = 0, columns = 0;
  screen_size(&rows, &columns);
  if (grid_make(rows, columns, &grid)) return kit_no_memory(&watching->error);
  if (said[0]) top_note(&watching->top, "%s", said);
  said[0] = '\0';
  int64_t now_ms = clock_wall_ms();
  int64_t until_ms = top_draw(&watching->top, now_ms, watching->store, &grid);
  screen_show(&watching->screen, &grid);
  grid_free(&grid);
  *ret_ms = !until_ms ? -1 : until_ms > now_ms ? until_ms - now_ms : 0;
  return 0;
}

/* Is the terminal gone? Then poll always reports it as readable. */
static bool is_gone(int fd) {
  struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
  return poll(&poll_fd, 1, 0) > 0 && poll_fd.revents & (POLLHUP | POLLERR | POLLNVAL);
}

static int32_t watch_on(struct watching *watching) {
  unsigned woke = 0;
  while (!watching->quit) {
    int64_t ms = -1;
    int32_t code = show(watching, &ms);
    if (code) return code;
    int wrong = follow_sleep(&watching->follow, watching->owners.fd, ms, &woke);
    if (wrong)
      return kit_error(&watching->error, TIDINGS_E_STORE, "cannot wait: %s", strerror(wrong));
    if (woke & FOLLOW_OVER) return 0;
    if (woke & FOLLOW_GONE)
      return kit_error(&watching->error, TIDINGS_E_STORE, "the store %s was moved away or removed",
                       watching->store);
    screen_settle(&watching->screen);
    bool ended = woke & FOLLOW_INPUT && owners_ended(&watching->owners);
    if (woke & FOLLOW_LOOK || ended) code = look(watching);
    if (!code && woke & FOLLOW_INPUT) code = press_keys(watching);
    if (code) return code;
    if (woke & FOLLOW_INPUT && is_gone(STDIN_FILENO)) return 0;
  }
  return 0;
}

/* -- the verb ---------------------------------------------------------------------------------- */

static int watch_screen(struct watching *watching) {
  const char *wrong = NULL;
  int32_t code = look(watching);
  int refused = code ? 0 : choose_first(watching);
  if (refused) return refused;
  if (!code) code = ask_items(watching);
  if (!code) wrong = screen_begin(&watching->screen);
  if (!code && !wrong) code = watch_on(watching);
  screen_end(&watching->screen);
  if (wrong) return cli_fail(watching->cli, "%s", wrong);
  if (code) return cli_fail_with(watching->cli, code, &watching->error);
  return watching->quit || !interrupt_seen() ? EXIT_DONE : interrupt_exit_code();
}

static int begin(struct watching *watching) {
  const struct cli *cli = watching->cli;
  int code = kit_open_or_say(cli, TIDINGS_ROLE_PRODUCER, 0, &watching->kit);
  if (code) return code;
  char *store = kit_store_path(cli);
  if (!store) return cli_fail(cli, "there is no store");
  watching->store = store_url_shown(store);
  free(store);
  if (!watching->store) return cli_fail(cli, "out of memory");
  int wrong = owners_begin(STDIN_FILENO, &watching->owners);
  if (wrong) return cli_fail(cli, "cannot wait for keys: %s", strerror(wrong));
  return follow_begin(cli, &watching->follow);
}

static int run_top(struct cli *cli) {
  struct watching watching = {.cli = cli, .follow = {.fd = -1}, .owners = {.fd = -1}};
  int code = 0;
  if (!top_read_options(cli, &code)) return code;
  if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
    return cli_fail(cli, "it needs a terminal; 'tidings sessions --json' prints the sessions for "
                         "programs");
  const char *terminal = getenv("TERM");
  if (!terminal || !terminal[0] || strcmp(terminal, "dumb") == 0)
    return cli_fail(cli,
                    "TERM is '%s': this terminal has no full screen; 'tidings sessions' and "
                    "'tidings tail -f' print lines",
                    terminal ? terminal : "");
  code = begin(&watching);
  cli->log = keep_said;
  if (!code) code = watch_screen(&watching);
  top_finish(&watching.top);
  follow_end(&watching.follow);
  owners_finish(&watching.owners);
  kit_close(watching.kit);
  free(watching.store);
  return code;
}

static const struct cli_verb screen_verb = TOP_VERB(NULL, run_top);
static const struct cli_verb *const verbs[] = {&screen_verb, NULL};
static const struct cli_program program = {.name = "tidings top",
                                           .version = TIDINGS_VERSION,
                                           .summary = "Watch the sessions.",
                                           .about = "watch the sessions on a full screen",
                                           .verbs = verbs};

int main(int argc, char **argv) { return cli_main(&program, argc, argv); }
