/* SPDX-License-Identifier: MIT
 *
 * tests/fuzz/fuzz_config.c: arbitrary bytes as a configuration. An accepted configuration
 * stays the same when it is written and read again; a refusal says why.
 */
#include "fuzz.h"

#include "common/utf8.h"
#include "config/config.h"

static void write_config(const struct settings *settings, struct buffer *out) {
  config_write(settings, out);
  MUST(!out->failed, "no memory");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
  struct arena arena = ARENA_EMPTY;
  struct buffer once = BUFFER_EMPTY, twice = BUFFER_EMPTY;
  struct settings settings, again;
  struct tidings_error error = {.size = sizeof error, .text = ""};
  int code = config_parse(span_of((const char *)data, len), &arena, &settings, &error);
  if (code) {
    MUST(error.code == code && error.text[0] && code != TIDINGS_E_NOMEM, "code %d: %s", code,
         error.text);
    MUST(utf8_valid(span_text(error.text)), "the sentence is not UTF-8");
  } else {
    write_config(&settings, &once);
    code = config_parse(buffer_view(&once), &arena, &again, &error);
    MUST(!code, "what was written is refused: %s", error.text);
    write_config(&again, &twice);
    MUST(span_equal(buffer_view(&once), buffer_view(&twice)), "it was read back as something else");
  }
  buffer_free(&once);
  buffer_free(&twice);
  arena_free(&arena);
  return 0;
}
