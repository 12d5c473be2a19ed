/* SPDX-License-Identifier: MIT
 */
#include "subscribe/plain.h"

#include <stdlib.h>

#include "common/utf8.h"
#include "subscribe/retry.h"

enum { NO_CONTENT = 204, LONGEST_CURSOR = 8192 /* the limit that servers have for a header */ };

static const struct json_rules data_rules = {
    .max_depth = 64, .nul = true, .halves = true, .repeats = true, .large = true};

struct plain {
  struct events_wish wish;
  struct outputs outputs;
  struct retry retry;
  uint64_t last_id, request; /* request: the open stream; 0: none */
  int64_t due_ms;
  char *cursor, *stamp; /* "": none */
  bool refused;
  bool ran; /* the server has answered with a stream */
};

struct plain *plain_new(const struct events_wish *wish) {
  struct plain *plain = calloc(1, sizeof *plain);
  if (!plain) return NULL;
  plain->wish = *wish;
  plain->retry.random = wish->random;
  plain->due_ms = INT64_MAX;
  plain->cursor = strdup(wish->cursor ? wish->cursor : "");
  plain->stamp = strdup("");
  if (plain->cursor && plain->stamp) return plain;
  plain_free(plain);
  return NULL;
}

void plain_free(struct plain *plain) {
  if (!plain) return;
  outputs_free(&plain->outputs);
  free(plain->cursor);
  free(plain->stamp);
  free(plain);
}

struct outputs *plain_outputs(struct plain *plain) {
  return &plain->outputs;
}

int64_t plain_due_ms(const struct plain *plain) { return plain->due_ms; }

bool plain_wants_token(const struct plain *plain) { return plain->refused && !plain->request; }

bool plain_fails(const struct plain *plain) { return plain->retry.failures > 0 || !plain->ran; }

static void replace(struct plain *plain, char **text, struct tidings_span value) {
  char *copy = strndup(value.ptr ? value.ptr : "", value.len);
  if (!copy) {
    plain->outputs.failed = true;
    return;
  }
  free(*text);
  *text = copy;
}

void plain_set_token_stamp(struct plain *plain, const char *stamp) {
  replace(plain, &plain->stamp, span_text(stamp));
}

static void live(struct plain *plain, int64_t now_ms) {
  int64_t heartbeat = plain->wish.heartbeat_ms;
  plain->due_ms = heartbeat ? now_ms + 2 * heartbeat + heartbeat / 10 : INT64_MAX;
}

static void open_stream(struct plain *plain, int64_t now_ms) {
  struct output *output = outputs_add(&plain->outputs, OUTPUT_SEND);
  output->id = plain->request = ++plain->last_id;
  output->text = outputs_copy(&plain->outputs, span_text(plain->cursor));
  live(plain, now_ms);
}

void plain_begin(struct plain *plain, int64_t now_ms) {
  outputs_begin(&plain->outputs);
  open_stream(plain, now_ms);
}

/* -- events ------------------------------------------------------------------------------------ */

static const struct json *read_data(struct plain *plain, struct tidings_span data) {
  struct arena *arena = &plain->outputs.arena;
  const struct json *root = NULL;
  struct buffer text = BUFFER_EMPTY, repaired = BUFFER_EMPTY;
  struct tidings_span copy = outputs_copy(&plain->outputs, data);
  if (!json_read_by(&data_rules, copy, "data", arena, &root, NULL) && root->kind == JSON_IS_OBJECT)
    return root;
  buffer_text(&text, "{\"message\":");
  utf8_repair(copy, &repaired);
  json_write_string(buffer_view(&repaired), &text);
  buffer_text(&text, "}");
  copy = outputs_copy(&plain->outputs, buffer_view(&text));
  if (text.failed || repaired.failed ||
      json_read_by(&data_rules, copy, "data", arena, &root, NULL)) {
    plain->outputs.failed = true;
    root = NULL;
  }
  buffer_free(&text);
  buffer_free(&repaired);
  return root;
}

