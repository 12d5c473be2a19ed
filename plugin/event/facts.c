/* SPDX-License-Identifier: MIT
 */
#include "event/facts.h"

#include "common/json.h"
#include "values/event.h"

/* Only a report's data means something; any process may put a `path` into a notification's. */
static bool has_facts(const struct notification *note) {
  return note->made_by == MADE_BY_FILE_CHANGED || note->made_by == MADE_BY_MCP_STATE ||
         note->made_by == MADE_BY_RATE_LIMITED;
}

static bool is_text(const struct json *value) {
  return value && value->kind == JSON_IS_STRING && value->text.len;
}

/* The first member of a list. NULL: this is no list. */
static const struct json *first_member(const struct json *list) {
  return list && list->kind == JSON_IS_ARRAY ? list->members : NULL;
}

static int add_path(const struct json *path, const struct json *stamp, struct tidings_span *paths,
                    struct tidings_span *stamps, struct facts *facts, struct arena *arena) {
  size_t at = facts->path_count;
  if (!is_text(path)) return 0;
  if (arena_copy(arena, path->text, &paths[at])) return -1;
  facts->path_count++;
  if (!is_text(stamp)) return 0;
  facts->stamps = stamps;
  return arena_copy(arena, stamp->text, &stamps[at]);
}

static int read_fact_paths(const struct json *object, struct facts *facts, struct arena *arena) {
  const struct json *list = json_member(object, "paths");
  const struct json *stamp = first_member(json_member(object, "stamps"));
  size_t most = 1;
  if (first_member(list)) most += list->count;
  struct tidings_span *paths = arena_zalloc(arena, most, sizeof *paths);
  struct tidings_span *stamps = arena_zalloc(arena, most, sizeof *stamps);
  if (!paths || !stamps) return -1;
  facts->paths = paths;
  int code = add_path(json_member(object, "path"), json_member(object, "stamp"), paths, stamps,
                      facts, arena);
  for (const struct json *one = first_member(list); one && !code; one = one->next) {
    code = add_path(one, stamp, paths, stamps, facts, arena);
    if (stamp) stamp = stamp->next;
  }
  return code;
}

/* Edited paths are in the same order as all paths. */
static int read_edited(const struct json *object, struct facts *facts, struct arena *arena) {
  const struct json *one = first_member(json_member(object, "edited"));
  if (!one) return 0;
  bool *edited = arena_zalloc(arena, facts->path_count + 1, sizeof *edited);
  if (!edited) return -1;
  for (size_t i = 0; one && i < facts->path_count; i++) {
    edited[i] = is_text(one) && span_equal(one->text, facts->paths[i]);
    if (edited[i]) one = one->next;
  }
  facts->edited = edited;
  return 0;
}

static void read_change(const struct json *object, struct facts *facts) {
  static const char *const changes[] = {"modified", "created", "deleted", "renamed"};
  const struct json *change = json_member(object, "change");
  facts->change = FILE_MODIFIED;
  for (uint8_t i = 0; is_text(change) && i < sizeof changes / sizeof *changes; i++) {
    if (span_is(change->text, changes[i])) facts->change = i;
  }
}

static int read_facts(const struct notification *note, struct arena *scratch, struct arena *arena,
                      struct facts *facts) {
  const struct json *object;
  int code = json_read(note->data, "data", scratch, &object, NULL);
  if (code == TIDINGS_E_NOMEM) return -1;
  if (code || object->kind != JSON_IS_OBJECT) return 0;
  const struct json *server = json_member(object, "server"),
                    *provider = json_member(object, "provider"),
                    *retry = json_member(object, "retry_after_ms");
  switch (note->made_by) {
  case MADE_BY_FILE_CHANGED:
    read_change(object, facts);
    return read_fact_paths(object, facts, arena) || read_edited(object, facts, arena) ? -1 : 0;
  case MADE_BY_MCP_STATE:
    return is_text(server) && arena_copy(arena, server->text, &facts->server) ? -1 : 0;
  default:
    if (retry) (void)json_to_integer(retry, &facts->retry_after_ms);
    return is_text(provider) && arena_copy(arena, provider->text, &facts->provider) ? -1 : 0;
  }
}

int facts_read(struct item *items, size_t count, struct arena *arena) {
  enum {
    SCRATCH_BYTES = 65536
  }; /* this much unused memory is kept before it is freed: data can be big, and many items wait */
  struct arena scratch = ARENA_EMPTY;
  size_t read = 0;
  int code = 0;
  for (size_t i = 0; i < count && !code; i++) {
    if (!has_facts(&items[i].note)) continue;
    items[i].facts = (struct facts){.path_count = 0}; /* not those of an earlier call */
    code = read_facts(&items[i].note, &scratch, arena, &items[i].facts);
    read += items[i].note.data.len;
    if (read < SCRATCH_BYTES) continue;
    arena_free(&scratch);
    read = 0;
  }
  arena_free(&scratch);
  return code;
}
