/* SPDX-License-Identifier: MIT
 */
#include "cli/top/listing.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "command/json_value.h"

const char *listing_order_name(enum top_order order) {
  static const char *const names[TOP_ORDER_COUNT] = {"", "by name", "by pending", "by use"};
  return names[order];
}

/* -- closed ------------------------------------------------------------------------------------ */

static bool is_over(const json_t *session) {
  return json_is_false(json_object_get(session, "alive")) &&
         json_is_null(json_object_get(session, "pid")) && !json_value_count(session, "pending") &&
         !json_value_count(session, "queued");
}

void listing_drop_closed(json_t *answer) {
  json_t *list = json_object_get(answer, "sessions");
  uint64_t total = json_value_count(answer, "total");
  for (size_t i = json_array_size(list); i-- > 0;)
    if (is_over(json_array_get(list, i)) && !json_array_remove(list, i)) total--;
  (void)json_object_set_new(answer, "total", json_integer((json_int_t)total));
}

/* -- filter ------------------------------------------------------------------------------------ */

static bool row_has(const json_t *row, const char *filter) {
  static const char *const names[] = {"session", "host",    "cwd",   "machine",
                                      "id",      "content", "level", "message"};
  const json_t *kind = json_object_get(row, "kind"), *alive = json_object_get(row, "alive");
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcasestr(json_value_text(row, names[i]), filter)) return true;
  const char *over = json_object_get(row, "closed") ? "closed" : "not running";
  const char *state = json_is_false(alive) ? over : json_value_text(row, "state");
  return strcasestr(state, filter) || strcasestr(json_value_text(kind, "source"), filter) ||
         strcasestr(json_value_text(kind, "name"), filter);
}

json_t *listing_filter(const json_t *answer, const char *member, const char *filter) {
  json_t *copy = json_copy((json_t *)(uintptr_t)answer), *list = json_array(), *row = NULL;
  size_t i = 0;
  bool failed = !copy || !list;
  json_array_foreach(json_object_get(answer, member), i, row) {
    if (!failed && (!filter[0] || row_has(row, filter))) failed = json_array_append(list, row);
  }
  if (!failed) failed = json_object_set(copy, member, list);
  json_decref(list);
  if (!failed) return copy;
  json_decref(copy);
  return NULL;
}

/* -- order ------------------------------------------------------------------------------------- */

struct place {
  json_t *row;
  size_t at;
  enum top_order order;
};

static int compare_rows(const struct place *one, const struct place *other) {
  uint64_t a, b;
  switch (one->order) {
  case TOP_BY_NAME:
    return strcmp(json_value_text(one->row, "session"), json_value_text(other->row, "session"));
  case TOP_BY_PENDING:
    a = json_value_count(one->row, "pending");
    b = json_value_count(other->row, "pending");
    return a == b ? 0 : a > b ? -1 : 1;
  case TOP_BY_USE:
    return strcmp(json_value_text(other->row, "used"), json_value_text(one->row, "used"));
  case TOP_BY_STORE:
  case TOP_ORDER_COUNT: break;
  }
  return 0;
}

static int compare_places(const void *a, const void *b) {
  const struct place *one = a, *other = b;
  int order = compare_rows(one, other);
  return order ? order : one->at < other->at ? -1 : one->at > other->at;
}

void listing_sort(json_t *sessions, enum top_order order) {
  json_t *list = json_object_get(sessions, "sessions");
  size_t count = json_array_size(list);
  struct place *places = calloc(count + 1, sizeof *places);
  if (!places) return; /* the store's order stays */
  for (size_t i = 0; i < count; i++)
    places[i] = (struct place){json_incref(json_array_get(list, i)), i, order};
  qsort(places, count, sizeof *places, compare_places);
  for (size_t i = 0; i < count; i++) (void)json_array_set_new(list, i, places[i].row);
  free(places);
}
