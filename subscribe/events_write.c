/* SPDX-License-Identifier: MIT
 *
 * subscribe/events_write.c: writes the requests of a subscription as JSON, in both eras.
 */
#include "common/json_write.h"
#include "subscribe/events_inner.h"

/* A message that is being written into `out`. */
struct writing {
  struct events *events;
  struct buffer out;
  struct json_writer writer;
  const char *method;
  uint64_t id;
};

static const char client_info[] = "{\"name\":\"tidings\",\"version\":\"" TIDINGS_VERSION "\"}";
static const char capabilities[] = "{\"extensions\":{\"" EVENTS_EXTENSION "\":{}}}";

static bool is_modern(const struct events *events, const char *method) {
  return events->era == ERA_MODERN || strcmp(method, "server/discover") == 0;
}

/* Writes the content of the handshake, which each stateless request repeats. */
static void put_meta(struct writing *writing) {
  struct json_writer *writer = &writing->writer;
  json_open(writer, "_meta", '{');
  json_put_text(writer, EVENTS_META "protocolVersion", EVENTS_MODERN);
  json_put_raw(writer, EVENTS_META "clientInfo", span_text(client_info));
  json_put_raw(writer, EVENTS_META "clientCapabilities", span_text(capabilities));
  json_close(writer, '}');
}

/* Begins a message, up to the members of `params`. `answered`: gives it an id. */
static void begin(struct events *events, const char *method, bool answered,
                  struct writing *ret_writing) {
  *ret_writing = (struct writing){.events = events, .method = method};
  struct json_writer *writer = &ret_writing->writer;
  writer->out = &ret_writing->out;
  json_open(writer, NULL, '{');
  json_put_text(writer, "jsonrpc", "2.0");
  if (answered) {
    ret_writing->id = ++events->last_id;
    json_put_u64(writer, "id", ret_writing->id);
  }
  json_put_text(writer, "method", method);
  json_open(writer, "params", '{');
  if (is_modern(events, method)) put_meta(ret_writing);
}

static void finish(struct writing *writing) {
  struct events *events = writing->events;
  json_close(&writing->writer, '}');
  json_close(&writing->writer, '}');
  if (writing->out.failed) events->outputs.failed = true;
  struct output *output = outputs_add(&events->outputs, OUTPUT_SEND);
  output->id = writing->id;
  output->method = writing->method;
  output->modern = is_modern(events, writing->method);
  output->protocol = output->modern ? EVENTS_MODERN : events->protocol;
  output->text = outputs_copy(&events->outputs, buffer_view(&writing->out));
  buffer_free(&writing->out);
  if (writing->id) events->request = writing->id;
}

/* Writes the event's name, its arguments and the cursor; a null cursor means from now on. */
static void put_subscription(struct writing *writing) {
  struct events *events = writing->events;
  struct json_writer *writer = &writing->writer;
  json_put_text(writer, "name", events->wish.name);
  if (events->wish.arguments.len) json_put_raw(writer, "arguments", events->wish.arguments);
  events->anew = events->owes_gap = events->begins_anew;
  events->begins_anew = false;
  json_put_text(writer, "cursor", events->anew ? NULL : events->cursor);
}

static void go_to(struct events *events, enum events_state state, int64_t answer_ms) {
  events->state = state;
  events->due_ms = events->now_ms + answer_ms;
}

void events_send_discover(struct events *events) {
  struct writing writing;
  begin(events, "server/discover", true, &writing);
  finish(&writing);
  go_to(events, STATE_DISCOVER, BEGIN_MS);
}

void events_send_initialize(struct events *events) {
  struct writing writing;
  events->protocol = NULL;
  begin(events, "initialize", true, &writing);
  json_put_text(&writing.writer, "protocolVersion", EVENTS_LEGACY);
  json_put_raw(&writing.writer, "capabilities", span_text(capabilities));
  json_put_raw(&writing.writer, "clientInfo", span_text(client_info));
  finish(&writing);
  go_to(events, STATE_INITIALIZE, ANSWER_MS);
}

void events_send_initialized(struct events *events) {
  struct writing writing;
  begin(events, "notifications/initialized", false, &writing);
  finish(&writing);
}

void events_send_list(struct events *events, bool beside) {
  struct writing writing;
  uint64_t before = events->request;
  begin(events, "events/list", true, &writing);
  if (events->page && events->page[0]) json_put_text(&writing.writer, "cursor", events->page);
  finish(&writing);
  if (beside) {
    events->list_request = events->request;
    events->list_due_ms = events->now_ms + ANSWER_MS;
    events->request = before;
  } else {
    go_to(events, STATE_LIST, ANSWER_MS);
  }
}

void events_send_poll(struct events *events) {
  struct writing writing;
  begin(events, "events/poll", true, &writing);
  put_subscription(&writing);
  json_put_u64(&writing.writer, "timeoutMs", POLL_HOLD_MS);
  finish(&writing);
  go_to(events, STATE_POLL, POLL_HOLD_MS + ANSWER_MS);
}

void events_send_stream(struct events *events) {
  struct writing writing;
  begin(events, "events/stream", true, &writing);
  put_subscription(&writing);
  finish(&writing);
  int64_t silence_ms = events_silence_ms(events); /* a program may take long to start */
  go_to(events, STATE_STREAM, silence_ms > BEGIN_MS ? silence_ms : BEGIN_MS);
}

void events_send_subscribe(struct events *events) {
  struct writing writing;
  begin(events, "events/subscribe", true, &writing);
  put_subscription(&writing);
  json_open(&writing.writer, "delivery", '{');
  json_put_text(&writing.writer, "mode", "webhook");
  json_put_text(&writing.writer, "url", events->wish.url);
  json_put_text(&writing.writer, "secret", events->wish.secret);
  json_close(&writing.writer, '}');
  json_put_u64(&writing.writer, "ttlMs", LONGEST_WAIT_MS);
  finish(&writing);
  go_to(events, STATE_SUBSCRIBE, ANSWER_MS);
}

void events_send_cancelled(struct events *events, uint64_t id) {
  struct writing writing;
  begin(events, "notifications/cancelled", false, &writing);
  json_put_u64(&writing.writer, "requestId", id);
  finish(&writing);
}

void events_send_answer(struct events *events, struct tidings_span id, bool known) {
  static const char unknown[] = "{\"code\":-32601,\"message\":\"Method not found\"}";
  struct buffer out = BUFFER_EMPTY;
  struct json_writer writer = {.out = &out};
  json_open(&writer, NULL, '{');
  json_put_text(&writer, "jsonrpc", "2.0");
  json_put_raw(&writer, "id", id);
  json_put_raw(&writer, known ? "result" : "error", span_text(known ? "{}" : unknown));
  json_close(&writer, '}');
  if (out.failed) events->outputs.failed = true;
  struct output *output = outputs_add(&events->outputs, OUTPUT_SEND);
  output->method = "";
  output->protocol = events->protocol;
  output->text = outputs_copy(&events->outputs, buffer_view(&out));
  buffer_free(&out);
}
