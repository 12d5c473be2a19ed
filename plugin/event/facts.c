/* SPDX-License-Identifier: MIT
 *
 * event/facts.c: see facts.h.
 */
#include "event/facts.h"

#include "event/json.h"

/* Most data has none; that is found out without reading it. */
static bool may_have_facts(struct tidings_span data) {
  static const char path[] = "\"path", server[] = "\"server\"";
  if (!data.len || data.ptr[0] != '{') return false;
  return memmem(data.ptr, data.len, path, sizeof path - 1) || memmem(data.ptr, data.len, server, sizeof server - 1);
}

static bool is_text(const struct json *value) { return value && value->kind == JSON_IS_STRING && value->text.len; }

static int read_paths(const struct json *object, struct facts *facts, struct arena *arena) {
  const struct json *path = json_member(object, "path"), *list = json_member(object, "paths");
  bool is_list = list && list->kind == JSON_IS_ARRAY;
  struct tidings_span *paths = arena_zalloc(arena, is_list ? list->count + 1 : 1, sizeof *paths);
  size_t count = 0;
  if (!paths) return -1;
  if (is_text(path)) paths[count++] = path->text;
  for (const struct json *one = is_list ? list->members : NULL; one; one = one->next) {
    if (is_text(one)) paths[count++] = one->text;
  }
  facts->paths = paths;
  facts->path_count = count;
  return 0;
}

int facts_read(struct item *items, size_t count, struct arena *arena) {
  for (size_t i = 0; i < count; i++) {
    struct facts *facts = &items[i].facts;
    const struct json *object;
    if (!may_have_facts(items[i].note.data)) continue;
    int code = json_read(items[i].note.data, "data", arena, &object, NULL);
    if (code == TIDINGS_E_NOMEM) return -1;
    if (code || object->kind != JSON_IS_OBJECT) continue;
    const struct json *server = json_member(object, "server");
    if (is_text(server)) facts->server = server->text;
    if (read_paths(object, facts, arena)) return -1;
  }
  return 0;
}
