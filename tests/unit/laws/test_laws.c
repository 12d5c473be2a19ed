/* SPDX-License-Identifier: MIT
 *
 * What the model reads against what tidings says about it: random notifications, configurations and
 * formats. Each message has words of its own at its beginning, in its middle and at its end, and
 * what was rendered is searched for them. 5,000 rounds, or as many as TIDINGS_LAWS_ROUNDS says.
 */
#include <stdio.h>
#include <stdlib.h>

#include "items.h"
#include "render/render.h"
#include "values/event.h"

enum { MESSAGES = 24, LEAST_SHOWN = 200 };

struct round {
  struct items items;
  size_t said[MOST_ITEMS]; /* which message an item has, or which file it names */
  char messages[MESSAGES][1024], paths[MESSAGES][32];
  struct tidings_span path_spans[MESSAGES];
  struct settings settings;
  struct plan plan;
  const char *text; /* all that was rendered */
  long number;
};

#define LAW(round, holds, law, i)                                                                  \
  cr_assert(holds, "round %ld: %s, item %zu:\n%s", (round)->number, law, (size_t)(i), (round)->text)

/* -- what is pushed ---------------------------------------------------------------------------- */

static void write_messages(struct random *random, struct round *round) {
  for (size_t m = 0; m < MESSAGES; m++) {
    size_t before = random_below(random, 40), after = random_below(random, 40);
    const char *between = random_below(random, 2) ? "\n    " : " ";
    char *to = round->messages[m], *end = to + sizeof round->messages[m];
    to += snprintf(to, (size_t)(end - to), "begin%02zux", m);
    while (before--) to += snprintf(to, (size_t)(end - to), " filler");
    to += snprintf(to, (size_t)(end - to), "%smiddle%02zux", between, m);
    while (after--) to += snprintf(to, (size_t)(end - to), " filler");
    (void)snprintf(to, (size_t)(end - to), "%send%02zux", between, m);
    (void)snprintf(round->paths[m], sizeof *round->paths, "dir%zu/file%02zux", m % 3, m);
    round->path_spans[m] = span_text(round->paths[m]);
  }
}

static void make_file(struct random *random, struct round *round, size_t i, size_t said) {
  struct item *item = &round->items.items[i];
  item->note.source = span_text("file");
  item->note.name = span_text("changed");
  item->note.made_by = MADE_BY_FILE_CHANGED;
  item->note.level = TIDINGS_LEVEL_INFO;
  item->note.message = round->path_spans[said];
  item->facts = (struct facts){.paths = &round->path_spans[said],
                               .path_count = 1,
                               .change = (uint8_t)random_below(random, FILE_RENAMED + 1)};
}

static void push_items(struct random *random, struct round *round) {
  static const char *const sources[] = {"a", "b", "c"}, *const handles[] = {"h_1", "h_2"};
  size_t count = 1 + random_below(random, 40), files = random_below(random, 3);
  for (size_t i = 0; i < count; i++) {
    size_t said = round->said[i] = random_below(random, MESSAGES);
    ITEM(&round->items, .source = sources[random_below(random, 3)], .name = "n",
         .message = round->messages[said], .key = random_below(random, 4) ? NULL : "k",
         .caused_by = random_below(random, 8) ? NULL : "call",
         .time_ms = (int64_t)random_below(random, 4000),
         .ttl_ms = random_below(random, 8) ? 0 : 3000, .level = (uint8_t)random_below(random, 4));
    if (files && random_below(random, 3) < files) {
      make_file(random, round, i, said);
    } else if (random_below(random, 4) == 0) {
      round->items.items[i].note.made_by = MADE_BY_HANDLE_STATE;
      round->items.items[i].note.handle = span_text(handles[random_below(random, 2)]);
    }
  }
}

static void configure(struct random *random, struct round *round, struct arena *arena) {
  static const char *const presets[] = {"xml", "xml-batch", "balanced", "plain"};
  static const char *const orders[] = {"level", "time", "newest"};
  static const char *const overflows[] = {"defer", "drop_oldest", "drop_lowest"};
  static const char *const formats[] = {
      "markdown",        "markdown-flat", "xml",       "xml-batch",      "json",
      "system-reminder", "openai",        "anthropic", "synthetic-call", "plain"};
  char json[512];
  (void)snprintf(json, sizeof json,
                 "{\"delivery\":{\"preset\":\"%s\",\"format\":\"%s\",\"order\":\"%s\",\"overflow\":"
                 "\"%s\",\"max_items\":%zu,\"max_tokens\":%zu,\"coalesce_window_ms\":%zu,"
                 "\"annihilate\":%s},\"conversation\":{\"notifications\":{\"kinds\":{\"c\":%s}}}}",
                 presets[random_below(random, 4)], formats[random_below(random, 10)],
                 orders[random_below(random, 3)], overflows[random_below(random, 3)],
                 random_below(random, 12), random_below(random, 3) ? random_below(random, 500) : 0,
                 random_below(random, 3) ? random_below(random, 4000) : 0,
                 random_below(random, 2) ? "true" : "false",
                 random_below(random, 4) ? "true" : "false");
  round->settings = settings_from(json, arena);
}

