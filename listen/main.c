/* SPDX-License-Identifier: MIT
 *
 * listen/main.c: the program tidings-listen, which `tidings listen` starts: it reads the routes,
 * serves until a signal ends it, and reads them again on SIGHUP.
 */
#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "command/listeners.h"
#include "command/paths.h"
#include "command/recipes.h"
#include "command/session.h"
#include "common/clock.h"
#include "listen/attempt.h"
#include "listen/server.h"

enum { TICK_MS = 500, CROWDED_TICK_MS = 50, STATUS_MS = 2000, END_MS = 10000, PUSH_MS = 5000 };

struct listening {
  const struct cli *cli;
  struct listen_options options;
  char *file; /* the file with the routes */
  struct listen_socket socket;
  struct take_place place;
  struct server *server;
  struct listener *listener; /* NULL: the server is not announced */
  int64_t started;
  struct kit_place store;
  atomic_bool away;
};

/* -- the routes -------------------------------------------------------------------------------- */

/* Refuses routes to sessions that the store does not know. */
static int check_sessions(const struct listening *listening, const struct routes *routes) {
  int code = 0;
  for (size_t i = 0; !code && i < routes->count; i++) {
    struct address *address = &routes->routes[i].address;
    if (address->name && address->kind == ADDRESS_SESSION)
      code = session_complete(listening->cli, listening->place.kit, &address->name);
  }
  return code;
}

static int read_routes(const struct listening *listening, struct routes **ret_routes) {
  struct tidings_error error = {.size = sizeof error};
  struct routes *routes = NULL;
  if (routes_read(listening->file, &routes, &error))
    return cli_fail(listening->cli, "%s", error.text);
  int code = check_sessions(listening, routes);
  if (code) routes_drop(routes);
  else *ret_routes = routes;
  return code;
}

/* Reads the routes again. If the file has a mistake, the old routes stay. */
static void reload(struct listening *listening) {
  struct routes *routes = NULL;
  socket_notify("RELOADING=1");
  if (read_routes(listening, &routes)) cli_warn(listening->cli, "the routes stay as they were");
  else {
    struct routes *before = server_routes(listening->server);
    routes_keep_counts(routes, before);
    routes_drop(before);
    server_set_routes(listening->server, routes);
    cli_warn(listening->cli, "the routes were read again");
  }
  socket_notify("READY=1");
}

/* -- the description for other programs -------------------------------------------------------- */

static json_t *describe_route(const struct route *route) {
  json_t *counts = counts_json(route->counts);
  json_t *row = json_pack("{s:s%, s:s%, s:s?, s:b}", "path", route->path.ptr, route->path.len,
                          "recipe", route->recipe_name.ptr, route->recipe_name.len, "to",
                          route->address.name, "unsigned", route->scheme == SIGNATURE_NONE);
  if (row && counts) json_object_update(row, counts);
  json_decref(counts);
  return row;
}

static void say_status(const struct listening *listening) {
  struct routes *routes = server_routes(listening->server);
  json_t *rows = json_array();
  for (size_t i = 0; i < routes->count; i++)
    json_array_append_new(rows, describe_route(&routes->routes[i]));
  json_t *status = json_pack("{s:i, s:s, s:s, s:I, s:o, s:o}", "pid", (int)getpid(), "address",
                             listening->socket.name, "file", listening->file, "started",
                             (json_int_t)listening->started, "routes", rows, "elsewhere",
                             counts_json(&routes->elsewhere));
  routes_drop(routes);
  (void)listeners_say(listening->listener, status);
}

/* -- another store ----------------------------------------------------------------------------- */

static void announce(struct listening *listening) {
  int reason = listeners_join(listening->cli, &listening->listener);
  if (reason && reason != ENOTSUP)
    cli_warn(listening->cli, "'tidings stats' will not see this: %s", strerror(reason));
}

/* Opens the store that is now in the folder, such as a restored backup. Returns 0, or the exit code
 * if nothing can be opened. */
static int follow_store(struct listening *listening) {
  struct tidings_error error = {.size = sizeof error};
  struct kit_place before = listening->store;
  int32_t code = kit_follow_place(listening->cli, listening->place.kit, &listening->store, &error);
  bool away = code != TIDINGS_OK;
  if (code == TIDINGS_E_CLOSED) return cli_fail_with(listening->cli, code, &error);
  if (atomic_exchange(&listening->away, away) != away && away)
    cli_warn(listening->cli, "%s; requests are refused until there is a store", error.text);
  if (away || kit_place_equal(&before, &listening->store)) return 0;
  cli_warn(listening->cli, "the store's folder has another store, which is used from now on");
  listeners_leave(listening->listener);
  listening->listener = NULL;
  announce(listening);
  return 0;
}

