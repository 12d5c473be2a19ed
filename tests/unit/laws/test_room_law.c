/* SPDX-License-Identifier: MIT
 *
 * No block has more bytes than there is room for, and none has fewer lines than it could have,
 * whatever is pending and however it is configured. The plan is compared with one that renders the
 * whole block again for each line. 2,000 rounds, or as many as TIDINGS_LAWS_ROUNDS says.
 */
#include <stdio.h>
#include <stdlib.h>

#include "items.h"
#include "render/render.h"

enum { MOST_SHOWN = MOST_ITEMS, LEAST_SHOWN = 200, MESSAGE_BYTES = 1500 };

struct round {
  struct items items;
  char messages[MOST_ITEMS][MESSAGE_BYTES];
  struct settings settings;
  struct render_input frame;
  long number;
};

#define LAW(round, holds, law, i)                                                                  \
  cr_assert(holds, "round %ld, format %u: %s, %zu", (round)->number,                               \
            (unsigned)(round)->settings.format, law, (size_t)(i))

/* -- what is pushed ---------------------------------------------------------------------------- */

static void write_message(struct random *random, char *to) {
  static const char *const pieces[] = {
      "word ", "<system-reminder>", "& ",    "\n",  "\n    ", "\xC3\xA9", "\x01",
      "\"",    "\xFF\xFE",          "---\n", "```", "\t",     "- ",       "**Error:**"};
  size_t lengths[] = {4, 30, 200, 240, MESSAGE_BYTES - 40};
  size_t len = 1 + random_below(random, lengths[random_below(random, 5)]), at = 0;
  bool plain = random_below(random, 2);
  to[at++] = 'b'; /* a cut never ends after an empty line */
  while (at < len) {
    const char *piece = pieces[plain ? 0 : random_below(random, sizeof pieces / sizeof *pieces)];
    at += (size_t)snprintf(to + at, MESSAGE_BYTES - at, "%s", piece);
  }
}

static void push_items(struct random *random, struct round *round) {
  static const char *const sources[] = {"a", "b<", "a \"long\" name of a source"};
  size_t count = 1 + random_below(random, random_below(random, 8) ? 6 : 40);
  for (size_t i = 0; i < count; i++) {
    write_message(random, round->messages[i]);
    ITEM(&round->items, .source = sources[random_below(random, 3)], .name = "n",
         .message = round->messages[i], .level = (uint8_t)random_below(random, 4),
         .pinned = random_below(random, 20) == 0);
  }
}

static void configure(struct random *random, struct round *round, struct arena *arena) {
  static const char *const orders[] = {"level", "time", "newest"};
  static const char *const places[] = {"prepend", "append"};
  static const struct tidings_span names[] = {{"", 0}, {"JP", 2}, {" a *host* & more", 16}};
  char json[256];
  (void)snprintf(json, sizeof json,
                 "{\"delivery\":{\"order\":\"%s\",\"place\":\"%s\",\"coalesce_window_ms\":%zu}}",
                 orders[random_below(random, 3)], places[random_below(random, 2)],
                 random_below(random, 2));
  round->settings = settings_from(json, arena);
  round->settings.format = (uint8_t)random_below(random, FORMAT_COUNT);
  round->frame = (struct render_input){
      .host_name = names[random_below(random, 3)],
      .nonce = random_below(random, 2) ? span_text("0123456789abcdef") : span_of(NULL, 0),
      .format = round->settings.format,
      .order = round->settings.order,
      .place = round->settings.place,
      .chat_request = random_below(random, 2)};
}

/* -- the block, rendered as a host gets it ----------------------------------------------------- */

static uint64_t bytes_of(const struct round *round, const struct line *lines, size_t count,
                         size_t deferred) {
  static struct tidings_span ids[MOST_ITEMS];
  struct arena arena = ARENA_EMPTY;
  struct render_input input = round->frame;
  const struct rendered *parts;
  size_t part_count;
  uint64_t bytes = 0;
  input.lines = lines;
  input.line_count = count;
  input.deferred = deferred;
  input.call_ids = ids;
  cr_assert_eq(render_messages(&input, &arena, &parts, &part_count), 0);
  for (size_t i = 0; i < part_count; i++) bytes += parts[i].text.len;
  arena_free(&arena);
  return bytes;
}

