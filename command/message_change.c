/* SPDX-License-Identifier: MIT
 */
#include "command/message_change.h"

#include <stdlib.h>
#include <string.h>

#include "command/ask.h"
#include "command/json_value.h"

enum { SHORTEST_ID = 8, SHORTEST_TYPED = 3, MOST_MESSAGES = 10000 };

struct message_change message_change_edit(const char *id, struct tidings_span content) {
  return (struct message_change){
      "message.edited",
      json_pack("{s:s, s:s%}", "id", id, "content", content.len ? content.ptr : "", content.len)};
}

struct message_change message_change_cancel(const char *id) {
  return (struct message_change){"message.cancelled", json_pack("{s:s}", "id", id)};
}

struct message_change message_change_move(const char *id, const char *before) {
  return (struct message_change){"message.moved",
                                 json_pack("{s:s, s:s?}", "id", id, "before", before)};
}

struct message_change message_change_redirect(const char *id, const char *delivery) {
  return (struct message_change){"message.redirected",
                                 json_pack("{s:s, s:s}", "id", id, "delivery", delivery)};
}

/* -- short ids --------------------------------------------------------------------------------- */

static size_t count_beginning(const json_t *messages, const char *text, size_t len,
                              const char **ret_id) {
  const json_t *message = NULL;
  size_t i = 0, count = 0;
  json_array_foreach(messages, i, message) {
    const char *id = json_value_text(message, "id");
    if (strncmp(id, text, len) != 0) continue;
    if (ret_id) *ret_id = id;
    if (ret_id && !id[len]) return 1; /* the text is the whole id */
    count++;
  }
  return count;
}

struct known_id {
  const char *id;
  size_t place; /* in the list */
};

static int compare_ids(const void *a, const void *b) {
  const struct known_id *one = a, *other = b;
  return strcmp(one->id, other->id);
}

static size_t common_bytes(const char *one, const char *other) {
  size_t len = 0;
  while (one[len] && one[len] == other[len]) len++;
  return len;
}

/* In the order of the ids, the longest common beginning is that with a neighbour. */
size_t *message_change_short(const json_t *messages) {
  size_t count = json_array_size(messages);
  struct known_id *ids = calloc(count + 1, sizeof *ids);
  size_t *lens = calloc(count + 1, sizeof *lens);
  for (size_t i = 0; ids && lens && i < count; i++)
    ids[i] = (struct known_id){json_value_text(json_array_get(messages, i), "id"), i};
  if (ids && lens && count) qsort(ids, count, sizeof *ids, compare_ids);
  for (size_t i = 0; ids && lens && i < count; i++) {
    size_t before = i ? common_bytes(ids[i - 1].id, ids[i].id) : 0;
    size_t after = i + 1 < count ? common_bytes(ids[i].id, ids[i + 1].id) : 0;
    size_t len = (before > after ? before : after) + 1, whole = strlen(ids[i].id);
    if (len < SHORTEST_ID) len = SHORTEST_ID;
    lens[ids[i].place] = len < whole ? len : whole;
  }
  bool failed = !ids;
  free(ids);
  if (failed) free(lens);
  return failed ? NULL : lens;
}

int message_change_find(const struct cli *cli, const json_t *messages, json_t *data,
                        const char *member) {
  const char *typed = json_value_text(data, member), *id = NULL;
  size_t len = strlen(typed);
  size_t count = len < SHORTEST_TYPED ? 0 : count_beginning(messages, typed, len, &id);
  if (count > 1) return cli_fail(cli, "'%s' is the beginning of %zu messages' ids", typed, count);
  if (count == 1 && json_object_set_new(data, member, json_string(id)))
    return cli_fail(cli, "out of memory");
  return 0;
}

int message_change_complete(const struct cli *cli, struct hostkit *kit, const char *session,
                            json_t *data) {
  json_t *answer = NULL;
  int code =
      ask(cli, kit,
          json_pack("{s:s, s:s, s:i}", "name", "queue", "session", session, "limit", MOST_MESSAGES),
          &answer);
  const json_t *messages = json_object_get(answer, "messages");
  if (!code) code = message_change_find(cli, messages, data, "id");
  if (!code) code = message_change_find(cli, messages, data, "before");
  json_decref(answer);
  return code;
}
