/* SPDX-License-Identifier: MIT
 *
 * demo/host.c: the simulated host of the demo: it calls the hooks, writes its transcript, settles,
 * and is killed where the script says so.
 */
#include "demo/host.h"

#include "common/clock.h"
#include "demo/demo.h"
#include "host/hostkit_flags.h"
#include "host/process.h"
#include "host/wire.h"

#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static _Noreturn void give_up(const char *what, const char *why) {
  fflush(stdout);
  fprintf(stderr, "hostsim: the demo's host: %s: %s\n", what, why);
  exit(EXIT_FAILURE);
}

static void require_ok(int32_t code, const struct tidings_error *error, const char *what) {
  if (code != TIDINGS_OK) give_up(what, error->text);
}

/* Asks the supervisor to kill this process now, and waits for SIGKILL. */
static _Noreturn void wait_for_kill(void) {
  fflush(stdout);
  json_t *word = json_pack("{s:b}", "kill_me", 1);
  wire_send(PROCESS_CHANNEL_FD, word);
  json_decref(word);
  for (;;) pause();
}

struct tidings_reply *host_event(struct demo_host *host, const char *type, json_t *data) {
  json_t *event =
      json_pack("{s:s, s:s, s:o*}", "type", type, "session", host->session, "data", data);
  char *text = json_dumps(event, JSON_COMPACT);
  json_decref(event);
  if (!text) give_up("event", "out of memory");
  struct tidings_span span = {text, strlen(text)};
  struct tidings_reply *reply = NULL;
  struct tidings_error error = {.size = sizeof error};
  require_ok(hostkit_event(host->hostkit, &span, &reply, &error), &error, text);
  free(text);
  return reply;
}

/* Sends an event whose reply must ask for nothing. */
static void send_event(struct demo_host *host, const char *type, json_t *data) {
  struct tidings_reply *reply = host_event(host, type, data);
  if (reply && reply->action_count > 0)
    give_up(type, "the plugin asks for something that the story does not have");
  hostkit_reply_free(reply);
}

void host_open(struct demo_host *host, bool resumes) {
  struct hostkit_options options = {
      .size = sizeof options,
      .flags = HOSTSIM_HOSTKIT_FLAGS,
      .plugin_path = host->plugin,
      .store_dir = host->folder.store,
      .host_name = "hostsim",
      .hook_budget_ms = DEMO_TIMEOUT_MS,
      .probe_timeout_ms = DEMO_TIMEOUT_MS,
      .copy_dir = host->folder.dir,
  };
  struct tidings_error error = {.size = sizeof error};
  require_ok(hostkit_open(&options, &host->hostkit, &error), &error, "open");
  if (!resumes) {
    send_event(host, "session.opened",
               json_pack("{s:s, s:s}", "cwd", host->folder.workspace, "host", "hostsim demo"));
    return;
  }
  json_t *deliveries = journal_deliveries(host->folder.transcript);
  char *list = json_dumps(deliveries, 0);
  screen_note(&host->screen,
              "the host is back, pid %d; its transcript has the deliveries %s: "
              "session.resumed names them",
              (int)getpid(), list);
  free(list);
  send_event(host, "session.resumed", json_pack("{s:o}", "deliveries", deliveries));
}

void host_close(struct demo_host *host) {
  struct tidings_error error = {.size = sizeof error};
  require_ok(hostkit_close(host->hostkit, DEMO_TIMEOUT_MS, &error), &error, "close");
  host->hostkit = NULL;
}

static void write_ledger(struct demo_host *host, const char *what, const char *text) {
  if (journal_append(host->folder.ledger, json_pack("{s:s}", what, text)) != 0)
    give_up("ledger", "cannot be written");
}

void host_push(struct demo_host *host, const char *kind, const char *level, const char *message,
               const char *path) {
  json_t *data = json_pack("{s:s, s:s, s:s}", "kind", kind, "level", level, "message", message);
  if (path) json_object_set_new(data, "data", json_pack("{s:s}", "path", path));
  send_event(host, "notification", data);
  write_ledger(host, LEDGER_PUSHED, message);
}

void host_report(struct demo_host *host, const char *type, json_t *data, const char *shown) {
  send_event(host, type, data);
  if (shown) write_ledger(host, LEDGER_PUSHED, shown);
}

struct tidings_reply *host_submit(struct demo_host *host, const char *id, const char *content,
                                  const char *delivery) {
  struct tidings_reply *reply =
      host_event(host, "message.submitted",
                 json_pack("{s:s, s:s, s:s}", "id", id, "content", content, "delivery", delivery));
  write_ledger(host, LEDGER_SUBMITTED, content);
  return reply;
}

