/* SPDX-License-Identifier: MIT
 *
 * deliver.c: `tidings deliver`: the adapter for scripted agents. It reads the carrier (a tool
 * result or a request) on stdin, and writes it to stdout with the pending notifications. It settles
 * them as committed only after every byte was written, and otherwise rolls them back. If tidings
 * fails, the carrier is still written.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/verbs.h"
#include "command/careful_write.h"
#include "command/host.h"
#include "command/interrupt.h"
#include "command/message_change.h"
#include "command/print.h"
#include "common/file.h"

enum {
  OPTION_AT = CLI_LONG_ONLY,
  OPTION_CALL,
  OPTION_TOOL,
  OPTION_SOURCE,
  OPTION_MESSAGE,
  OPTION_HOST,
  OPTION_ROOM
};
enum { PASSED_BYTES = 65536, LARGEST_CARRIER = 64 << 20, SETTLE_MS = 10000, MOST_MESSAGES = 256 };

struct point {
  int at; /* 0: tool-result, 1: chat-request, -1: not given */
  const char *call, *tool;
  uint32_t source, owner;
  uint64_t room;
  json_t *messages; /* their ids; NULL: none */
};

static struct tidings_span span(const char *text) {
  return (struct tidings_span){text, text ? strlen(text) : 0};
}

/* -- the hook ---------------------------------------------------------------------------------- */

static int32_t call_hook(struct hostkit *kit, const struct point *point, const char *session,
                         struct tidings_span carrier, struct tidings_reply **ret_reply,
                         struct tidings_error *error) {
  if (point->at == 0) {
    const struct tidings_tool_result result = {.size = sizeof result,
                                               .session = span(session),
                                               .call_id = span(point->call),
                                               .tool = span(point->tool),
                                               .content = carrier,
                                               .room_bytes = point->room};
    return hostkit_tool_result(kit, &result, ret_reply, error);
  }
  struct tidings_span ids[MOST_MESSAGES];
  const struct tidings_span *pointers[MOST_MESSAGES];
  size_t count = json_array_size(point->messages);
  for (size_t i = 0; i < count; i++) {
    ids[i] = span(json_string_value(json_array_get(point->messages, i)));
    pointers[i] = &ids[i];
  }
  const struct tidings_chat_request request = {.size = sizeof request,
                                               .session = span(session),
                                               .origin = point->source,
                                               .content = carrier,
                                               .messages = count ? pointers : NULL,
                                               .message_count = count,
                                               .room_bytes = point->room};
  return hostkit_chat_request(kit, &request, ret_reply, error);
}

/* -- what is written --------------------------------------------------------------------------- */

static const char *const role_names[] = {"carrier", "block", "developer", "user", "tool"};

static json_t *outgoing_json(const struct hostkit_outgoing *outgoing) {
  json_t *list = json_array();
  for (size_t i = 0; i < outgoing->part_count; i++) {
    const struct hostkit_part *message = outgoing->parts[i];
    json_t *one =
        json_pack("{s:s, s:b, s:o}", "role", role_names[message->voice], "carrier",
                  (int)message->is_carrier, "text", json_stringn(message->text, message->text_len));
    if (one && message->call_id) json_object_set_new(one, "call_id", json_string(message->call_id));
    if (one && message->tool) json_object_set_new(one, "tool", json_string(message->tool));
    if (json_array_append_new(list, one)) { /* the carrier is not UTF-8 */
      json_decref(list);
      return NULL;
    }
  }
  return list;
}

/* Writes one text, with an empty line before a block that the format puts beside the carrier. */
static void write_text(FILE *out, const struct hostkit_outgoing *outgoing) {
  for (size_t i = 0; i < outgoing->part_count; i++) {
    const struct hostkit_part *message = outgoing->parts[i];
    if (i) fputs("\n\n", out);
    fwrite(message->text, 1, message->text_len, out);
  }
}

