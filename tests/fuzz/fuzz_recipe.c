/* SPDX-License-Identifier: MIT
 *
 * tests/fuzz/fuzz_recipe.c: arbitrary bytes as a recipe and a document, with a NUL between them. An
 * accepted recipe can be applied to any document, and gives the same result each time; a refusal
 * says why.
 */
#include "fuzz.h"

#include <string.h>

#include "common/span.h"
#include "common/utf8.h"
#include "recipes/recipe.h"

static bool is_expected(int32_t code) {
  return code == TIDINGS_E_INVAL || code == TIDINGS_E_SCHEMA || code == TIDINGS_E_TOO_BIG;
}

static void expect_push(const struct recipe_push *push) {
  MUST(push->text.len || !push->text.ptr || push->kind.len, "neither a text nor a kind");
  MUST(push->ttl_ms >= 0, "ttl %lld", (long long)push->ttl_ms);
  MUST(utf8_valid(push->text) && utf8_valid(push->kind) && utf8_valid(push->id), "not UTF-8");
}

static size_t apply(const struct recipe *recipe, const struct json *root) {
  static const struct recipe_header headers[] = {{{"x-event", 7}, {"ping", 4}}};
  const struct recipe_document document = {.root = root, .headers = headers, .header_count = 1};
  struct arena arena = ARENA_EMPTY;
  struct recipe_push *pushes = NULL;
  size_t count = 0;
  bool fits = false;
  MUST(!recipe_apply(recipe, &document, &arena, &pushes, &count, &fits), "out of memory");
  MUST(fits || !count, "%zu pushes of no rule", count);
  for (size_t i = 0; i < count; i++) expect_push(&pushes[i]);
  arena_free(&arena);
  return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
  static const struct json_rules rules = {
      .max_depth = 64, .nul = true, .halves = true, .repeats = true, .large = true};
  struct tidings_error error = {.size = sizeof error, .text = ""};
  const char *text = (const char *)data, *cut = len ? memchr(text, '\0', len) : NULL;
  size_t size = cut ? (size_t)(cut - text) : len;
  struct recipe *recipe = NULL;
  const struct json *root = NULL;
  struct arena arena = ARENA_EMPTY;
  int code = recipe_read(span_of(text, size), "r.json", &recipe, &error);
  if (code) {
    MUST(!recipe && error.text[0] && is_expected(code), "code %d: %s", code, error.text);
    return 0;
  }
  if (cut && !json_read_by(&rules, span_of(cut + 1, len - size - 1), "it", &arena, &root, &error))
    MUST(apply(recipe, root) == apply(recipe, root), "the same document became something else");
  arena_free(&arena);
  recipe_free(recipe);
  return 0;
}
