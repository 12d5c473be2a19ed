/* SPDX-License-Identifier: MIT
 *
 * tests/fuzz/fuzz_event.c: arbitrary bytes as an event. What is taken is sound, what is refused says why, and what a report becomes can be stored.
 */
#include "fuzz.h"

#include "base/utf8.h"
#include "event/facts.h"
#include "producers/producers.h"

static void check_note(const struct notification *note, const struct settings *settings, struct arena *arena) {
  struct item item = {.n = 1, .note = *note};
  MUST(note->source.len && note->message.len, "a notification without a source or a message");
  MUST(note->message.len <= settings->message_bytes + 48, "a message of %zu bytes", note->message.len);
  MUST(utf8_valid(note->source) && utf8_valid(note->name) && utf8_valid(note->message), "it is not UTF-8");
  MUST(note->level < LEVEL_COUNT && note->activation <= ACTIVATION_INTERRUPT, "its level or activation is none");
  MUST(facts_read(&item, 1, arena) == 0, "no memory");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
  static const struct settings settings = {.event_bytes = 65536, .message_bytes = 256};
  const struct memory memory = {.budget_percent = len % 2 ? 75 : 0};
  struct arena arena = ARENA_EMPTY;
  struct event event = {.type = EVENT_NOTIFICATION};
  struct tidings_error error = {.size = sizeof error, .text = ""};
  int code = event_parse(span_of((const char *)data, len), &settings, &arena, &event, &error);
  if (code) {
    MUST(error.code == code && error.text[0] && code != TIDINGS_E_NOMEM, "code %d: %s", code, error.text);
    MUST(utf8_valid(span_text(error.text)), "the sentence is not UTF-8");
  } else {
    MUST(event.session.len && event.session.len <= 255 && utf8_valid(event.session), "a session that is none");
    if (event.type == EVENT_NOTIFICATION) check_note(&event.notification, &settings, &arena);
    if (event.type >= EVENT_HANDLE_STATE) {
      struct produced produced;
      MUST(produce(&event, &settings, &memory, &arena, &produced) == 0, "no memory");
      if (produced.speaks) check_note(&produced.note, &settings, &arena);
    }
  }
  arena_free(&arena);
  return 0;
}
