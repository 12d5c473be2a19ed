/* SPDX-License-Identifier: MIT
 */
#include "turns_script.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "kit.h"
#include "rules/turns/turns.h"

enum { MOST_MESSAGES = 64, MOST_WORDS = 12, MOST_DELIVERIES = 8, BEGIN_MS = 1000000 };

struct script {
  struct settings settings;
  struct turns turns;
  struct message messages[MOST_MESSAGES];
  int64_t now_ms;
  uint64_t item, last_item;
  bool urgent, shows_times;

  uint64_t rows[MOST_DELIVERIES]
               [MOST_MESSAGES]; /* numbers of the messages that each delivery carried */

  const char *words[MOST_WORDS]; /* of the command */
  size_t word_count;
  struct tidings_span ids[MOST_WORDS];
  ptrdiff_t named[MOST_WORDS];
  struct turns_result result;
  struct tidings_error error;
};

/* -- words of a command ------------------------------------------------------------------------ */

static bool has_word(const struct script *script, const char *word) {
  for (size_t i = 1; i < script->word_count; i++) {
    if (!strcmp(script->words[i], word)) return true;
  }
  return false;
}

static const char *value_of(const struct script *script, const char *name) {
  for (size_t i = 1; i < script->word_count; i++) {
    if (!strncmp(script->words[i], name, strlen(name))) return script->words[i] + strlen(name);
  }
  return NULL;
}

static bool is_id(const char *word) {
  static const char *const others[] = {"steer", "resume", "fires", "silent", "urgent"};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    if (!strcmp(word, others[i])) return false;
  }
  return word[0] != '@' && !strchr(word, '=');
}

static ptrdiff_t find(const struct script *script, struct tidings_span id) {
  for (size_t i = 0; i < script->turns.count; i++) {
    if (span_equal(script->messages[i].id, id)) return (ptrdiff_t)i;
  }
  return NOT_A_MESSAGE;
}

static size_t read_ids(struct script *script) {
  size_t count = 0;
  for (size_t i = 1; i < script->word_count; i++) {
    if (!is_id(script->words[i])) continue;
    script->ids[count] = span_text(script->words[i]);
    script->named[count] = find(script, script->ids[count]);
    count++;
  }
  return count;
}

static const struct {
  const char *word;
  enum turns_event event;
} events[] = {
    {"submit", TURNS_SUBMIT},
    {"cancel", TURNS_CANCEL},
    {"edit", TURNS_EDIT},
    {"move", TURNS_MOVE},
    {"redirect", TURNS_REDIRECT},
    {"chat", TURNS_CHAT_REQUEST},
    {"result", TURNS_TOOL_RESULT},
    {"started", TURNS_STARTED},
    {"declined", TURNS_DECLINED},
    {"finished", TURNS_FINISHED},
    {"aborted", TURNS_ABORTED},
    {"failed", TURNS_FAILED},
    {"retrying", TURNS_RETRYING},
    {"waiting", TURNS_WAITING},
    {"resume", TURNS_RESUME},
    {"stream.started", TURNS_STREAM_STARTED},
    {"stream.finished", TURNS_STREAM_FINISHED},
    {"tools.started", TURNS_TOOLS_STARTED},
    {"tools.finished", TURNS_TOOLS_FINISHED},
    {"opened", TURNS_OPENED},
    {"rewound", TURNS_REWOUND},
    {"compacting", TURNS_COMPACTING},
    {"compacted", TURNS_COMPACTED},
    {"closed", TURNS_CLOSED},
    {"recovered", TURNS_RECOVERED},
    {"wake", TURNS_LOOK},
    {"commit", TURNS_COMMITTED},
    {"rollback", TURNS_ROLLED_BACK},
};

static enum turns_event event_of(const char *word, size_t id_count) {
  for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
    if (strcmp(events[i].word, word) != 0) continue;
    return events[i].event == TURNS_STARTED && !id_count ? TURNS_STARTED_OWN : events[i].event;
  }
  cr_assert_fail("the script says \"%s\"", word);
  abort();
}

/* -- deliveries -------------------------------------------------------------------------------- */

static void note_row(struct script *script, uint64_t delivery) {
  size_t count = 0;
  for (size_t i = 0; i < script->turns.count; i++) {
    if (script->messages[i].delivery == delivery)
      script->rows[delivery][count++] = script->messages[i].n;
  }
}