static void plan_in(struct round *round, const struct room *room, struct arena *arena,
                    struct plan *plan) {
  cr_assert_eq(plan_delivery_in(room, NULL, round->items.items, round->items.count,
                                &round->settings, 0, NULL, arena, plan),
               0);
}

/* -- the naive plan ---------------------------------------------------------------------------- */

/* A naive plan: all lines, uncut, in the order in which they are shown. */
struct naive {
  struct line lines[MOST_ITEMS];
  bool too_large[MOST_ITEMS], shown[MOST_ITEMS];
  size_t order[MOST_ITEMS]; /* the order of the lines that are not set aside */
  size_t count, order_count;
};

static size_t round_of(const struct naive *naive, size_t l) {
  size_t before = 0;
  for (size_t i = 0; i < l; i++)
    before += !naive->too_large[i] && naive->lines[i].level == naive->lines[l].level &&
              span_equal(naive->lines[i].item->note.source, naive->lines[l].item->note.source);
  return before;
}

static bool goes_before(const struct naive *naive, size_t a, size_t b) {
  const struct line *left = &naive->lines[a], *right = &naive->lines[b];
  bool critical = left->level == TIDINGS_LEVEL_CRITICAL;
  if (critical != (right->level == TIDINGS_LEVEL_CRITICAL)) return critical;
  if (left->pinned != right->pinned) return left->pinned;
  if (left->level != right->level) return left->level > right->level;
  if (round_of(naive, a) != round_of(naive, b)) return round_of(naive, a) < round_of(naive, b);
  return a < b;
}

static void put_in_order(struct naive *naive) {
  for (size_t l = 0; l < naive->count; l++) {
    if (naive->too_large[l]) continue;
    size_t at = naive->order_count++;
    for (; at && goes_before(naive, l, naive->order[at - 1]); at--)
      naive->order[at] = naive->order[at - 1];
    naive->order[at] = l;
  }
}

/* Is the line too long, even if it is cut after its first line or 200 bytes? */
static bool cannot_be_shown(const struct round *round, const struct naive *naive, size_t l,
                            uint64_t room) {
  struct line line = naive->lines[l];
  struct tidings_span message = line.item->note.message;
  char text[MESSAGE_BYTES + 64];
  if (bytes_of(round, &line, 1, naive->count - 1) <= room) return false;
  size_t kept = 0;
  while (kept < message.len && message.ptr[kept] != '\n' && message.ptr[kept] != '\r') kept++;
  if (line.level != TIDINGS_LEVEL_CRITICAL && kept > LEAST_SHOWN) {
    kept = LEAST_SHOWN + 3;
    while (kept && ((unsigned char)message.ptr[kept] & 0xC0) == 0x80) kept--;
  }
  char times[32] = "";
  if (line.count > 1) (void)snprintf(times, sizeof times, " (%u times)", (unsigned)line.count);
  int len = snprintf(text, sizeof text, "%.*s… (%zu more bytes)%s", (int)kept, message.ptr,
                     message.len - kept, times);
  if ((size_t)len >= line.message.len) return true;
  line.message = span_of(text, (size_t)len);
  return bytes_of(round, &line, 1, naive->count - 1) > room;
}

/* Counts the bytes of the block with the shown lines. */
static uint64_t shown_bytes(const struct round *round, const struct naive *naive) {
  struct line lines[MOST_ITEMS];
  size_t count = 0;
  for (size_t l = 0; l < naive->count; l++) {
    if (naive->shown[l]) lines[count++] = naive->lines[l];
  }
  return bytes_of(round, lines, count, naive->count - count);
}

static bool all_fit(const struct round *round, struct naive *naive, uint64_t room) {
  for (size_t i = 0; i < naive->order_count; i++) naive->shown[naive->order[i]] = true;
  bool fit = shown_bytes(round, naive) <= room;
  if (!fit) memset(naive->shown, false, sizeof naive->shown);
  return fit;
}

/* `cut`: how the plan shows the first one, if it does. */
static void choose(const struct round *round, struct naive *naive, uint64_t room,
                   const struct line *cut) {
  if (all_fit(round, naive, room)) return;
  for (size_t i = 0; i < naive->order_count; i++) {
    size_t l = naive->order[i];
    naive->shown[l] = true;
    if (shown_bytes(round, naive) <= room) continue;
    if (!i && cut) naive->lines[l].message = cut->message;
    if (!i && cut && shown_bytes(round, naive) <= room) continue;
    naive->shown[l] = false;
    return;
  }
}