void host_configure(struct demo_host *host, const char *configuration) {
  char *query = NULL;
  char *answer = NULL;
  struct tidings_error error = {.size = sizeof error};
  if (asprintf(&query, "{\"name\":\"configure\",\"config\":%s}", configuration) < 0)
    give_up("configure", "out of memory");
  struct tidings_span span = {query, strlen(query)};
  require_ok(hostkit_query(host->hostkit, &span, &answer, &error), &error, "configure");
  hostkit_free(answer);
  free(query);
}

static void write_transcript(struct demo_host *host, const char *role, const char *text, size_t len,
                             uint64_t delivery) {
  json_t *entry = json_pack("{s:s, s:s%}", "role", role, "content", text, len);
  if (delivery != 0) {
    char id[24];
    snprintf(id, sizeof id, "%" PRIu64, delivery);
    json_object_set_new(entry, "delivery", json_string(id));
  }
  if (!entry || journal_append(host->folder.transcript, entry) != 0)
    give_up("transcript", "cannot be written");
}

void host_settle(struct demo_host *host, uint64_t delivery) {
  struct tidings_error error = {.size = sizeof error};
  require_ok(hostkit_settle(host->hostkit, delivery, TIDINGS_OUTCOME_COMMITTED, NULL, &error),
             &error, "settle");
}

/* Composes the content with the hook's reply, writes it to the transcript, and settles. Takes the
 * reply. */
static uint64_t carry(struct demo_host *host, const char *role, const struct tidings_span *content,
                      struct tidings_reply *reply, enum ending ending) {
  uint64_t delivery = reply ? reply->delivery_id : 0;
  struct hostkit_outgoing *outgoing = NULL;
  struct tidings_error error = {.size = sizeof error};
  require_ok(hostkit_compose(content, reply, &outgoing, &error), &error, "compose");
  hostkit_reply_free(reply);
  if (ending == ENDING_DIES_BEFORE_WRITING) wait_for_kill();
  const struct hostkit_part *carrier = outgoing->parts[outgoing->carrier];
  write_transcript(host, role, carrier->text, carrier->text_len, delivery);
  screen_carrier(&host->screen, role, carrier->text, carrier->text_len, content->ptr, content->len);
  hostkit_outgoing_free(outgoing);
  if (ending == ENDING_DIES_BEFORE_SETTLE) wait_for_kill();
  if (delivery != 0 && ending == ENDING_SETTLED) host_settle(host, delivery);
  screen_pause(&host->screen, delivery != 0 ? 420 : 120);
  return delivery;
}

uint64_t host_tool_result(struct demo_host *host, const char *tool, const char *content,
                          enum ending ending) {
  char call_id[24];
  snprintf(call_id, sizeof call_id, "call_%u", ++host->calls);
  struct tidings_tool_result result = {
      .size = sizeof result,
      .session = {host->session, strlen(host->session)},
      .call_id = {call_id, strlen(call_id)},
      .tool = {tool, strlen(tool)},
      .content = {content, strlen(content)},
  };
  struct tidings_reply *reply = NULL;
  struct tidings_error error = {.size = sizeof error};
  require_ok(hostkit_tool_result(host->hostkit, &result, &reply, &error), &error, "on_tool_result");
  return carry(host, "tool", &result.content, reply, ending);
}

uint64_t host_chat_request(struct demo_host *host, const char *content) {
  struct tidings_chat_request request = {
      .size = sizeof request,
      .session = {host->session, strlen(host->session)},
      .content = {content, strlen(content)},
  };
  struct tidings_reply *reply = NULL;
  struct tidings_error error = {.size = sizeof error};
  require_ok(hostkit_chat_request(host->hostkit, &request, &reply, &error), &error,
             "on_chat_request");
  return carry(host, "user", &request.content, reply, ENDING_SETTLED);
}

/* Joins the texts of a turn's messages, one below the other. Free it. */
static char *turn_content(const struct tidings_action *turn) {
  char *content = NULL;
  size_t len = 0;
  FILE *out = open_memstream(&content, &len);
  for (size_t i = 0; out && i < turn->message_count; i++) {
    const struct tidings_span *part = &turn->messages[i]->content;
    fprintf(out, "%s%.*s", i > 0 ? "\n" : "", (int)part->len, part->ptr);
  }
  if (!out || fclose(out) != 0) give_up("start_turn", "out of memory");
  return content;
}