static size_t name_row(struct script *script, uint64_t delivery) {
  size_t count = 0;
  for (size_t i = 0; i < script->turns.count; i++) {
    for (size_t j = 0; script->rows[delivery][j]; j++) {
      if (script->rows[delivery][j] == script->messages[i].n) script->named[count++] = (ptrdiff_t)i;
    }
  }
  return count;
}

/* -- a command --------------------------------------------------------------------------------- */

static int by_place(const void *a, const void *b) {
  const struct message *left = a, *right = b;
  return left->place < right->place ? -1 : left->place > right->place;
}

static bool is_hook_or_recovery(enum turns_event event) {
  return event == TURNS_CHAT_REQUEST || event == TURNS_TOOL_RESULT || event == TURNS_RECOVERED ||
         event == TURNS_COMMITTED;
}

static void look(struct script *script, const struct turns_input *of_step) {
  struct turns_input input = *of_step;
  input.event = TURNS_LOOK;
  if (input.answers && turns_reacts_to_urgency(&script->turns.run))
    input.urgency =
        (struct urgency){.urgent = script->urgent, .asking = script->item, .most = script->item};
  turns_look(&script->turns, &input, &script->result);
}

/* Returns word `i` of the command, which must exist. */
static const char *word_at(const struct script *script, size_t i) {
  const char *word = script->words[i];
  cr_assert(i < script->word_count && word);
  return word;
}

static void command(struct script *script) {
  bool other = !strcmp(word_at(script, 0), "other:"),
       nobody = !strcmp(word_at(script, 0), "nobody:");
  for (size_t i = 0; (other || nobody) && i < script->word_count - 1; i++)
    script->words[i] = script->words[i + 1];
  script->word_count -= other || nobody;
  bool settles = !strcmp(word_at(script, 0), "commit") || !strcmp(word_at(script, 0), "rollback");
  size_t count = read_ids(script);
  const char *delivery = settles ? word_at(script, 1) : value_of(script, "@");
  const char *words = value_of(script, "words="), *attempt = value_of(script, "attempt=");
  enum turns_event event = event_of(word_at(script, 0), count);
  bool edits = event <= TURNS_MOVE || event == TURNS_REDIRECT;
  struct turns_input input = {.event = event,
                              .now_ms = script->now_ms,
                              .settings = &script->settings,
                              .last_item = script->last_item,
                              .answers = !other && !nobody && event != TURNS_CLOSED &&
                                         !has_word(script, "silent"),
                              .owned = !nobody && event != TURNS_RECOVERED,
                              .ids = script->ids,
                              .named = script->named,
                              .named_count = edits && count ? 1
                                             : settles      ? 0
                                                            : count,
                              .steer = has_word(script, "steer"),
                              .resume = has_word(script, "resume"),
                              .to_end = count < 2,
                              .before = count < 2 ? NOT_A_MESSAGE : script->named[1],
                              .before_id = count < 2 ? span_of(NULL, 0) : script->ids[1],
                              .words = words ? span_text(words) : span_of(NULL, 0),
                              .attempt = attempt ? (uint32_t)strtoul(attempt, NULL, 10) : 0,
                              .delivery = delivery ? strtoull(delivery, NULL, 10) : 0,
                              .steered_most = SIZE_MAX,
                              .rewound = has_word(script, "rewound"),
                              .fires_at_once = has_word(script, "fires")};
  cr_assert_lt(input.delivery, MOST_DELIVERIES);
  if (count) input.id = script->ids[0];
  if (settles) input.named_count = name_row(script, input.delivery);
  script->result = (struct turns_result){0};
  script->error = new_error();
  if (!turns_step(&script->turns, &input, &script->error) && !is_hook_or_recovery(event))
    look(script, &input);
  if (!script->error.code && input.delivery && !settles) note_row(script, input.delivery);
  qsort(script->messages, script->turns.count, sizeof *script->messages, by_place);
}

static void run_command(struct script *script) {
  const char *first = word_at(script, 0);
  if (!strcmp(first, "clock")) {
    script->now_ms += strtol(word_at(script, 1), NULL, 10);
  } else if (!strcmp(first, "item")) {
    script->item = strtoull(word_at(script, 1), NULL, 10);
    if (script->item) script->last_item = script->item;
    script->urgent = has_word(script, "urgent");
  } else if (!strcmp(first, "lose")) {
    ptrdiff_t at = find(script, span_text(word_at(script, 1)));
    cr_assert_geq(at, 0);
    memmove(&script->messages[at], &script->messages[at + 1],
            (--script->turns.count - (size_t)at) * sizeof *script->messages);
  } else if (!strcmp(first, "times")) {
    script->shows_times = true;
  } else {
    command(script);
  }
}

