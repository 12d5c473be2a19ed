/* SPDX-License-Identifier: MIT
 *
 * open/salvage.c: compares what `salvage` brings back from damaged stores with what was stored. It
 * must bring back every notification whose leaf, and whose pages of a large text, are intact. The
 * new store is sound, opens, and hands out only what was pushed. This test has its own reader of
 * pages.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "open/damaging.h"

/* The place of a token's record: its leaf, and, if its value is large, the pages of the value. */
struct place {
  uint64_t token;
  size_t leaf, first, pages;
};

enum { PLACES_MAX = 16384 };

struct salvaging {
  struct damaging damaging; /* first */
  const struct tidings_store *extension;
  char to[FOLDER_PATH_MAX];
  struct place places[PLACES_MAX];
  size_t count;
  struct {
    _Atomic(uint64_t) intact, back, lost;
  } * counted; /* shared with the children */
};

/* -- where the records are --------------------------------------------------------------------- */

static uint64_t number_at(const uint8_t *at, size_t bytes) {
  uint64_t number = 0;
  memcpy(&number, at, bytes); /* LMDB's pages have this machine's byte order */
  return number;
}

/* Returns the token in a notification's record; 0: there is none, or it was settled before. */
static uint64_t token_in(const uint8_t *value, size_t len) {
  char text[TOKEN_TEXT_MAX];
  const uint8_t *at = memmem(value, len, "token ", 6);
  if (!at || len - (size_t)(at - value) < 27) return 0;
  uint64_t token = strtoull((const char *)at + 6, NULL, 10);
  size_t length = token_text(token, text);
  bool whole = length <= len - (size_t)(at - value) && memcmp(at, text, length) == 0;
  return whole && token <= FILLED_TOKENS ? token : 0;
}

static void note_node(struct salvaging *salvaging, size_t leaf, const uint8_t *node) {
  enum { KEY = 13, KIND_AT = 8 + 4, NOTIFICATION = 4, HEAD = 16 };
  const struct damaging *all = &salvaging->damaging;
  size_t len = (size_t)number_at(node, 4);
  const uint8_t *value = node + 8 + KEY;
  struct place place = {.leaf = leaf};
  if (number_at(node + 6, 2) != KEY || node[KIND_AT] != NOTIFICATION) return;
  if (number_at(node + 4, 2) == 1) {
    place.first = (size_t)number_at(value, 8);
    place.pages = (HEAD + len - 1) / PAGE + 1;
    if ((place.first + place.pages) * PAGE > all->length) return;
    value = all->bytes + place.first * PAGE + HEAD;
  } else if (len > (size_t)(all->bytes + (leaf + 1) * PAGE - value)) {
    return;
  }
  place.token = token_in(value, len);
  if (!place.token) return;
  if (salvaging->count == PLACES_MAX) die("the store has too many records");
  salvaging->places[salvaging->count++] = place;
}

static void find_places(struct salvaging *salvaging) {
  const struct damaging *all = &salvaging->damaging;
  uint8_t seen[FILLED_TOKENS + 1] = {0};
  for (size_t page = 2; page < all->length / PAGE; page++) {
    const uint8_t *bytes = all->bytes + page * PAGE;
    size_t end = (size_t)number_at(bytes + 12, 2);
    if (number_at(bytes, 8) != page || number_at(bytes + 10, 2) != 2) continue;
    for (size_t at = 16; at + 2 <= end && end <= PAGE; at += 2) {
      size_t node = (size_t)number_at(bytes + at, 2);
      if (node + 8 + 13 + 8 <= PAGE) note_node(salvaging, page, bytes + node);
    }
  }
  for (size_t i = 0; i < salvaging->count; i++) seen[salvaging->places[i].token] = 1;
  for (unsigned token = 1; token <= FILLED_TOKENS; token++)
    if (!seen[token]) die("token %u is not found in the store's pages", token);
}

