/* SPDX-License-Identifier: MIT
 *
 * subscribe/main.c: the program tidings-subscribe, which `tidings subscribe` starts: it gives the
 * server's messages to a state machine (events.h, plain.h) and executes its outputs in their order.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "command/interrupt.h"
#include "command/secret_file.h"
#include "common/clock.h"
#include "common/fnv.h"
#include "common/random.h"
#include "subscribe/http.h"
#include "subscribe/options.h"
#include "subscribe/plain.h"
#include "subscribe/process.h"
#include "subscribe/report.h"
#include "subscribe/saved.h"
#include "subscribe/sender.h"

/* SLEEP_LOOK_MS: how often a wait is compared with the wall clock, because the machine may have
 * slept. */
enum { TOKEN_LOOK_MS = 1000, SLEEP_LOOK_MS = 60000, STAMP_BYTES = 32 };

struct subscribing {
  struct cli *cli;
  struct subscribe_options options;
  struct sender sender;
  struct saved saved;
  struct kit_place place; /* the store in whose folder `saved` is */
  struct report report;
  struct events *events; /* this or `plain` */
  struct plain *plain;
  struct http *http; /* NULL: `process` */
  struct process process;
  char *server; /* the server's name in messages */
  char *secret; /* the webhook's secret */
  struct tidings_span arguments;
  char stamp[STAMP_BYTES]; /* of the token's file */
  bool late;    /* the machine's timer has expired, but pending messages are read first */
  bool refused; /* the last failure was a refused token */
  bool over;
  int code;
};

/* -- executing outputs ------------------------------------------------------------------------- */

static void stop(struct subscribing *all, int code) {
  all->over = true;
  if (!all->code) all->code = code;
}

static void send_message(struct subscribing *all, const struct output *output) {
  if (all->http) http_send(all->http, output, clock_mono_ms());
  else process_send(&all->process, output->text);
}

/* The store's folder may have been replaced, and the files of the subscription with it. */
static void follow_store(struct subscribing *all) {
  const struct kit_place *now = &all->sender.destination.place;
  if (now->inode == all->place.inode && now->device == all->place.device) return;
  all->place = *now;
  saved_follow(all->cli, &all->saved);
}

/* Writes the cursor once for all events that came together. */
static void keep_cursor(struct subscribing *all) {
  follow_store(all);
  saved_keep(all->cli, &all->saved);
}

/* The store may be full for days, so a cursor, which is of the events before this one, is written
 * first, but at most once a second. */
static int push(struct subscribing *all, const struct output *output) {
  all->over = interrupt_came();
  if (all->over) return 0;
  if (saved_due(&all->saved) == 0) keep_cursor(all);
  report_event(&all->report);
  return sender_push(&all->sender, output);
}

static void obey_one(struct subscribing *all, const struct output *output) {
  int code = 0;
  switch (output->kind) {
  case OUTPUT_SEND: send_message(all, output); break;
  case OUTPUT_CANCEL:
    if (all->http) http_cancel(all->http, output->id);
    break;
  case OUTPUT_RESET:
    if (all->http) http_reset(all->http);
    else process_reset(&all->process);
    break;
  case OUTPUT_PUSH: code = push(all, output); break;
  case OUTPUT_NOTICE: code = sender_notice(&all->sender, output); break;
  case OUTPUT_CURSOR:
    if (!saved_note(&all->saved, output->text)) code = cli_fail(all->cli, "out of memory");
    break;
  case OUTPUT_SAY:
    cli_warn(all->cli, "%.*s", SPAN_FORMAT(output->text));
    report_problem(&all->report, output->text);
    break;
  case OUTPUT_END:
    report_problem(&all->report, output->text);
    cli_warn(all->cli, "%.*s", SPAN_FORMAT(output->text));
    stop(all, output->code);
    break;
  }
  if (code) stop(all, code);
}

/* Executes the outputs. If an event cannot be stored, it skips the later ones, so the cursor stays
 * before that event. */
static bool obey(struct subscribing *all) {
  const struct outputs *outputs =
      all->events ? events_outputs(all->events) : plain_outputs(all->plain);
  for (size_t i = 0; i < outputs->count && !all->over; i++) obey_one(all, &outputs->rows[i]);
  if (outputs->failed && !all->over) stop(all, cli_fail(all->cli, "out of memory"));
  if (interrupt_came()) all->over = true;
  return !all->over;
}

/* -- messages of the server -------------------------------------------------------------------- */