static int make_output(const struct cli *cli, struct tidings_span carrier,
                       const struct tidings_reply *reply, char **ret_bytes, size_t *ret_len) {
  struct tidings_error error = {.size = sizeof error};
  struct hostkit_outgoing *outgoing = NULL;
  int32_t refused = hostkit_compose(&carrier, reply, &outgoing, &error);
  if (refused) return cli_fail_with(cli, refused, &error);
  FILE *out = open_memstream(ret_bytes, ret_len);
  json_t *list = out && cli->json ? outgoing_json(outgoing) : NULL;
  int code = out ? 0 : cli_fail(cli, "out of memory");
  if (out && cli->json && !list)
    code = cli_fail(cli, "the carrier is not UTF-8, so it cannot be printed as JSON");
  char *json = list ? json_dumps(list, JSON_COMPACT) : NULL;
  if (list && !json) code = cli_fail(cli, "out of memory");
  if (json) print_json_text(out, json);
  if (json) fputc('\n', out);
  if (out && !cli->json) write_text(out, outgoing);
  if (out && (fclose(out) || !*ret_bytes) && !code) code = cli_fail(cli, "out of memory");
  free(json);
  json_decref(list);
  hostkit_outgoing_free(outgoing);
  return code;
}

/* -- together ---------------------------------------------------------------------------------- */

static int settle(const struct cli *cli, struct hostkit *kit, uint64_t delivery, uint32_t outcome) {
  struct tidings_error error = {.size = sizeof error};
  if (!delivery) return 0;
  int32_t refused = kit_settle(kit, delivery, outcome, SETTLE_MS, NULL, &error);
  if (!refused) return 0;
  (void)cli_fail_with(cli, refused, &error);
  return cli_fail(cli, outcome == TIDINGS_COMMITTED
                           ? "the carrier was written, but not settled: its notifications may be "
                             "delivered again"
                           : "the carrier's notifications are delivered again when the session "
                             "is next recovered");
}

/* Completes shortened ids, which people copy from 'tidings queue'. */
static int complete_messages(const struct cli *cli, struct hostkit *kit, const char *session,
                             json_t *messages) {
  int code = 0;
  for (size_t i = 0; !code && i < json_array_size(messages); i++) {
    json_t *data = json_pack("{s:O}", "id", json_array_get(messages, i));
    code = data ? message_change_complete(cli, kit, session, data) : cli_fail(cli, "out of memory");
    if (!code && json_array_set(messages, i, json_object_get(data, "id")))
      code = cli_fail(cli, "out of memory");
    json_decref(data);
  }
  return code;
}

/* Writes the carrier with the pending notifications. *ret_written: the caller may write nothing
 * more. */
static int deliver(const struct cli *cli, struct hostkit *kit, const struct point *point,
                   const char *session, struct tidings_span carrier, bool *ret_written) {
  struct tidings_error error = {.size = sizeof error};
  struct tidings_reply *reply = NULL;
  char *bytes = NULL;
  size_t len = 0;
  int code = complete_messages(cli, kit, session, point->messages);
  if (code) {
    *ret_written = true; /* it is not known whether the messages are offered */
    return code;
  }
  interrupt_begin();
  int32_t refused = call_hook(kit, point, session, carrier, &reply, &error);
  if (refused) {
    /* Messages that are not offered must not be sent. */
    *ret_written =
        point->messages && (refused == TIDINGS_E_FIRED || refused == TIDINGS_E_NOT_FOUND ||
                            refused == TIDINGS_E_STATE);
    return cli_fail_with(cli, refused, &error);
  }
  uint64_t delivery = reply ? reply->delivery_id : 0;
  code = make_output(cli, carrier, reply, &bytes, &len);
  if (!code) {
    *ret_written = true;
    int reason = careful_write(STDOUT_FILENO, bytes, len);
    if (reason == EINTR) code = 128 + interrupt_seen();
    else if (reason) code = cli_fail(cli, "cannot write to stdout: %s", strerror(reason));
  }
  int unsettled = settle(cli, kit, delivery, code ? TIDINGS_ROLLED_BACK : TIDINGS_COMMITTED);
  free(bytes);
  hostkit_reply_free(reply);
  return code ? code : unsettled;
}

