/* SPDX-License-Identifier: MIT
 *
 * agents/deliver/sign.c: see the header.
 */
#include "agents/deliver/sign.h"

#include <stdio.h>

#include "agents/transcript/marker.h"
#include "command/json_value.h"

enum { KEY_BYTES = 16 };

static bool read_key(const char *text, uint8_t ret_key[KEY_BYTES]) {
  for (int i = 0; i < KEY_BYTES; i++) {
    unsigned byte;
    if (sscanf(text + 2 * (size_t)i, "%2x", &byte) != 1) return false;
    ret_key[i] = (uint8_t)byte;
  }
  return true;
}

int32_t hook_sign_ready(struct hostkit *kit, struct tidings_error *error) {
  static bool is_ready;
  json_t *answer = NULL;
  uint8_t key[KEY_BYTES];
  if (is_ready) return TIDINGS_OK;
  int32_t code = kit_query(kit, json_pack("{s:s}", "name", "marker"), &answer, error);
  if (code) return code;
  is_ready = read_key(json_value_text(answer, "key"), key);
  json_decref(answer);
  if (!is_ready) return kit_error(error, TIDINGS_E_STORE, "the query marker answered no key");
  hook_marker_set_key(key);
  return TIDINGS_OK;
}