/* -- comparing --------------------------------------------------------------------------------- */

static void expect_cut(const struct round *round, const struct line *line) {
  struct tidings_span whole = line->item->note.message;
  size_t kept = 0;
  while (kept < line->message.len && kept < whole.len && line->message.ptr[kept] == whole.ptr[kept])
    kept++;
  bool first_line = kept < whole.len && memchr(whole.ptr, '\n', kept + 1);
  LAW(round, first_line || (kept >= LEAST_SHOWN && line->level != TIDINGS_LEVEL_CRITICAL),
      "a cut keeps its first line or 200 bytes", kept);
  cr_assert(strstr(text_of(line->message), " more bytes)"));
}

static const struct line *find_cut(const struct plan *plan) {
  for (size_t l = 0; l < plan->line_count; l++) {
    if (plan->lines[l].shortened) return &plan->lines[l];
  }
  return NULL;
}

static void expect_plan(struct round *round, const struct naive *all, uint64_t room_bytes,
                        struct arena *arena) {
  const struct room room = {.frame = &round->frame, .bytes = room_bytes};
  struct naive naive = *all;
  struct plan plan;
  plan_in(round, &room, arena, &plan);
  LAW(round, bytes_of(round, plan.lines, plan.line_count, plan.deferred) <= room_bytes,
      "no block has more bytes than its room", room_bytes);
  LAW(round, plan.line_count + plan.deferred + plan.outdated == naive.count,
      "a line is shown, or waits, or is older than what is shown", 0);
  bool roomy = bytes_of(round, naive.lines, naive.count, 0) <= room_bytes;
  for (size_t l = 0; l < naive.count && !roomy; l++)
    naive.too_large[l] = cannot_be_shown(round, &naive, l, room_bytes);
  put_in_order(&naive);
  LAW(round, plan.too_large == naive.count - naive.order_count, "so many step aside",
      plan.too_large);
  const struct line *cut = find_cut(&plan);
  if (cut) expect_cut(round, cut);
  choose(round, &naive, room_bytes, cut);
  size_t count = 0;
  for (size_t l = 0; l < naive.count; l++) {
    if (!naive.shown[l]) continue;
    LAW(round, count < plan.line_count && plan.lines[count].item == naive.lines[l].item,
        "what has room is shown", l);
    LAW(round, span_equal(plan.lines[count].message, naive.lines[l].message),
        "and whole, if it can be", l);
    count++;
  }
  LAW(round, count == plan.line_count, "what has no room waits", count);
  LAW(round, count || !naive.order_count, "what can be shown is shown", count);
}

Test(laws, no_block_has_more_bytes_than_its_room_nor_fewer_lines_than_it_could) {
  static struct round round;
  const char *given = getenv("TIDINGS_LAWS_ROUNDS");
  long rounds = given ? strtol(given, NULL, 10) : 2000;
  struct random random = {given ? (uint64_t)rounds : 17};
  for (long number = 0; number < rounds; number++) {
    struct arena arena = ARENA_EMPTY;
    struct plan plan;
    static struct naive all;
    round = (struct round){.number = number};
    all = (struct naive){.count = 0};
    push_items(&random, &round);
    configure(&random, &round, &arena);
    plan_in(&round, NULL, &arena, &plan);
    all.count = plan.line_count;
    for (size_t l = 0; l < plan.line_count; l++) all.lines[l] = plan.lines[l];
    /* Tries rooms at and around the bytes that some lines need and that all lines need, and random
     * ones. */
    size_t some = 1 + random_below(&random, plan.line_count);
    uint64_t exact = bytes_of(&round, plan.lines, some, plan.line_count - some);
    expect_plan(&round, &all, exact, &arena);
    expect_plan(&round, &all, exact - 1, &arena);
    uint64_t whole = bytes_of(&round, plan.lines, plan.line_count, 0);
    expect_plan(&round, &all, whole, &arena);
    expect_plan(&round, &all, whole - 1, &arena);
    expect_plan(&round, &all, 1 + random_below(&random, whole), &arena);
    expect_plan(&round, &all, 1 + random_below(&random, 700), &arena);
    arena_free(&arena);
  }
}
