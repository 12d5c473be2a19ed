/* SPDX-License-Identifier: MIT
 *
 * tests/fuzz/fuzz_event.c: arbitrary bytes as an event. An accepted event is sound, a refusal says
 * why, and the notification of a report can be stored.
 */
#include "fuzz.h"

#include "common/json.h"
#include "common/utf8.h"
#include "event/event.h"
#include "event/facts.h"
#include "rules/producers/producers.h"

static void check_note(const struct notification *note, const struct settings *settings,
                       struct arena *arena) {
  struct item item = {.n = 1, .note = *note};
  MUST(note->source.len && note->message.len, "a notification without a source or a message");
  MUST(note->message.len <= settings->message_bytes + 48, "a message of %zu bytes",
       note->message.len);
  MUST(utf8_valid(note->source) && utf8_valid(note->name) && utf8_valid(note->message),
       "it is not UTF-8");
  MUST(note->level < LEVEL_COUNT && note->activation < ACTIVATION_COUNT,
       "its level or activation is none");
  MUST(facts_read(&item, 1, arena) == 0, "no memory");
}

static void check_id(struct tidings_span id) {
  MUST(message_id_check(id, "id", TIDINGS_E_SCHEMA, NULL) == 0, "%.*s", SPAN_FORMAT(id));
}

static void check_message(const struct event *event, struct arena *arena) {
  const struct message_event *message = &event->message;
  bool has_content = event->type == EVENT_MESSAGE_SUBMITTED || event->type == EVENT_MESSAGE_EDITED;
  const struct json *trigger;
  check_id(message->id);
  MUST((message->content.len > 0) == has_content && utf8_valid(message->content),
       "a content of %zu bytes", message->content.len);
  if (event->type == EVENT_MESSAGE_SUBMITTED)
    MUST(!message_id_is_system(message->id), "an id of a system turn");
  if (event->type == EVENT_MESSAGE_MOVED && !message->last) {
    check_id(message->before);
    MUST(!span_equal(message->before, message->id), "moved before itself");
  }
  if (!message->trigger.len) return;
  MUST(json_read(message->trigger, "trigger", arena, &trigger, NULL) == 0 &&
           trigger->kind == JSON_IS_OBJECT,
       "%.*s", SPAN_FORMAT(message->trigger));
}

static void check_turn(const struct turn_event *turn) {
  MUST(turn->has_messages == (turn->message_count > 0), "%zu messages", turn->message_count);
  for (size_t i = 0; i < turn->message_count; i++) {
    check_id(turn->messages[i]);
    for (size_t other = 0; other < i && i < 100; other++)
      MUST(!span_equal(turn->messages[i], turn->messages[other]), "one stands twice");
  }
  MUST(utf8_valid(turn->reason) && utf8_valid(turn->message), "it is not UTF-8");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
  static const struct settings settings = {.event_bytes = 65536, .message_bytes = 256};
  const struct memory memory = {.budget_percent = len % 2 ? 75 : 0};
  struct arena arena = ARENA_EMPTY;
  struct event event = {.type = EVENT_NOTIFICATION};
  struct tidings_error error = {.size = sizeof error, .text = ""};
  int code = event_parse(span_of((const char *)data, len), &settings, &arena, &event, &error);
  if (code) {
    MUST(error.code == code && error.text[0] && code != TIDINGS_E_NOMEM, "code %d: %s", code,
         error.text);
    MUST(utf8_valid(span_text(error.text)), "the sentence is not UTF-8");
  } else {
    MUST(event.session.len && event.session.len <= 255 && utf8_valid(event.session),
         "a session that is none");
    if (event.type == EVENT_NOTIFICATION) check_note(&event.notification, &settings, &arena);
    if (event_is_message(event.type)) check_message(&event, &arena);
    if (event.type >= EVENT_TURN_STOP && event.type <= EVENT_TURN_RESUME) check_turn(&event.turn);
    if (event.type == EVENT_SESSION_FORKED) {
      MUST(session_id_check(event.opening.child, "child", TIDINGS_E_SCHEMA, NULL) == 0,
           "a child that is none");
      MUST(!span_equal(event.opening.child, event.session), "its own child");
    }
    if (event.type == EVENT_SESSION_COLLECTED)
      MUST(event.opening.from_count && event.opening.from_count <= 16, "no source");
    if (event_is_report(event.type)) {
      struct produced produced;
      MUST(produce(&event, &settings, &memory, &arena, &produced) == 0, "no memory");
      if (produced.has_note) check_note(&produced.note, &settings, &arena);
    }
  }
  arena_free(&arena);
  return 0;
}
