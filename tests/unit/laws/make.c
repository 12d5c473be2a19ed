/* SPDX-License-Identifier: MIT
 *
 * tests/unit/laws/make.c: random notifications, settings and steered messages. Texts have one line
 * or many, are short or long, and harmless or made to break out of a block.
 */
#include <stdio.h>
#include <tidings/reply.h>

#include "laws.h"
#include "render/attacks.h"
#include "render/report.h"

#define ONE_OF(random, list) (list)[random_below(random, sizeof(list) / sizeof *(list))]

static bool one_in(struct random *random, size_t count) { return random_below(random, count) == 0; }

static struct tidings_span keep(struct round *round, struct buffer *text) {
  struct tidings_span copy;
  cr_assert(!text->failed && !arena_copy(&round->arena, buffer_view(text), &copy));
  buffer_free(text);
  return copy;
}

/* -- texts ------------------------------------------------------------------------------------- */

static void write_filler(struct random *random, size_t words, struct buffer *text) {
  static const char *const filler[] = {
      "a", "of", "word", "failed", "größer", "漢字", "\xF0\x9F\x99\x82"};
  static const char *const blanks[] = {" ", " ", " ", " ", "\n", "\n    ", "\n\n  "};
  for (; words; words--) {
    buffer_text(text, ONE_OF(random, blanks));
    buffer_text(text, ONE_OF(random, filler));
  }
}

static void write_hostile(struct random *random, struct round *round, struct buffer *text) {
  buffer_span(text, hostile_text(random, &round->arena));
}

/* Puts different words at the beginning, in the middle and at the end. */
static struct tidings_span make_text(struct random *random, struct round *round, char letter,
                                     size_t number, bool *ret_clean) {
  static const size_t lengths[] = {0, 0, 3, 3, 10, 40, 150};
  struct buffer text = BUFFER_EMPTY;
  bool hostile = one_in(random, 3), one_line = one_in(random, 4);
  size_t words = ONE_OF(random, lengths);
  if (hostile && one_in(random, 2)) write_hostile(random, round, &text);
  for (const char *place = "bme"; *place; place++) {
    buffer_format(&text, "%sw%c%02zu%c", *place == 'b' ? "" : " ", letter, number, *place);
    if (*place == 'e') break;
    size_t begin = text.len;
    write_filler(random, words ? random_below(random, words) : 0, &text);
    for (size_t i = begin; one_line && i < text.len; i++)
      if (text.bytes[i] == '\n') text.bytes[i] = ' ';
    if (hostile) write_hostile(random, round, &text);
  }
  if (hostile && one_in(random, 4)) buffer_text(&text, "… (7 more bytes)");
  *ret_clean = !hostile && !one_line;
  return keep(round, &text);
}

static void make_texts(struct random *random, struct round *round) {
  static const char *const names[] = {"", "a b ", "*_", "<x>&", "`", ", and 3 more", "; created "};
  bool clean;
  for (size_t t = 0; t < MOST_TEXTS; t++)
    round->texts[t] = make_text(random, round, 'Q', t, &round->clean[t]);
  for (size_t p = 0; p < MOST_PATHS; p++) {
    struct buffer path = BUFFER_EMPTY;
    buffer_format(&path, "dir%zu/%swP%02zu-", p % 3, one_in(random, 4) ? ONE_OF(random, names) : "",
                  p);
    round->paths[p] = keep(round, &path);
  }
  round->steered_count = one_in(random, 3) ? random_below(random, MOST_STEERED + 1) : 0;
  for (size_t s = 0; s < round->steered_count; s++)
    round->steered[s] = make_text(random, round, 'S', s, &clean);
}

/* -- what is pushed ---------------------------------------------------------------------------- */

static void make_files(struct random *random, struct round *round, struct item *item) {
  size_t count = one_in(random, 4) ? 1 + random_below(random, 6) : 1;
  size_t first = random_below(random, MOST_PATHS - count + 1);
  struct report report = {.paths = &round->paths[first],
                          .path_count = count,
                          .change = (uint8_t)random_below(random, FILE_RENAMED + 1)};
  struct buffer message = BUFFER_EMPTY;
  render_report(EVENT_FILE_CHANGED, &report, SIZE_MAX, &message);
  item->note.source = span_text("file");
  item->note.name = span_text("changed");
  item->note.made_by = MADE_BY_FILE_CHANGED;
  if (random_below(random, 20)) item->note.level = TIDINGS_LEVEL_INFO;
  item->note.message = keep(round, &message);
  item->facts = (struct facts){.paths = report.paths, .path_count = count, .change = report.change};
}

static void make_state(struct random *random, struct item *item) {
  static const char *const handles[] = {"h_1", "h_2"}, *const servers[] = {"db", "github"};
  static const char *const states[] = {"disconnected", "unresponsive", "reconnected"};
  switch (random_below(random, 3)) {
  case 0:
    item->note.made_by = MADE_BY_HANDLE_STATE;
    item->note.source = span_text("tool");
    item->note.handle = span_text(ONE_OF(random, handles));
    break;
  case 1:
    item->note.made_by = MADE_BY_MCP_STATE;
    item->note.source = span_text("mcp");
    item->note.name = span_text(ONE_OF(random, states));
    item->facts.server = span_text(ONE_OF(random, servers));
    break;
  default:
    item->note.made_by = MADE_BY_RATE_LIMITED;
    item->facts.retry_after_ms = (int64_t)random_below(random, 5000);
    if (random_below(random, 2)) item->facts.provider = span_text(ONE_OF(random, servers));
    break;
  }
}

