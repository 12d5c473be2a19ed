/* SPDX-License-Identifier: MIT
 *
 * event/ids.c: which ids a session or a message may have.
 */
#include <stdlib.h>

#include "common/error.h"
#include "common/utf8.h"
#include "event/event.h"
#include "values/run.h"

static int id_check(struct tidings_span id, const char *where, int wrong,
                    struct tidings_error *error) {
  enum { MAX_BYTES = 255 };
  if (!id.len) return fail(error, wrong, "%s: must not be empty", where);
  if (id.len > MAX_BYTES)
    return fail(error, TIDINGS_E_TOO_BIG, "%s: %zu bytes are over the limit of %d", where, id.len,
                (int)MAX_BYTES);
  for (size_t at = 0; at < id.len;) {
    uint32_t code_point;
    size_t len = utf8_decode(id, at, &code_point);
    if (!len) return fail(error, wrong, "%s: %s is not UTF-8", where, quote(id).text);
    if (utf8_is_control(code_point))
      return fail(error, wrong, "%s: %s has the control character U+%04X", where, quote(id).text,
                  (unsigned)code_point);
    at += len;
  }
  return 0;
}

int session_id_check(struct tidings_span session, const char *where, int wrong,
                     struct tidings_error *error) {
  return id_check(session, where, wrong, error);
}

int message_id_check(struct tidings_span id, const char *where, int wrong,
                     struct tidings_error *error) {
  return id_check(id, where, wrong, error);
}

static int compare_ids(const void *a, const void *b) {
  const struct tidings_span *one = a, *other = b;
  size_t len = one->len < other->len ? one->len : other->len;
  int order = len ? memcmp(one->ptr, other->ptr, len) : 0;
  return order ? order : (one->len > other->len) - (one->len < other->len);
}

const struct tidings_span *message_ids_twice(struct tidings_span *ids, size_t count) {
  if (count > 1) qsort(ids, count, sizeof *ids, compare_ids);
  for (size_t i = 1; i < count; i++) {
    if (span_equal(ids[i - 1], ids[i])) return &ids[i];
  }
  return NULL;
}

bool message_id_is_system(struct tidings_span id) {
  static const char prefix[] = SYSTEM_TURN_PREFIX;
  return id.len >= sizeof prefix - 1 && memcmp(id.ptr, prefix, sizeof prefix - 1) == 0;
}