/* Writes the carrier unchanged, so that the agent continues without notifications. */
static void write_unchanged(const struct cli *cli, struct tidings_span carrier) {
  char *bytes = NULL;
  size_t len = 0;
  int reason = 0;
  if (!make_output(cli, carrier, NULL, &bytes, &len))
    reason = file_write_all(STDOUT_FILENO, bytes, len);
  if (reason) (void)cli_fail(cli, "cannot write to stdout: %s", strerror(reason));
  free(bytes);
}

/* Passes on a carrier that is too large for memory, without notifications. */
static int pass_through(const struct cli *cli, const char *bytes, size_t len) {
  char *more = malloc(PASSED_BYTES);
  int code = cli_fail(cli, "stdin: more than %d bytes; no notification was added", LARGEST_CARRIER);
  if (cli->json) len = 0; /* it cannot be printed as valid JSON */
  int reason = more ? file_write_all(STDOUT_FILENO, bytes, len) : ENOMEM;
  while (!reason && !cli->json) {
    ssize_t got = read(STDIN_FILENO, more, PASSED_BYTES);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) reason = errno;
    if (got <= 0) break;
    reason = file_write_all(STDOUT_FILENO, more, (size_t)got);
  }
  if (reason) code = cli_fail(cli, "cannot write to stdout: %s", strerror(reason));
  free(more);
  return code;
}

static int run_with(const struct cli *cli, const struct point *point) {
  struct hostkit *kit = NULL;
  char *session = NULL, *carrier = NULL;
  size_t len = 0;
  bool written = false;
  int reason = file_read_beyond(STDIN_FILENO, LARGEST_CARRIER, &carrier, &len);
  if (reason) return cli_fail(cli, "cannot read stdin: %s", strerror(reason));
  if (len > LARGEST_CARRIER) {
    int code = pass_through(cli, carrier, len);
    free(carrier);
    return code;
  }
  uint32_t owner = point->owner;
  int code = host_open(cli, NULL, &owner, &kit, &session);
  if (!code)
    code = deliver(cli, kit, point, session, (struct tidings_span){carrier, len}, &written);
  if (code && !written) write_unchanged(cli, (struct tidings_span){carrier, len});
  kit_close(kit);
  free(session);
  free(carrier);
  return code;
}

static int read_deliver_option(struct cli *cli, int key, struct point *point) {
  static const char *const points[] = {"tool-result", "chat-request", NULL};
  static const char *const sources[] = {"user", "system", NULL};
  int source = 0;
  switch (key) {
  case OPTION_AT:
    if ((point->at = cli_word(cli->value, points)) >= 0) return 0;
    return cli_usage(cli, "--at: '%s' is not one of tool-result, chat-request", cli->value);
  case OPTION_CALL: point->call = cli->value; return 0;
  case OPTION_TOOL: point->tool = cli->value; return 0;
  case OPTION_HOST: cli->host_name = cli->value; return 0;
  case OPTION_ROOM:
    if (!cli_number(cli->value, 0, UINT64_MAX, &point->room)) return 0;
    return cli_usage(cli, "--room: '%s' is not a number of bytes", cli->value);
  case OPTION_OWNER: return host_read_owner(cli, &point->owner);
  case OPTION_SOURCE:
    if ((source = cli_word(cli->value, sources)) < 0)
      return cli_usage(cli, "--source: '%s' is not one of user, system", cli->value);
    point->source = source ? TIDINGS_ORIGIN_SYSTEM : TIDINGS_ORIGIN_USER;
    return 0;
  case OPTION_MESSAGE:
    if (json_array_size(point->messages) == MOST_MESSAGES)
      return cli_usage(cli, "--message: given more than %d times", MOST_MESSAGES);
    if (!point->messages) point->messages = json_array();
    if (!json_array_append_new(point->messages, json_string(cli->value))) return 0;
    return cli_usage(cli, "--message: the id is not UTF-8");
  default: return cli->exit_code;
  }
}

