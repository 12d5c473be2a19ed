/* SPDX-License-Identifier: MIT
 *
 * event/ids.c: what may be the id of a session or of a message.
 */
#include "base/error.h"
#include "base/utf8.h"
#include "event/event.h"

static int id_check(struct tidings_span id, const char *where, int wrong, struct tidings_error *error) {
  enum { MAX_BYTES = 255 };
  if (!id.len) return fail(error, wrong, "%s: must not be empty", where);
  if (id.len > MAX_BYTES) return fail(error, TIDINGS_E_TOO_BIG, "%s: %zu bytes are over the limit of %d", where, id.len, (int)MAX_BYTES);
  for (size_t at = 0; at < id.len;) {
    uint32_t code_point;
    size_t len = utf8_decode(id, at, &code_point);
    if (!len) return fail(error, wrong, "%s: %s is not UTF-8", where, quote(id).text);
    if (utf8_is_control(code_point))
      return fail(error, wrong, "%s: %s has the control character U+%04X", where, quote(id).text, (unsigned)code_point);
    at += len;
  }
  return 0;
}

int session_id_check(struct tidings_span session, const char *where, int wrong, struct tidings_error *error) {
  return id_check(session, where, wrong, error);
}

int message_id_check(struct tidings_span id, const char *where, int wrong, struct tidings_error *error) {
  return id_check(id, where, wrong, error);
}

bool message_id_is_system(struct tidings_span id) {
  static const char prefix[] = "tidings:";
  return id.len >= sizeof prefix - 1 && memcmp(id.ptr, prefix, sizeof prefix - 1) == 0;
}