static void show(struct round *round, struct arena *arena) {
  static struct tidings_span ids[MOST_ITEMS];
  const struct rendered *messages;
  struct buffer all = BUFFER_EMPTY;
  size_t count;
  struct render_input input = {.lines = round->plan.lines,
                               .line_count = round->plan.line_count,
                               .deferred = round->plan.deferred,
                               .format = round->settings.format,
                               .order = round->settings.order,
                               .place = round->settings.place,
                               .bare = round->number % 2,
                               .now_ms = 100000,
                               .age_after_ms = round->settings.age_after_ms,
                               .call_ids = ids};
  cr_assert_eq(render_messages(&input, arena, &messages, &count), 0);
  for (size_t i = 0; i < count; i++) buffer_span(&all, messages[i].text);
  struct tidings_span copy;
  buffer_byte(&all, '\0');
  cr_assert_eq(arena_copy(arena, buffer_view(&all), &copy), 0);
  round->text = copy.ptr;
  buffer_free(&all);
}

/* -- what became of it ------------------------------------------------------------------------- */

static const struct fate *fate_of(const struct round *round, size_t i) {
  for (size_t f = 0; f < round->plan.fate_count; f++) {
    if (round->plan.fates[f].n == round->items.items[i].n) return &round->plan.fates[f];
  }
  return NULL;
}

static const struct notification *note_of(const struct round *round, size_t i) {
  return &round->items.items[i].note;
}

static bool is_delivered(const struct round *round, size_t i) {
  return fate_of(round, i) && fate_of(round, i)->outcome == OUTCOME_DELIVERED;
}

static bool is_file(const struct round *round, size_t i) {
  return note_of(round, i)->made_by == MADE_BY_FILE_CHANGED;
}

/* A report of an edit stays unseen until no watcher can follow. */
static bool is_pending(const struct round *round, size_t i) {
  return !fate_of(round, i) && !(is_file(round, i) && note_of(round, i)->caused_by.len);
}

static bool reads(const struct round *round, const char *word, size_t number) {
  char text[32];
  (void)snprintf(text, sizeof text, "%s%02zux", word, number);
  return strstr(round->text, text) != NULL;
}

static bool says_the_same(const struct round *round, size_t i, size_t j) {
  return is_file(round, i) == is_file(round, j) && round->said[i] == round->said[j];
}

static bool is_said_by_another(const struct round *round, size_t i) {
  for (size_t j = 0; j < round->items.count; j++) {
    if (is_delivered(round, j) && says_the_same(round, i, j)) return true;
  }
  return false;
}

/* -- L1: delivered means shown ----------------------------------------------------------------- */

static void expect_cut(const struct round *round, size_t i) {
  const char *message = round->messages[round->said[i]];
  char least[1024];
  size_t len = strcspn(message, "\n");
  bool whole_line = note_of(round, i)->level == TIDINGS_LEVEL_CRITICAL || len < LEAST_SHOWN;
  if (!whole_line) len = LEAST_SHOWN;
  memcpy(least, message, len);
  least[len] = '\0';
  LAW(round, strstr(round->text, least), "a cut shows its first line or 200 bytes", i);
  LAW(round, strstr(round->text, " more bytes)"), "a cut is visible", i);
}

static void expect_shown(const struct round *round, size_t i) {
  const struct fate *fate = fate_of(round, i);
  size_t said = round->said[i];
  if (fate->reason == REASON_COUNTED) {
    LAW(round, is_file(round, i), "only files are counted", i);
    LAW(round, strstr(round->text, ", and "), "what is counted has a number", i);
  } else if (is_file(round, i)) {
    LAW(round, reads(round, "file", said), "a file that is delivered is named", i);
  } else if (fate->reason == REASON_SHORTENED) {
    expect_cut(round, i);
  } else {
    LAW(round,
        reads(round, "begin", said) && reads(round, "middle", said) && reads(round, "end", said),
        "what is delivered is shown", i);
  }
}

static void expect_delivered_is_shown(const struct round *round) {
  for (size_t i = 0; i < round->items.count; i++) {
    if (is_delivered(round, i)) expect_shown(round, i);
    else if (!is_said_by_another(round, i))
      LAW(round, !reads(round, is_file(round, i) ? "file" : "begin", round->said[i]),
          "what is not delivered is not shown", i);
  }
}

/* -- L2: nothing is invented ------------------------------------------------------------------- */

static void expect_no_joining(const struct round *round) {
  for (size_t l = 0; l < round->plan.line_count; l++) {
    struct tidings_span message = round->plan.lines[l].message;
    size_t begins = 0, files = 0;
    for (size_t at = 0; at + 5 < message.len; at++) {
      begins += memcmp(message.ptr + at, "begin", 5) == 0;
      files += memcmp(message.ptr + at, "/file", 5) == 0;
    }
    LAW(round, begins ? begins == 1 && !files : files > 0, "a line says one thing", l);
  }
}