/* -- serving ----------------------------------------------------------------------------------- */

static void block_signals(sigset_t *set) {
  sigemptyset(set);
  sigaddset(set, SIGTERM);
  sigaddset(set, SIGINT);
  sigaddset(set, SIGHUP);
  pthread_sigmask(SIG_BLOCK, set, NULL); /* threads that are started later inherit this */
}

/* Returns the exit code. */
static int serve(struct listening *listening, const sigset_t *signals) {
  int64_t said_ms = 0;
  int code = 0;
  for (bool crowd = false; !code;) {
    const struct timespec tick = {.tv_nsec = (crowd ? CROWDED_TICK_MS : TICK_MS) * 1000000L};
    if (listening->listener && clock_mono_ms() - said_ms >= STATUS_MS) {
      say_status(listening);
      said_ms = clock_mono_ms();
    }
    int signal_number = sigtimedwait(signals, NULL, &tick);
    if (signal_number == SIGHUP) reload(listening);
    else if (signal_number > 0) break;
    crowd = server_tick(listening->server);
    code = follow_store(listening);
  }
  return code;
}

static int start_listening(struct listening *listening) {
  struct tidings_error error = {.size = sizeof error};
  struct routes *routes = NULL;
  const struct cli *cli = listening->cli;
  int code = kit_open_or_say(cli, TIDINGS_ROLE_PRODUCER, 0, &listening->place.kit);
  if (!code) code = read_routes(listening, &routes);
  if (code) return code;
  kit_note_place(cli, &listening->store);
  int32_t refused = recipes_remember_ids(listening->place.kit, &error);
  if (!refused) refused = socket_open(&listening->options, &listening->socket, &error);
  if (!refused)
    refused = forward_begin(cli, listening->place.kit, &listening->place.forward, &error);
  if (!refused)
    refused =
        server_begin(&listening->place, routes, &listening->socket, &listening->server, &error);
  if (!refused) return 0;
  routes_drop(routes);
  return cli_fail_with(cli, refused, &error);
}

static void say_started(struct listening *listening) {
  struct routes *routes = server_routes(listening->server);
  announce(listening);
  for (size_t i = 0; i < routes->count; i++) {
    if (routes->routes[i].scheme == SIGNATURE_NONE)
      cli_warn(listening->cli, "anybody who reaches %.*s may send to it: it is unsigned",
               SPAN_FORMAT(routes->routes[i].path));
  }
  printf("listening on %s; %zu routes of %s\n", listening->socket.name, routes->count,
         listening->file);
  fflush(stdout);
  socket_notify("READY=1");
  routes_drop(routes);
}

static int listen_until_told(struct listening *listening) {
  sigset_t signals;
  block_signals(&signals);
  int code = start_listening(listening);
  if (!code) {
    listening->started = clock_wall_ms();
    say_started(listening);
    code = serve(listening, &signals);
    socket_notify("STOPPING=1");
    socket_remove(&listening->socket);
    server_end(listening->server, END_MS);
  }
  forward_end(listening->place.forward);
  listeners_leave(listening->listener);
  socket_close(&listening->socket);
  kit_close(listening->place.kit);
  return code;
}

/* Makes the path absolute, because processes in other folders read it. */
static char *find_file(const char *path) {
  char *real = realpath(path, NULL);
  return real ? real : strdup(path);
}

static int run(struct cli *cli) {
  struct listening listening = {.cli = cli, .place = {.cli = cli}, .socket = {.fd = -1}};
  int code = 0;
  if (!listen_read_options(cli, &listening.options, &code)) return code;
  if (listening.options.recipe) return attempt(cli, listening.options.recipe, cli->words[0]);
  cli->budget_ms = PUSH_MS;
  listening.place.away = &listening.away;
  listening.file = listening.options.file
                       ? find_file(listening.options.file)
                       : paths_in_home("XDG_CONFIG_HOME", ".config", "tidings/listen.json");
  if (!listening.file)
    return cli_fail(cli, "neither XDG_CONFIG_HOME nor HOME is set; name a file with -c");
  code = listen_until_told(&listening);
  free(listening.file);
  return code;
}

static const struct cli_verb listen_verb = LISTEN_VERB(NULL, run);
static const struct cli_verb *const verbs[] = {&listen_verb, NULL};
static const struct cli_program program = {.name = "tidings listen",
                                           .version = TIDINGS_VERSION,
                                           .summary = "Receive webhooks.",
                                           .about = "receive webhooks",
                                           .verbs = verbs};

int main(int argc, char **argv) {
#ifdef M_ARENA_MAX
  mallopt(M_ARENA_MAX, 2); /* otherwise each connection's thread would keep an arena */
#endif
  return cli_main(&program, argc, argv);
}
