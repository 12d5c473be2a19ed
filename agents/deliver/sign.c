/* SPDX-License-Identifier: MIT
 *
 * agents/deliver/sign.c: the store's key never leaves the process, and a session's key does not
 * reveal it or the key of another session.
 */
#include "agents/deliver/sign.h"

#include <string.h>

#include "agents/transcript/marker.h"
#include "command/json_value.h"
#include "common/buffer.h"
#include "common/siphash.h"

enum { KEY_BYTES = 16, HASH_BYTES = 8 };

static bool read_key(const char *text, uint8_t ret_key[KEY_BYTES]) {
  static const char digits[] = "0123456789abcdef";
  memset(ret_key, 0, KEY_BYTES);
  for (size_t i = 0; i < 2 * (size_t)KEY_BYTES; i++) {
    const char *digit = text[i] ? strchr(digits, text[i]) : NULL;
    if (!digit) return false;
    ret_key[i / 2] = (uint8_t)(ret_key[i / 2] << 4 | (digit - digits));
  }
  return true;
}

/* Asks the store for its key, only once in a process, which has one store. */
static int32_t ask_key(struct hostkit *kit, const uint8_t **ret_key, struct tidings_error *error) {
  static uint8_t key[KEY_BYTES];
  static bool is_known;
  json_t *answer = NULL;
  if (!is_known) {
    int32_t code = kit_query(kit, json_pack("{s:s}", "name", "marker"), &answer, error);
    if (code) return code;
    is_known = read_key(json_value_text(answer, "key"), key);
    json_decref(answer);
    if (!is_known) return kit_error(error, TIDINGS_E_STORE, "the query marker answered no key");
  }
  *ret_key = key;
  return TIDINGS_OK;
}

int32_t hook_sign_ready(struct hostkit *kit, const char *session, struct tidings_error *error) {
  const uint8_t *key = NULL;
  uint8_t nonce[KEY_BYTES];
  struct buffer text = BUFFER_EMPTY;
  int32_t code = ask_key(kit, &key, error);
  if (code) return code;
  for (int half = 0; half < KEY_BYTES / HASH_BYTES; half++) {
    text.len = 0;
    buffer_byte(&text, (char)('1' + half));
    buffer_text(&text, session);
    if (text.failed) break;
    uint64_t hash = siphash(key, buffer_view(&text));
    memcpy(nonce + (size_t)half * HASH_BYTES, &hash, sizeof hash);
  }
  bool failed = text.failed;
  buffer_free(&text);
  if (failed) return kit_no_memory(error);
  hook_marker_set_key(nonce);
  return TIDINGS_OK;
}