void host_start_turn(struct demo_host *host, struct tidings_reply *reply) {
  const struct tidings_action *turn = host_find_action(reply, TIDINGS_ACTION_START_TURN);
  if (!turn || turn->message_count == 0)
    give_up("start_turn", "the plugin does not ask for a turn");
  const struct tidings_span **ids = calloc(turn->message_count, sizeof *ids);
  char *content = turn_content(turn);
  if (!ids) give_up("start_turn", "out of memory");
  for (size_t i = 0; i < turn->message_count; i++) ids[i] = &turn->messages[i]->id;
  struct tidings_chat_request request = {
      .size = sizeof request,
      .origin = turn->origin,
      .session = {host->session, strlen(host->session)},
      .content = {content, strlen(content)},
      .messages = ids,
      .message_count = turn->message_count,
  };
  const char *role = turn->origin == TIDINGS_ORIGIN_SYSTEM ? "system"
                     : turn->messages[0]->trigger.len > 0  ? "webhook"
                                                           : "user";
  struct tidings_reply *carried = NULL;
  struct tidings_error error = {.size = sizeof error};
  require_ok(hostkit_chat_request(host->hostkit, &request, &carried, &error), &error,
             "on_chat_request");
  carry(host, role, &request.content, carried, ENDING_SETTLED);
  free(content);
  free(ids);
  hostkit_reply_free(reply);
}

const struct tidings_action *host_find_action(const struct tidings_reply *reply, uint32_t type) {
  for (size_t i = 0; reply && i < reply->action_count; i++)
    if (reply->actions[i]->type == type) return reply->actions[i];
  return NULL;
}

/* Takes the names of the sessions that rang; the host has one session. */
static void take_rings(struct demo_host *host) {
  struct tidings_error error = {.size = sizeof error};
  char session[256];
  size_t len = 0;
  do {
    require_ok(hostkit_next_session(host->hostkit, session, sizeof session, &len, &error), &error,
               "next_session");
  } while (len > 0);
}

void host_listen(struct demo_host *host) {
  struct tidings_error error = {.size = sizeof error};
  require_ok(hostkit_wake_descriptor(host->hostkit, &host->wake_fd, &error), &error,
             "wake descriptor");
  take_rings(host);
}

struct tidings_reply *host_sleep(struct demo_host *host) {
  struct pollfd wake = {.fd = host->wake_fd, .events = POLLIN};
  if (poll(&wake, 1, DEMO_TIMEOUT_MS) != 1) give_up("sleep", "no wake signal came");
  take_rings(host);
  return host_event(host, "wake", NULL);
}

void host_assistant(struct demo_host *host, const char *text) {
  write_transcript(host, "assistant", text, strlen(text), 0);
  screen_say(&host->screen, "assistant", text);
  screen_pause(&host->screen, 270);
}

void host_swap(struct demo_host *host) {
  struct tidings_error error = {.size = sizeof error};
  uint64_t start_ns = clock_mono_ns();
  require_ok(hostkit_swap(host->hostkit, host->folder.second_plugin, DEMO_TIMEOUT_MS, &error),
             &error, "swap");
  double milliseconds = (double)(clock_mono_ns() - start_ns) / 1e6;
  struct hostkit_info info = {.size = sizeof info};
  hostkit_info(host->hostkit, &info);
  screen_note(&host->screen, "%s %s swapped in %.0f ms: generation %u, build %s", info.name,
              info.version, milliseconds, info.generation,
              info.build_id[0] != '\0' ? info.build_id : "unnamed");
}

static int demo_host_verb(struct cli *cli) {
  uint64_t life = 0;
  if (cli->argc != 6 || cli_number(cli->argv[3], 1, DEMO_LIVES, &life) != 0)
    return cli_usage(cli, "internal; not for use by hand");
  process_become_child();
  struct demo_host host = {.plugin = cli->argv[2], .session = DEMO_SESSION, .wake_fd = -1};
  host.screen.color = strcmp(cli->argv[4], "color") == 0;
  host.screen.fast = strcmp(cli->argv[5], "fast") == 0;
  if (demo_folder_init(&host.folder, cli->argv[1]) != 0) give_up("start", "out of memory");
  host_open(&host, life > 1);
  script_play(&host, (unsigned)life);
  host_close(&host);
  if (host.wake_fd >= 0) close(host.wake_fd);
  demo_folder_finish(&host.folder);
  return EXIT_SUCCESS;
}

const struct cli_verb verb_internal_demo_host = {.name = "internal-demo-host",
                                                 .usage = "DIR PLUGIN LIFE color|plain fast|paced",
                                                 .run = demo_host_verb};
