/* SPDX-License-Identifier: MIT
 *
 * errors.c: writes sentences for people. It must not allocate, because it also reports that memory
 * ran out.
 */
#include "errors.h"

#include <tidings/hostkit.h>

#include "common/utf8.h"

static size_t text_room(const struct tidings_error *error) {
  size_t end = TIDINGS_SIZE_TO(struct tidings_error, text);
  size_t before = offsetof(struct tidings_error, text);
  size_t size = error->size < end ? error->size : end;
  return size > before ? size - before : 0;
}

int32_t hk_error_copy(struct tidings_error *error, const struct tidings_error *from) {
  return hk_error(error, from->code, "%s", from->text);
}

void hk_error_append(struct tidings_error *error, const char *end) {
  size_t room = error ? text_room(error) : 0;
  size_t end_len = strlen(end);
  if (room <= end_len) return;
  size_t len = strnlen(error->text, room - 1);
  if (len + end_len >= room) len = utf8_prefix(span_of(error->text, len), room - 1 - end_len);
  memcpy(error->text + len, end, end_len + 1);
}

const char *hostkit_error_name(int32_t code) {
  static const char *const names[] = {
      "TIDINGS_OK",
      "TIDINGS_E_INVAL",
      "TIDINGS_E_SCHEMA",
      "TIDINGS_E_TOO_BIG",
      "TIDINGS_E_UNSUPPORTED",
      "TIDINGS_E_NOT_FOUND",
      "TIDINGS_E_FIRED",
      "TIDINGS_E_STATE",
      "TIDINGS_E_BUSY",
      "TIDINGS_E_FULL",
      "TIDINGS_E_STORE",
      "TIDINGS_E_SCHEMA_NEWER",
      "TIDINGS_E_NOMEM",
      "TIDINGS_E_CLOSED",
      "TIDINGS_E_OWNED",
      "TIDINGS_E_OUTCOME_UNKNOWN",
  };
  int32_t count = (int32_t)(sizeof names / sizeof names[0]);
  return code <= 0 && code > -count ? names[-code] : "TIDINGS_E_UNKNOWN";
}