/* -- L3: critical first ------------------------------------------------------------------------ */

static void expect_critical_stays(const struct round *round, size_t i) {
  const struct fate *fate = fate_of(round, i);
  if (note_of(round, i)->level != TIDINGS_LEVEL_CRITICAL || !fate) return;
  LAW(round, fate->outcome != OUTCOME_DROPPED && fate->outcome != OUTCOME_WITHDRAWN,
      "a critical is neither dropped nor withdrawn", i);
  if (fate->outcome != OUTCOME_SUPERSEDED) return;
  for (size_t j = 0; j < round->items.count; j++) {
    if (round->items.items[j].n == fate->ref)
      LAW(round, note_of(round, j)->level == TIDINGS_LEVEL_CRITICAL, "a critical gives way", i);
  }
}

static void expect_order(const struct round *round) {
  const struct line *lines = round->plan.lines;
  for (size_t l = 0; l < round->plan.line_count; l++) {
    if (l && round->settings.order == ORDER_LEVEL)
      LAW(round, lines[l - 1].level >= lines[l].level, "what is more important comes first", l);
    for (size_t i = 0; i < round->items.count; i++) {
      if (is_pending(round, i))
        LAW(round, note_of(round, i)->level <= lines[l].level, "it waits for what is less", i);
    }
  }
  for (size_t i = 0; i < round->items.count; i++) expect_critical_stays(round, i);
}

/* -- L4: the newest state stands --------------------------------------------------------------- */

static void expect_newest_state(const struct round *round) {
  for (size_t i = 0; i < round->items.count; i++) {
    const struct notification *old = note_of(round, i);
    if (old->made_by != MADE_BY_HANDLE_STATE || old->level == TIDINGS_LEVEL_CRITICAL ||
        !(is_delivered(round, i) || is_pending(round, i)))
      continue;
    for (size_t j = i + 1; j < round->items.count; j++) {
      const struct notification *new = note_of(round, j);
      bool stands = is_delivered(round, j) || is_pending(round, j);
      bool same = new->made_by == old->made_by &&span_equal(new->handle, old->handle) &&
                  span_equal(new->source, old->source);
      LAW(round, !(same && stands), "an older state beside a newer one", i);
    }
  }
}

/* -- L5: one unit ------------------------------------------------------------------------------ */

static size_t number_after(const struct round *round, const char *words) {
  const char *at = strstr(round->text, words);
  return at ? strtoul(at + strlen(words), NULL, 10) : 0;
}

static void expect_one_unit(const struct round *round, struct arena *arena) {
  struct settings roomy = round->settings;
  struct plan all;
  if (!round->plan.line_count || roomy.overflow != OVERFLOW_DEFER) return;
  roomy.max_items = roomy.max_tokens = 0;
  cr_assert_eq(
      plan_delivery(round->items.items, round->items.count, &roomy, 3500, NULL, arena, &all), 0);
  size_t waiting = all.line_count - round->plan.line_count;
  bool json = round->settings.format == FORMAT_JSON;
  size_t said = 0;
  const char *words = strstr(round->text, " more notification");
  if (json) said = number_after(round, "\"pending\": ");
  else if (words) {
    while (words[-1] != '(') words--;
    said = strtoul(words, NULL, 10);
  }
  LAW(round, said == waiting, "as many lines wait as it says", waiting);
  if (round->settings.format != FORMAT_XML_BATCH || !waiting) return;
  LAW(round, number_after(round, "showing=\"") == round->plan.line_count, "showing", waiting);
  LAW(round, number_after(round, "total=\"") == all.line_count, "total", waiting);
}

Test(laws, what_tidings_says_is_what_the_model_reads) {
  static struct round round;
  const char *given = getenv("TIDINGS_LAWS_ROUNDS");
  long rounds = given ? strtol(given, NULL, 10) : 5000;
  struct random random = {given ? (uint64_t)rounds : 7};
  size_t seen[REASON_COUNT] = {0};
  for (long number = 0; number < rounds; number++) {
    struct arena arena = ARENA_EMPTY;
    round = (struct round){.number = number};
    write_messages(&random, &round);
    push_items(&random, &round);
    configure(&random, &round, &arena);
    cr_assert_eq(plan_delivery(round.items.items, round.items.count, &round.settings, 3500, NULL,
                               &arena, &round.plan),
                 0);
    show(&round, &arena);
    expect_delivered_is_shown(&round);
    expect_no_joining(&round);
    expect_order(&round);
    expect_newest_state(&round);
    expect_one_unit(&round, &arena);
    for (size_t f = 0; f < round.plan.fate_count; f++) seen[round.plan.fates[f].reason]++;
    arena_free(&arena);
  }
  cr_expect(seen[REASON_SHORTENED] && seen[REASON_COUNTED] && seen[REASON_NEWER_STATE] &&
            seen[REASON_OPPOSITE] && seen[REASON_CAP_OLDEST] && seen[REASON_CAP_LOWEST]);
}