/* -- how it stands ----------------------------------------------------------------------------- */

static const char *error_word(int code) {
  switch (code) {
  case TIDINGS_E_STATE: return "STATE";
  case TIDINGS_E_FIRED: return "FIRED";
  case TIDINGS_E_NOT_FOUND: return "NOT_FOUND";
  default: return "?";
  }
}

/* Writes `before` and the ids of the chosen messages; nothing if there are none. With `system`, the
 * id of a system turn counts as chosen too. */
static void write_ids(const struct script *script, const char *before,
                      bool (*chosen)(const struct message *), bool system, struct buffer *out) {
  struct system_id id = system_turn_id(script->turns.run.system_turns);
  bool any = system && script->turns.run.kind == TURN_OF_SYSTEM;
  if (any) buffer_format(out, "%s%s", before, id.text);
  for (size_t i = 0; i < script->turns.count; i++) {
    if (!chosen(&script->messages[i])) continue;
    buffer_format(out, "%s%.*s", any ? " " : before, SPAN_FORMAT(script->messages[i].id));
    any = true;
  }
  if (any && strchr(before, '(')) buffer_byte(out, ')');
}

static bool of_turn(const struct message *message) { return message->of_turn; }
static bool orphaned(const struct message *message) { return message->orphaned; }
static bool offered(const struct message *message) { return message->state == MESSAGE_OFFERED; }

static void write_standing(const struct script *script, struct buffer *out) {
  static const char *const phases[PHASE_COUNT] = {"", ".streaming", ".tools"};
  const struct run *run = &script->turns.run;
  buffer_format(out, "%s%s", run_state_name(run->state), phases[run->phase]);
  write_ids(script, "(", of_turn, true, out);
  if (run->settling) buffer_text(out, " settling");
  if (run->compacting) buffer_text(out, " compacting");
  write_ids(script, " orphaned(", orphaned, false, out);
  if (run->orphaned) buffer_format(out, " orphaned(%s)", system_turn_id(run->orphaned).text);
  if (run->attempt) buffer_format(out, " attempt %u", run->attempt);
  if (run->words.len) buffer_format(out, " \"%.*s\"", SPAN_FORMAT(run->words));
  for (size_t i = 0; i < script->turns.count; i++) {
    const struct message *message = &script->messages[i];
    buffer_format(out, " %.*s=%s", SPAN_FORMAT(message->id), message_state_name(message->state));
    if (script->shows_times && message->waited)
      buffer_format(out, "@%lld", (long long)(message->stamp_ms - BEGIN_MS));
    else if (script->shows_times) buffer_text(out, "@-");
  }
  if (script->result.abort) buffer_text(out, " > abort");
  if (script->result.offer) write_ids(script, " > offer ", offered, true, out);
  if (script->error.code)
    buffer_format(out, " ! %s: %s", error_word(script->error.code), script->error.text);
}

const char *played_with(const char *settings, const char *text) {
  static struct arena arena = ARENA_EMPTY;
  struct script script = {.now_ms = BEGIN_MS, .settings = settings_from(settings, &arena)};
  struct buffer standing = BUFFER_EMPTY;
  char *copy = strdup(text), *rest = copy;
  cr_assert_not_null(copy);
  script.turns.messages = script.messages;
  for (char *line; (line = strsep(&rest, ";"));) {
    script.word_count = 0;
    for (char *word; (word = strsep(&line, " "));) {
      if (!*word) continue;
      cr_assert_lt(script.word_count, MOST_WORDS);
      script.words[script.word_count++] = text_of(span_text(word));
    }
    if (script.word_count) run_command(&script);
  }
  write_standing(&script, &standing);
  const char *result = text_of(buffer_view(&standing));
  buffer_free(&standing);
  free(copy);
  arena_free(&arena);
  return result;
}

const char *played(const char *script) { return played_with("", script); }

void expect_played(const char *settings, const char *script, const char *line, int at) {
  const char *got = played_with(settings, script);
  cr_expect_str_eq(got, line, "line %d: %s\n  expected %s\n  got      %s", at, script, line, got);
}
