/* SPDX-License-Identifier: MIT
 *
 * event/facts.c: see facts.h.
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

static int read_fact_paths(const struct json *object, struct facts *facts, struct arena *arena) {
  const struct json *path = json_member(object, "path"), *list = json_member(object, "paths");
  bool is_list = list && list->kind == JSON_IS_ARRAY;
  size_t count = 0, most = 1;
  if (is_list)
    most += list->count; /* not `is_list ? list->count + 1 : 1`: gcc 14 reads a NULL list there */
  struct tidings_span *paths = arena_zalloc(arena, most, sizeof *paths);
  if (!paths) return -1;
  if (is_text(path) && arena_copy(arena, path->text, &paths[count++])) return -1;
  for (const struct json *one = is_list ? list->members : NULL; one; one = one->next) {
    if (is_text(one) && arena_copy(arena, one->text, &paths[count++])) return -1;
  }
  facts->paths = paths;
  facts->path_count = count;
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
                    *retry = json_member(object, "retry_after_ms");
  switch (note->made_by) {
  case MADE_BY_FILE_CHANGED:
    read_change(object, facts);
    return read_fact_paths(object, facts, arena);
  case MADE_BY_MCP_STATE:
    return is_text(server) && arena_copy(arena, server->text, &facts->server) ? -1 : 0;
  default:
    if (retry) (void)json_to_integer(retry, &facts->retry_after_ms);
    return 0;
  }
}

int facts_read(struct item *items, size_t count, struct arena *arena) {
  enum {
    SCRATCH_BYTES = 65536
  }; /* how much of unused memory is kept until it is freed: data can be big, and what waits
        many */
  struct arena scratch = ARENA_EMPTY;
  size_t read = 0;
  int code = 0;
  for (size_t i = 0; i < count && !code; i++) {
    if (!has_facts(&items[i].note)) continue;
    code = read_facts(&items[i].note, &scratch, arena, &items[i].facts);
    read += items[i].note.data.len;
    if (read < SCRATCH_BYTES) continue;
    arena_free(&scratch);
    read = 0;
  }
  arena_free(&scratch);
  return code;
}
