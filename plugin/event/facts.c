/* SPDX-License-Identifier: MIT
 *
 * event/facts.c: see facts.h.
 */
#include "event/facts.h"

#include "common/json.h"

/* Most data has none; that is found out without reading it. */
static bool may_have_facts(struct tidings_span data) {
  static const char path[] = "\"path", server[] = "\"server\"";
  if (!data.len || data.ptr[0] != '{') return false;
  return memmem(data.ptr, data.len, path, sizeof path - 1) ||
         memmem(data.ptr, data.len, server, sizeof server - 1);
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

static int read_facts(struct tidings_span data, struct arena *scratch, struct arena *arena,
                      struct facts *facts) {
  const struct json *object;
  int code = json_read(data, "data", scratch, &object, NULL);
  if (code == TIDINGS_E_NOMEM) return -1;
  if (code || object->kind != JSON_IS_OBJECT) return 0;
  const struct json *server = json_member(object, "server");
  if (is_text(server) && arena_copy(arena, server->text, &facts->server)) return -1;
  return read_fact_paths(object, facts, arena);
}

int facts_read(struct item *items, size_t count, struct arena *arena) {
  enum {
    SCRATCH_BYTES = 65536
  }; /* how much of what nobody asks for is kept until it is freed: data can be big, and what waits
        many */
  struct arena scratch = ARENA_EMPTY;
  size_t read = 0;
  int code = 0;
  for (size_t i = 0; i < count && !code; i++) {
    if (!may_have_facts(items[i].note.data)) continue;
    code = read_facts(items[i].note.data, &scratch, arena, &items[i].facts);
    read += items[i].note.data.len;
    if (read < SCRATCH_BYTES) continue;
    arena_free(&scratch);
    read = 0;
  }
  arena_free(&scratch);
  return code;
}