static int check_point(struct cli *cli, struct point *point) {
  int code = cli_take_words(cli, 0, 0, "");
  if (code) return code;
  if (point->at < 0) return cli_usage(cli, "--at is missing");
  if (point->at == 0 && (point->source != UINT32_MAX || point->messages))
    return cli_usage(cli, "--source and --message need --at=chat-request");
  if (point->at == 1 && (point->call || point->tool))
    return cli_usage(cli, "--call and --tool need --at=tool-result");
  if (point->source == UINT32_MAX) point->source = TIDINGS_ORIGIN_USER;
  return 0;
}

static int deliver_verb(struct cli *cli) {
  struct point point = {.at = -1, .source = UINT32_MAX};
  int code = 0, key = 0;
  while (!code && (key = cli_next(cli)) != CLI_END && key != CLI_STOP)
    code = read_deliver_option(cli, key, &point);
  if (key == CLI_STOP) code = cli->exit_code;
  else if (!code) code = check_point(cli, &point);
  if (!code && key != CLI_STOP) code = run_with(cli, &point);
  json_decref(point.messages);
  return code;
}

const struct cli_verb verb_deliver = {
    .name = "deliver",
    .usage = "--at=tool-result|chat-request [OPTION]... < CARRIER",
    .summary = "add the pending notifications to a message for the model",
    .help = "The adapter for scripted agents. Reads a tool's result or a chat "
            "request from stdin and writes it to stdout with the session's pending "
            "notifications. They count as delivered when all output was written. If "
            "writing fails, or this command is stopped, they are pending again.\n\n"
            "If something fails (there is no store, another process owns the "
            "session), the carrier is written unchanged, stderr says why, and the "
            "exit code is 1. The only exception is a chat request whose messages are "
            "no longer on offer: it is not written and must not be sent.",
    .with = WITH_SESSION | WITH_STORE | WITH_CONFIG | WITH_JSON,
    .options =
        (const struct cli_option[]){
            {.key = OPTION_AT,
             .name = "at",
             .argument = "POINT",
             .help = "What the carrier is: tool-result or chat-request.",
             .completion = COMPLETE_WORDS,
             .words = "tool-result chat-request"},
            {.key = OPTION_CALL, .name = "call", .argument = "ID", .help = "The tool call's id."},
            {.key = OPTION_TOOL, .name = "tool", .argument = "TOOL", .help = "The tool's name."},
            {.key = OPTION_SOURCE,
             .name = "source",
             .argument = "WHO",
             .help = "The origin of the chat request: user (default) or system.",
             .completion = COMPLETE_WORDS,
             .words = "user system"},
            {.key = OPTION_MESSAGE,
             .name = "message",
             .argument = "ID",
             .help = "The id of an offered message that the chat request sends, or the beginning "
                     "of it; give it once for each message."},
            {.key = OPTION_HOST,
             .name = "host",
             .argument = "NAME",
             .help = "The agent's name in the title of the notification block."},
            {.key = OPTION_ROOM,
             .name = "room",
             .argument = "BYTES",
             .help = "How many bytes may be added to the carrier. What does not fit "
                     "waits for a later one. 0 (the default): no bound but "
                     "delivery.max_bytes of the configuration."},
            HOST_OWNER_OPTION,
            {.name = NULL},
        },
    .run = deliver_verb,
    .examples =
        (const struct cli_example[]){
            {"make 2>&1 | tidings deliver -s my-session --at tool-result --tool make",
             "Deliver the pending notifications with a tool's result."},
            {"echo \"$prompt\" | tidings deliver --at chat-request --json",
             "Print the chat request as a list of messages with their roles."},
            {NULL, NULL}},
};
