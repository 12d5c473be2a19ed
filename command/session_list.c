/* SPDX-License-Identifier: MIT
 *
 * session_list.c: asks for the sessions in pages, so that each query is short.
 */
#include "command/session_list.h"

#include <stdlib.h>
#include <string.h>

#include "command/json_value.h"
#include "command/kit.h"

enum { SESSIONS_A_PAGE = 1000 };

/* Sorts sessions of living owners first, then by the latest attachment. */
static int by_owner(const void *a, const void *b) {
  const json_t *one = *(json_t *const *)a, *other = *(json_t *const *)b;
  bool alive = json_is_true(json_object_get(one, "alive"));
  int later = strcmp(json_value_text(other, "since"), json_value_text(one, "since"));
  if (alive != json_is_true(json_object_get(other, "alive"))) return alive ? -1 : 1;
  return later ? later : strcmp(json_value_text(one, "session"), json_value_text(other, "session"));
}

static json_t *in_order(json_t *sessions) {
  size_t count = json_array_size(sessions);
  json_t **list = calloc(count + 1, sizeof *list), *ordered = list ? json_array() : NULL;
  bool failed = !ordered;
  for (size_t i = 0; list && i < count; i++) list[i] = json_array_get(sessions, i);
  if (list) qsort(list, count, sizeof(json_t *), by_owner);
  for (size_t i = 0; !failed && i < count; i++) failed = json_array_append(ordered, list[i]);
  free(list);
  if (!failed) return ordered;
  json_decref(ordered);
  return NULL;
}

/* Asks for all pages, in the store's own order. */
static int32_t ask_pages(struct hostkit *kit, const json_t *request, json_t *sessions,
                         size_t *ret_count, struct tidings_error *error) {
  json_t *answer = NULL, *page;
  const char *after = "";
  int32_t code = 0;
  *ret_count = 0;
  do {
    if ((page = json_copy((json_t *)(uintptr_t)request)))
      (void)json_object_set_new(page, "after", json_string(after));
    json_decref(answer);
    answer = NULL;
    code = kit_query(kit, page, &answer, error);
    if (!code && json_array_extend(sessions, json_object_get(answer, "sessions")))
      code = kit_no_memory(error);
    after = json_value_text(answer, "next");
    ++*ret_count;
  } while (!code && after[0]);
  json_decref(answer);
  return code;
}

int32_t session_list(struct hostkit *kit, json_t *request, json_t **ret_answer,
                     struct tidings_error *error) {
  json_t *sessions = json_array();
  size_t pages = 0;
  bool good = sessions && request &&
              !json_object_set_new(request, "name", json_string("sessions")) &&
              !json_object_set_new(request, "limit", json_integer(SESSIONS_A_PAGE));
  int32_t code = good ? ask_pages(kit, request, sessions, &pages, error) : kit_no_memory(error);
  json_t *ordered = !code && pages > 1 ? in_order(sessions) : json_incref(sessions);
  if (!code && !ordered) code = kit_no_memory(error);
  json_decref(request);
  json_decref(sessions);
  if (!code)
    *ret_answer =
        json_pack("{s:I, s:O}", "total", (json_int_t)json_array_size(ordered), "sessions", ordered);
  json_decref(ordered);
  return code;
}
