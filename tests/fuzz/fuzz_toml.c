/* SPDX-License-Identifier: MIT
 *
 * tests/fuzz/fuzz_toml.c: arbitrary bytes as a configuration in TOML. An accepted text is an object
 * in JSON, which the plugin takes or refuses; a refusal says why.
 */
#include "fuzz.h"

#include "command/toml.h"
#include "common/utf8.h"
#include "config/config.h"

static bool is_expected(int32_t code) {
  return code == TIDINGS_E_INVAL || code == TIDINGS_E_SCHEMA || code == TIDINGS_E_TOO_BIG;
}

/* Checks that the plugin reads the JSON to its end: it may refuse only a key or a value. */
static void expect_json(const char *json) {
  struct arena arena = ARENA_EMPTY;
  struct settings settings;
  struct tidings_error error = {.size = sizeof error, .text = ""};
  MUST(json[0] == '{', "not an object: %s", json);
  int code = config_parse(span_text(json), &arena, &settings, &error);
  MUST(!code || code == TIDINGS_E_SCHEMA || code == TIDINGS_E_TOO_BIG, "code %d: %s: %s", code,
       error.text, json);
  arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
  struct tidings_error error = {.size = sizeof error, .text = ""};
  char *json = NULL, *again = NULL;
  int32_t code = toml_to_json((const char *)data, len, &json, &error);
  if (code) {
    MUST(!json && error.code == code && error.text[0] && is_expected(code), "code %d: %s", code,
         error.text);
    return 0;
  }
  expect_json(json);
  MUST(utf8_valid(span_text(json)), "the JSON is not UTF-8");
  MUST(!toml_to_json((const char *)data, len, &again, &error) && !strcmp(json, again),
       "the same text became something else");
  free(json);
  free(again);
  return 0;
}