static bool is_intact(const struct damaging *all, const struct place *place, const uint8_t *bytes) {
  return memcmp(bytes + place->leaf * PAGE, all->bytes + place->leaf * PAGE, PAGE) == 0 &&
         memcmp(bytes + place->first * PAGE, all->bytes + place->first * PAGE,
                place->pages * PAGE) == 0;
}

/* -- one store --------------------------------------------------------------------------------- */

static struct tidings_span span_of_text(const char *text) {
  return (struct tidings_span){text, strlen(text)};
}

/* True: the store is sound. */
static bool check(const struct salvaging *salvaging, const char *store, uint64_t number) {
  const struct tidings_store_request request = {.size = sizeof request,
                                                .from = span_of_text(store)};
  const struct tidings_answer *answer = NULL;
  struct tidings_error error = RIG_ERROR;
  int32_t code = salvaging->extension->check(&request, &answer, &error);
  if (code) {
    fail("store %" PRIu64 ": check: %s", number, rig_why(code, &error));
    return false;
  }
  bool sound = memmem(answer->json.ptr, answer->json.len, "\"sound\":true", 12);
  salvaging->extension->release_answer(answer);
  return sound;
}

static bool salvage(const struct salvaging *salvaging, uint64_t number) {
  const struct tidings_store_request request = {.size = sizeof request,
                                                .flags = TIDINGS_STORE_ALSO_STALE,
                                                .from = span_of_text(salvaging->damaging.store),
                                                .to = span_of_text(salvaging->to)};
  const struct tidings_answer *answer = NULL;
  struct tidings_error error = RIG_ERROR;
  int32_t code = salvaging->extension->salvage(&request, &answer, &error);
  salvaging->extension->release_answer(answer);
  if (code) fail("store %" PRIu64 ": salvage: %s", number, rig_why(code, &error));
  return !code;
}

static void drain(struct rig *rig, const char *session, uint8_t *seen, uint64_t number) {
  struct carried carried = {0};
  struct tidings_error error = RIG_ERROR;
  int32_t code = rig_deliver(rig, session, RIG_TOOL_RESULT, &carried, &error);
  if (code) fail("store %" PRIu64 ": %s: %s", number, session, rig_why(code, &error));
  if (carried.damaged) fail("store %" PRIu64 ": nobody pushed \"%s\"", number, carried.sample);
  for (size_t i = 0; i < carried.tokens.count; i++)
    if (carried.tokens.at[i] <= FILLED_TOKENS) seen[carried.tokens.at[i]]++;
  if (carried.delivery) (void)rig_settle(rig, carried.delivery, TIDINGS_COMMITTED, &error);
  carried_clear(&carried);
}

/* Drains all sessions. Sessions whose names were lost have names that salvage made. */
static void drain_all(struct salvaging *salvaging, uint8_t *seen, uint64_t number) {
  struct rig *rig = &salvaging->damaging.rig;
  struct tidings_error error = RIG_ERROR;
  char session[32];
  int32_t code = rig_open(rig, &(struct rig_open){.store = salvaging->to}, &error);
  if (code) {
    fail("store %" PRIu64 ": what was salvaged does not open: %s", number, rig_why(code, &error));
    return;
  }
  static const char member[] = "\"session\":\"";
  char *json = NULL;
  code = rig_query(rig, "{\"name\":\"sessions\"}", &json, &error);
  if (code) fail("store %" PRIu64 ": sessions: %s", number, rig_why(code, &error));
  for (char *at = json; !code && (at = strstr(at, member));) {
    at += strlen(member);
    snprintf(session, sizeof session, "%.*s", (int)strcspn(at, "\""), at);
    drain(rig, session, seen, number);
  }
  free(json);
  if (rig_close(rig, &error)) fail("store %" PRIu64 ": close: %s", number, error.text);
}