static void push_items(struct random *random, struct round *round) {
  static const char *const sources[] = {"a", "b", "c", "] <d> \"["}, *const names[] = {"n", "",
                                                                                       "x\"y"};
  size_t count = 1 + random_below(random, 40), files = random_below(random, 4);
  bool many_equal = one_in(random, 3);
  int64_t time_ms = 0;
  round->clock_jumps = one_in(random, 3);
  for (size_t i = 0; i < count; i++) {
    size_t said = random_below(random, many_equal ? 4 : MOST_TEXTS);
    time_ms = (round->clock_jumps ? 0 : time_ms) +
              (int64_t)random_below(random, round->clock_jumps ? 4000 : 200);
    ITEM(&round->items, .source = ONE_OF(random, sources), .name = ONE_OF(random, names),
         .key = one_in(random, 4) ? "k" : NULL, .caused_by = one_in(random, 8) ? "call" : NULL,
         .time_ms = time_ms, .ttl_ms = one_in(random, 8) ? 3000 : 0,
         .level = (uint8_t)random_below(random, 4), .pinned = one_in(random, 30));
    struct item *item = &round->items.items[i];
    item->note.message = round->texts[said];
    if (one_in(random, 8)) item->note.occurred_ms = 1 + (int64_t)random_below(random, 4000);
    round->text_of[i] = said;
    if (files && random_below(random, 4) < files) {
      make_files(random, round, item);
      round->text_of[i] = MOST_TEXTS;
    } else if (one_in(random, 4) && item->note.message.ptr[0] == 'w') {
      make_state(random, item); /* no sentence of ours begins with a bracket, as a head does */
    }
  }
}

/* -- how it is shown --------------------------------------------------------------------------- */

static void configure(struct random *random, struct round *round) {
  static const char *const presets[] = {"grouped", "flat", "xml", "xml-batch", "balanced", "plain"};
  static const char *const orders[] = {"level", "level", "time", "newest"};
  static const char *const overflows[] = {"defer", "defer", "drop_oldest", "drop_lowest"};
  static const char *const formats[] = {
      "markdown",        "markdown-flat", "xml",       "xml-batch",      "json",
      "system-reminder", "openai",        "anthropic", "synthetic-call", "plain"};
  char json[640];
  round->format = ONE_OF(random, formats);
  (void)snprintf(
      json, sizeof json,
      "{\"delivery\":{\"preset\":\"%s\",\"format\":\"%s\",\"order\":\"%s\",\"overflow\":"
      "\"%s\",\"max_items\":%zu,\"max_tokens\":%zu,\"coalesce_window_ms\":%zu,"
      "\"annihilate\":%s,\"age_after_ms\":%zu},\"conversation\":{\"notifications\":{\"kinds\":{"
      "\"c\":%s}}},"
      "\"limits\":{\"message_bytes\":%zu}}",
      ONE_OF(random, presets), round->format, ONE_OF(random, orders), ONE_OF(random, overflows),
      one_in(random, 2) ? 0 : random_below(random, 12),
      one_in(random, 2) ? 0 : 1 + random_below(random, 700),
      one_in(random, 3) ? 0 : random_below(random, 5000), one_in(random, 2) ? "true" : "false",
      one_in(random, 2) ? 0 : random_below(random, 5000), one_in(random, 4) ? "false" : "true",
      one_in(random, 4) ? 64 + random_below(random, 200) : 4096);
  round->settings = settings_from(json, &round->arena);
}

/* Mostly little, so that something has to wait. */
static void choose_room(struct random *random, struct round *round) {
  static const size_t rooms[] = {200, 700, 1500, 4000, 30000};
  if (one_in(random, 2)) round->room = 1 + random_below(random, ONE_OF(random, rooms));
  else if (one_in(random, 2)) round->aims_at = 1 + random_below(random, 8);
}

static void choose_frame(struct random *random, struct round *round) {
  static const char *const hosts[] = {"", "JP", " JP ", "**a\n---\n<b>"};
  static struct tidings_span ids[MOST_ITEMS];
  static const int64_t later_ms[] = {0, 0, 0, 0, 0, 90000, 8000000, 300000000};
  round->now_ms = 1000 + (int64_t)random_below(random, 5000) + ONE_OF(random, later_ms);
  round->input = (struct render_input){
      .host_name = span_text(ONE_OF(random, hosts)),
      .nonce = span_text(one_in(random, 3) ? "5f1d3c2b9a8e7061" : ""),
      .format = round->settings.format,
      .order = round->settings.order,
      .place = one_in(random, 2) ? TIDINGS_PLACE_PREPEND : TIDINGS_PLACE_APPEND,
      .chat_request = one_in(random, 2),
      .bare = one_in(random, 3),
      .now_ms = round->now_ms,
      .age_after_ms = round->settings.age_after_ms,
      .call_ids = ids,
      .steered = round->steered,
      .steered_count = round->steered_count};
  choose_room(random, round);
}

void laws_make(struct round *round, long number) {
  struct random random = {(uint64_t)number};
  *round = (struct round){.number = number, .arena = ARENA_EMPTY};
  make_texts(&random, round);
  push_items(&random, round);
  configure(&random, round);
  choose_frame(&random, round);
}
