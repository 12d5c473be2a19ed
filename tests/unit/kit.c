/* SPDX-License-Identifier: MIT
 */
#include "kit.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "config/config.h"

uint64_t random_next(struct random *random) {
  uint64_t value = random->state += UINT64_C(0x9E3779B97F4A7C15);
  value = (value ^ value >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
  value = (value ^ value >> 27) * UINT64_C(0x94D049BB133111EB);
  return value ^ value >> 31;
}

struct settings settings_from(const char *json, struct arena *arena) {
  struct settings settings;
  struct tidings_error error = new_error();
  int code = config_parse(span_text(json), arena, &settings, &error);
  cr_assert_eq(code, 0, "%s: %s", json, error.text);
  return settings;
}

static struct arena copies = ARENA_EMPTY;

static void free_copies(void) { arena_free(&copies); }

const char *text_of(struct tidings_span span) {
  struct tidings_span copy;
  if (!copies.chunks) cr_assert_eq(atexit(free_copies), 0);
  cr_assert_eq(arena_copy(&copies, span, &copy), 0);
  return copy.ptr;
}

void expect_golden(const char *name, struct tidings_span bytes) {
  char path[512];
  (void)snprintf(path, sizeof path, "%s/%s", TIDINGS_GOLDEN_DIR, name);
  FILE *file = fopen(path, "rb");
  cr_assert_not_null(file, "%s cannot be opened", path);
  struct buffer golden = BUFFER_EMPTY;
  char chunk[4096];
  for (size_t len; (len = fread(chunk, 1, sizeof chunk, file)) > 0;)
    buffer_append(&golden, chunk, len);
  (void)fclose(file);
  cr_expect(span_equal(buffer_view(&golden), bytes), "%s\n--- expected\n%s\n--- got\n%s\n---", name,
            text_of(buffer_view(&golden)), text_of(bytes));
  buffer_free(&golden);
}