static void compare(struct salvaging *salvaging, const uint8_t *bytes, const uint8_t *seen,
                    uint64_t number) {
  uint8_t expected[FILLED_TOKENS + 1] = {0};
  for (size_t i = 0; i < salvaging->count; i++) {
    const struct place *place = &salvaging->places[i];
    if (is_intact(&salvaging->damaging, place, bytes)) expected[place->token] = 1;
  }
  for (unsigned token = 1; token <= FILLED_TOKENS; token++) {
    if (seen[token] > 1)
      fail("store %" PRIu64 ": token %u comes %u times", number, token, seen[token]);
    if (expected[token] && !seen[token])
      fail("store %" PRIu64 ": token %u does not come, and its leaf is intact", number, token);
    atomic_fetch_add(&salvaging->counted->intact, expected[token]);
    atomic_fetch_add(&salvaging->counted->back, seen[token] != 0);
    atomic_fetch_add(&salvaging->counted->lost, seen[token] == 0);
  }
}

static void salvage_one(struct damaging *damaging, uint64_t number) {
  struct salvaging *salvaging = (struct salvaging *)(void *)damaging;
  struct random random = random_seeded(damaging->seed, number);
  uint8_t seen[FILLED_TOKENS + 1] = {0};
  uint8_t *bytes = malloc(damaging->length);
  if (!bytes) die("out of memory");
  memcpy(bytes, damaging->bytes, damaging->length);
  for (uint64_t times = 1 + random_below(&random, 3); times; times--)
    damaging_spoil(damaging, bytes, damaging_used_pages(damaging), &random);
  file_write(damaging->data, bytes, damaging->length);
  folder_remove(salvaging->to);
  (void)check(salvaging, damaging->store, number);
  if (salvage(salvaging, number)) {
    if (!check(salvaging, salvaging->to, number))
      fail("store %" PRIu64 ": what was salvaged is not sound", number);
    drain_all(salvaging, seen, number);
    compare(salvaging, bytes, seen, number);
  }
  free(bytes);
}

void part_salvage(const struct arguments *arguments, const char *folder) {
  static struct salvaging salvaging;
  /* A copy here takes as long as ten in other parts, so a run of all parts has fewer copies. */
  uint64_t count = arguments->part ? arguments->count : arguments->count / 8;
  struct damaging *damaging = &salvaging.damaging;
  damaging_begin(damaging, arguments, folder, "salvage");
  salvaging.extension = damaging->rig.entry->get_extension(TIDINGS_EXT_STORE);
  if (!salvaging.extension) die("the plugin has no %s", TIDINGS_EXT_STORE);
  folder_join(salvaging.to, folder, "salvaged");
  salvaging.counted = mmap(NULL, sizeof *salvaging.counted, PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (salvaging.counted == MAP_FAILED) die("no shared memory");
  find_places(&salvaging);
  folder_copy(damaging->original, damaging->store);
  damaging_run(damaging, count, salvage_one);
  if (damaging->killed) fail("%" PRIu64 " processes were killed", damaging->killed);
  if (!atomic_load(&salvaging.counted->lost))
    fail("nothing was lost: the test does not damage where it matters");
  printf("of the notifications of %" PRIu64 " damaged stores: %" PRIu64
         " in intact leaves, %" PRIu64 " back, %" PRIu64 " lost, %" PRIu64 " processes killed\n",
         count, atomic_load(&salvaging.counted->intact), atomic_load(&salvaging.counted->back),
         atomic_load(&salvaging.counted->lost), damaging->killed);
  result(arguments, "salvage", count, damaging_violations(damaging),
         "\"intact\":%" PRIu64 ",\"back\":%" PRIu64 ",\"killed\":%" PRIu64,
         atomic_load(&salvaging.counted->intact), atomic_load(&salvaging.counted->back),
         damaging->killed);
  folder_remove(salvaging.to);
  munmap(salvaging.counted, sizeof *salvaging.counted);
  damaging_end(damaging, NULL, 0);
}