static bool hear_message(void *context, struct tidings_span message) {
  struct subscribing *all = context;
  events_message(all->events, message, clock_mono_ms(), clock_wall_ms());
  return obey(all);
}

static bool hear_event(void *context, const struct sse_event *event) {
  struct subscribing *all = context;
  plain_event(all->plain, event, clock_mono_ms());
  return obey(all);
}

static bool hear_life(void *context) {
  struct subscribing *all = context;
  plain_alive(all->plain, clock_mono_ms());
  return true;
}

static void hear_date(void *context, int64_t date_ms) {
  struct subscribing *all = context;
  events_note_date(all->events, date_ms, clock_wall_ms());
}

static void hear_loss(void *context, const char *why) {
  struct subscribing *all = context;
  cli_warn(all->cli, "%s: %s", all->server, why);
}

static bool hear_failure(void *context, uint64_t id, const struct events_failure *failure,
                         int64_t retry_ms) {
  struct subscribing *all = context;
  all->refused = failure->status == 401 || failure->status == 403;
  if (all->events) events_failed(all->events, id, failure, clock_mono_ms());
  else plain_failed(all->plain, id, failure, retry_ms, clock_mono_ms());
  return obey(all);
}

/* -- the token --------------------------------------------------------------------------------- */

/* Has the token's file changed? */
static bool look_at_token(struct subscribing *all) {
  char stamp[STAMP_BYTES];
  struct stat info;
  if (!all->options.token_file || stat(all->options.token_file, &info))
    memset(&info, 0, sizeof info);
  snprintf(stamp, sizeof stamp, "%lld.%09ld", (long long)info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
  if (strcmp(stamp, all->stamp) == 0) return false;
  memcpy(all->stamp, stamp, sizeof stamp);
  if (all->events) events_set_token_stamp(all->events, stamp);
  else plain_set_token_stamp(all->plain, stamp);
  return true;
}

static bool wants_token(const struct subscribing *all) {
  if (!all->options.token_file) return false;
  return all->events ? events_wants_token(all->events) : plain_wants_token(all->plain);
}

/* -- the loop ---------------------------------------------------------------------------------- */

static int64_t machine_due_ms(const struct subscribing *all) {
  return all->events ? events_due_ms(all->events) : plain_due_ms(all->plain);
}

/* Returns the shorter of two times; -1 is the longest. */
static int sooner(int ms, int other_ms) {
  return other_ms >= 0 && (ms < 0 || other_ms < ms) ? other_ms : ms;
}

static int until_due(const struct subscribing *all) {
  int64_t due = machine_due_ms(all), wire = all->http ? http_due_ms(all->http) : INT64_MAX;
  if (!all->http && process_is_ready(&all->process)) return 0;
  if (wire < due) due = wire;
  int ms = due == INT64_MAX ? -1 : clock_ms_until(due);
  if (all->events && ms > SLEEP_LOOK_MS) ms = SLEEP_LOOK_MS;
  ms = sooner(sooner(ms, report_due(&all->report)), saved_due(&all->saved));
  ms = mailbox_retry_wait_ms(&all->sender.retry, ms);
  return wants_token(all) && (ms < 0 || ms > TOKEN_LOOK_MS) ? TOKEN_LOOK_MS : ms;
}

/* Notes in the report whether the subscription works, which it does if nothing has failed since the
 * last answer. */
static void say_mood(struct subscribing *all) {
  bool fails = all->events ? events_fails(all->events) : plain_fails(all->plain);
  report_mood(&all->report, !fails ? REPORT_FOLLOWS : all->refused ? REPORT_REFUSED : REPORT_FAILS);
}

/* Has the state machine's time come? While the store was busy, nothing was read, so messages that
 * have come meanwhile are read first. */
static bool is_time(struct subscribing *all, bool heard) {
  if (all->events) events_note_wall(all->events, clock_wall_ms());
  bool due = clock_mono_ms() >= machine_due_ms(all), before = all->late;
  all->late = due;
  return due && (before || !heard);
}

static void go_round(struct subscribing *all, const struct wire_ears *ears) {
  struct pollfd own[PROCESS_FDS], *fds = own;
  size_t count = 0;
  if (all->http) fds = http_fds(all->http, &count);
  else count = process_fds(&all->process, own);
  int ready = interrupt_poll(fds, (nfds_t)count, until_due(all));
  for (size_t i = 0; ready <= 0 && i < count; i++) fds[i].revents = 0;
  if (interrupt_seen()) all->over = true;
  if (all->over) return;
  if (all->http) http_handle(all->http, clock_mono_ms(), ears);
  else process_handle(&all->process, fds, count, ears);
  keep_cursor(all);
  sender_forward(&all->sender, false);
  bool changed = !all->over && wants_token(all) && look_at_token(all);
  if (changed && all->events) events_token_changed(all->events, clock_mono_ms());
  else if (changed) plain_token_changed(all->plain, clock_mono_ms());
  if (changed) (void)obey(all);
  if (all->over || !is_time(all, ready > 0)) return;
  all->late = false;
  if (all->events) events_tick(all->events, clock_mono_ms());
  else plain_tick(all->plain, clock_mono_ms());
  (void)obey(all);
}

static void run_subscription(struct subscribing *all) {
  const struct wire_ears ears = {.context = all,
                                 .message = hear_message,
                                 .event = hear_event,
                                 .alive = hear_life,
                                 .date = hear_date,
                                 .lost = hear_loss,
                                 .failed = hear_failure};
  (void)look_at_token(all);
  sender_forward(&all->sender, false);
  if (all->events) events_begin(all->events, clock_mono_ms());
  else plain_begin(all->plain, clock_mono_ms());
  (void)obey(all);
  for (; !all->over; go_round(all, &ears)) say_mood(all);
  report_mood(&all->report, interrupt_seen() ? REPORT_STOPPED : REPORT_ENDED);
  keep_cursor(all);
  sender_forward(&all->sender, true);
}

/* -- the beginning ----------------------------------------------------------------------------- */

static uint64_t hash_target(const struct subscribe_options *options) {
  uint64_t hash = fnv_span(FNV_START, span_text(options->url ? options->url : ""));
  for (char **word = options->command; word && *word; word++)
    hash = fnv_byte(fnv_span(hash, span_text(*word)), 0);
  return hash;
}

/* Returns the source by which repeated events are recognized: the server and the event, without the
 * subscription's arguments; for a webhook, the path of the route. */
static char *name_source(const struct subscribing *all) {
  const struct subscribe_options *options = &all->options;
  char *source = NULL;
  if (options->webhook) {
    const char *host = strstr(options->webhook, "://");
    const char *path = host ? strchr(host + 3, '/') : NULL;
    return path ? strndup(path, strcspn(path, "?#")) : strdup("/");
  }
  if (asprintf(&source, "%s %s %016llx", all->server, options->event ? options->event : "sse",
               (unsigned long long)hash_target(options)) < 0)
    return NULL;
  return source;
}

static int read_secret(struct subscribing *all) {
  char *text = NULL;
  size_t len = 0;
  const char *mistake = secret_file_read(all->options.secret_file, &text, &len);
  if (mistake) return cli_fail(all->cli, "'%s': %s", all->options.secret_file, mistake);
  text[strcspn(text, "\r\n")] =
      '\0'; /* only the first line, which has the newer secret if there are two */
  all->secret = text;
  if (strncmp(text, "whsec_", 6) == 0) return 0;
  return cli_fail(all->cli, "'%s': expected a secret that begins with whsec_",
                  all->options.secret_file);
}

/* Reads the token at the start, to report mistakes. */
static int check_token(const struct subscribing *all) {
  char *text = NULL;
  size_t len = 0;
  if (!all->options.token_file) return 0;
  const char *mistake = secret_file_read(all->options.token_file, &text, &len);
  if (text) explicit_bzero(text, len);
  free(text);
  return mistake ? cli_fail(all->cli, "'%s': %s", all->options.token_file, mistake) : 0;
}

static int check_arguments(struct subscribing *all) {
  static const struct json_rules rules = {.max_depth = 32, .nul = true, .large = true};
  struct tidings_error error = {.size = sizeof error};
  struct arena arena = ARENA_EMPTY;
  const struct json *root = NULL;
  if (!all->options.arguments) return 0;
  all->arguments = span_text(all->options.arguments);
  int refused = json_read_by(&rules, all->arguments, "--args", &arena, &root, &error);
  bool object = !refused && root->kind == JSON_IS_OBJECT;
  bool lines = memchr(all->arguments.ptr, '\n', all->arguments.len);
  arena_free(&arena);
  if (refused) return cli_usage(all->cli, "%s", error.text);
  if (!object) return cli_usage(all->cli, "--args: expected a JSON object");
  return lines ? cli_usage(all->cli, "--args: expected one line") : 0;
}

static int open_saved(struct subscribing *all) {
  const struct subscribe_options *options = &all->options;
  const char *to =
      all->sender.destination.address.name ? all->sender.destination.session : all->cli->to;
  uint64_t key = hash_target(options);
  key = fnv_byte(fnv_span(key, span_text(options->event ? options->event : "")), 0);
  key = fnv_byte(fnv_span(key, all->arguments), 0);
  key = fnv_byte(fnv_span(key, span_text(to)), 0);
  key = fnv_span(key, span_text(options->webhook ? options->webhook : ""));
  all->saved.server = all->server;
  all->saved.event = options->event;
  all->saved.to = to;
  return saved_open(all->cli, key, &all->saved);
}

static int make_machine(struct subscribing *all) {
  const struct subscribe_options *options = &all->options;
  struct events_wish wish = {.name = options->event,
                             .arguments = all->arguments,
                             .url = options->webhook,
                             .secret = all->secret,
                             .server = all->server,
                             .token_file = options->token_file,
                             .cursor = all->saved.cursor,
                             .heartbeat_ms = (int64_t)options->heartbeat_ms,
                             .process = !options->url};
  (void)random_fill(&wish.random, sizeof wish.random); /* if it fails, the pauses are still valid */
  if (options->webhook) wish.delivery = EVENTS_WEBHOOK;
  else if (options->mode) wish.delivery = options->mode[2] == 'l' ? EVENTS_POLL : EVENTS_PUSH;
  if (!wish.heartbeat_ms && !options->sse) wish.heartbeat_ms = EVENTS_HEARTBEAT_MS;
  if (options->sse) all->plain = plain_new(&wish);
  else all->events = events_new(&wish);
  if (options->url) {
    const struct transfer_target target = {.url = options->url,
                                           .token_file = options->token_file,
                                           .plain = options->sse,
                                           .local = options->local};
    all->http = http_begin(&target);
  } else {
    process_begin(&all->process, options->command);
  }
  return (all->plain || all->events) && (all->http || !options->url)
             ? 0
             : cli_fail(all->cli, "out of memory");
}

static int prepare(struct subscribing *all) {
  const struct subscribe_options *options = &all->options;
  const char *recipe = options->recipe ? options->recipe : options->sse ? "any" : "mcp-events";
  int code = check_arguments(all);
  if (!code) code = check_token(all);
  if (!code && options->secret_file) code = read_secret(all);
  if (!code) code = sender_open(all->cli, recipe, options->level, &all->sender);
  if (code) return code;
  all->server = subscribe_name_server(options);
  all->sender.source = all->server ? name_source(all) : NULL;
  if (!all->sender.source) return cli_fail(all->cli, "out of memory");
  all->place = all->sender.destination.place;
  code = open_saved(all);
  return code ? code : make_machine(all);
}

static void release(struct subscribing *all) {
  events_free(all->events);
  plain_free(all->plain);
  http_end(all->http);
  process_end(&all->process);
  report_end(&all->report);
  saved_close(&all->saved);
  if (all->sender.source) sender_print_counts(&all->sender);
  sender_close(&all->sender);
  if (all->secret) explicit_bzero(all->secret, strlen(all->secret));
  free(all->secret);
  free(all->server);
}

static int run(struct cli *cli) {
  struct subscribing all = {.cli = cli, .saved = {.lock = -1}, .process = {.to = -1, .from = -1}};
  int code = 0;
  if (!subscribe_read_options(cli, &all.options, &code)) return code;
  if (curl_global_init(CURL_GLOBAL_DEFAULT)) return cli_fail(cli, "libcurl cannot begin");
  code = prepare(&all);
  if (!code) {
    interrupt_begin();
    report_begin(cli, &all.saved, &all.sender, &all.options, &all.report);
    run_subscription(&all);
    code = all.code;
  }
  release(&all);
  curl_global_cleanup();
  return code || !interrupt_seen() ? code : interrupt_exit_code();
}

static const struct cli_verb subscribe_verb = SUBSCRIBE_VERB(NULL, run);
static const struct cli_verb *const verbs[] = {&subscribe_verb, NULL};
static const struct cli_program program = {.name = "tidings subscribe",
                                           .version = TIDINGS_VERSION,
                                           .summary = "Subscribe to events of an MCP server.",
                                           .about = "subscribe to events of an MCP server",
                                           .verbs = verbs};

int main(int argc, char **argv) { return cli_main(&program, argc, argv); }