void plain_event(struct plain *plain, const struct sse_event *event, int64_t now_ms) {
  outputs_begin(&plain->outputs);
  if (!plain->request) return;
  plain_alive(plain, now_ms);
  const struct json *document = read_data(plain, event->data);
  if (!document) return;
  struct output *output = outputs_add(&plain->outputs, OUTPUT_PUSH);
  output->document = document;
  if (event->own_id) output->text = outputs_copy(&plain->outputs, event->id);
  output->event = outputs_copy(&plain->outputs, event->type);
  if (!event->id.len || event->id.len > LONGEST_CURSOR || span_is(event->id, plain->cursor)) return;
  replace(plain, &plain->cursor, event->id);
  if (!utf8_valid(event->id)) return; /* such an event cannot be stored */
  outputs_add(&plain->outputs, OUTPUT_CURSOR)->text =
      outputs_copy(&plain->outputs, span_text(plain->cursor));
}

void plain_alive(struct plain *plain, int64_t now_ms) {
  if (!plain->request) return;
  live(plain, now_ms);
  plain->retry.failures = 0;
  plain->refused = false;
  plain->ran = true;
}

/* -- failures ---------------------------------------------------------------------------------- */

static void refuse_token(struct plain *plain, int status) {
  const char *file = plain->wish.token_file;
  plain->refused = true;
  struct output *output = outputs_add(&plain->outputs, OUTPUT_NOTICE);
  output->kind_name = "events.refused";
  output->notice = outputs_format(&plain->outputs, "events.refused %s", plain->stamp);
  output->text = outputs_format(
      &plain->outputs,
      file ? "%s refuses the token (HTTP %d): it may have expired. Events come again once %s has "
             "a new one."
           : "%s wants a token (HTTP %d); it is given with --token-file.",
      plain->wish.server, status, file);
}

static void wait_again(struct plain *plain, int64_t at_least_ms, int64_t now_ms) {
  int64_t ms = retry_wait_ms(&plain->retry);
  if (at_least_ms > RETRY_MOST_ASKED_MS) at_least_ms = RETRY_MOST_ASKED_MS;
  plain->request = 0;
  plain->due_ms = now_ms + (ms > at_least_ms ? ms : at_least_ms);
}

void plain_failed(struct plain *plain, uint64_t id, const struct events_failure *failure,
                  int64_t retry_ms, int64_t now_ms) {
  outputs_begin(&plain->outputs);
  if (!plain->request || id != plain->request) return;
  if (failure->status == NO_CONTENT) { /* by this status a server ends the stream for ever */
    struct output *output = outputs_add(&plain->outputs, OUTPUT_NOTICE);
    output->kind_name = "events.terminated";
    output->notice = outputs_format(&plain->outputs, "events.terminated %s %016llx", plain->cursor,
                                    (unsigned long long)(plain->ran ? plain->wish.random : 0));
    output->text =
        outputs_format(&plain->outputs, "%s has ended its stream of events.", plain->wish.server);
    struct tidings_span text = output->text;
    output = outputs_add(&plain->outputs, OUTPUT_END);
    output->text = text;
    output->code = 1;
    plain->request = 0;
    plain->due_ms = INT64_MAX;
    return;
  }
  outputs_add(&plain->outputs, OUTPUT_SAY)->text =
      outputs_format(&plain->outputs, "%s: %s", plain->wish.server, failure->reason);
  if (failure->status == 401 || failure->status == 403) refuse_token(plain, failure->status);
  else if (failure->status > 0) plain->refused = false;
  int64_t least = failure->retry_after_ms > retry_ms ? failure->retry_after_ms : retry_ms;
  wait_again(plain, least, now_ms);
}

void plain_tick(struct plain *plain, int64_t now_ms) {
  outputs_begin(&plain->outputs);
  if (now_ms < plain->due_ms) return;
  if (!plain->request) {
    open_stream(plain, now_ms);
    return;
  }
  outputs_add(&plain->outputs, OUTPUT_SAY)->text =
      outputs_format(&plain->outputs, "%s has sent nothing for a while; the stream begins anew",
                     plain->wish.server);
  outputs_add(&plain->outputs, OUTPUT_CANCEL)->id = plain->request;
  wait_again(plain, 0, now_ms);
}

void plain_token_changed(struct plain *plain, int64_t now_ms) {
  outputs_begin(&plain->outputs);
  if (!plain->request && plain->refused) open_stream(plain, now_ms);
}
