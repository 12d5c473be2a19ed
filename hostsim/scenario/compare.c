/* SPDX-License-Identifier: MIT
 *
 * scenario/compare.c: compares what was expected with what the plugin answered. Fields that the
 * expectation names must be equal, and lists must have the same length and equal items; other
 * fields do not matter.
 */
#include "scenario/scenario.h"

#include <stdlib.h>
#include <string.h>

struct compare {
  FILE *out;
  const char *prefix;
  unsigned differences;
};

static void print_json(FILE *out, const json_t *value) {
  char *text = value ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
  fputs(text ? text : "nothing", out);
  free(text);
}

static void differ(struct compare *compare, const char *path, const char *how,
                   const json_t *expected, const json_t *got) {
  compare->differences++;
  fprintf(compare->out, "%s: %s: expected %s", compare->prefix, path, how);
  print_json(compare->out, expected);
  fputs(" got ", compare->out);
  print_json(compare->out, got);
  fputc('\n', compare->out);
}

static void match(struct compare *compare, const char *path, json_t *expected, json_t *got);

static void match_list(struct compare *compare, const char *path, const json_t *expected,
                       const json_t *got) {
  if (!json_is_array(got) || json_array_size(expected) != json_array_size(got)) {
    differ(compare, path, "", expected, got);
    return;
  }
  for (size_t i = 0; i < json_array_size(expected); i++) {
    char *item_path = NULL;
    if (asprintf(&item_path, "%s[%zu]", path, i) >= 0) {
      match(compare, item_path, json_array_get(expected, i), json_array_get(got, i));
      free(item_path);
    }
  }
}

static void match_object(struct compare *compare, const char *path, json_t *expected,
                         const json_t *got) {
  if (!json_is_object(got)) {
    differ(compare, path, "", expected, got);
    return;
  }
  const char *key = NULL;
  json_t *value = NULL;
  json_object_foreach(expected, key, value) {
    char *field_path = NULL;
    if (asprintf(&field_path, "%s%s%s", path, path[0] != '\0' ? "." : "", key) >= 0) {
      match(compare, field_path, value, json_object_get(got, key));
      free(field_path);
    }
  }
}

static void match(struct compare *compare, const char *path, json_t *expected, json_t *got) {
  if (json_is_object(expected)) match_object(compare, path, expected, got);
  else if (json_is_array(expected)) match_list(compare, path, expected, got);
  else if (!got || !json_equal(expected, got)) differ(compare, path, "", expected, got);
}

/* Does the text contain the other? Both may have NULs. */
static bool contains(const json_t *haystack, const json_t *needle) {
  return json_is_string(haystack) &&
         memmem(json_string_value(haystack), json_string_length(haystack),
                json_string_value(needle), json_string_length(needle));
}

/* `expected` is a string or a list of strings. If `wanted`, each must be in `got`, otherwise
 * none. */
static void match_parts(struct compare *compare, const char *path, const json_t *expected,
                        const json_t *got, bool wanted) {
  const char *how = wanted ? "to contain " : "not to contain ";
  if (json_is_string(expected)) {
    if (contains(got, expected) != wanted) differ(compare, path, how, expected, got);
    return;
  }
  for (size_t i = 0; i < json_array_size(expected); i++)
    if (contains(got, json_array_get(expected, i)) != wanted)
      differ(compare, path, how, json_array_get(expected, i), got);
}

unsigned scenario_compare(json_t *expected, const json_t *got, const char *prefix, FILE *out) {
  struct compare compare = {.out = out, .prefix = prefix};
  const char *key = NULL;
  json_t *value = NULL;
  json_object_foreach(expected, key, value) {
    if (strcmp(key, "content_contains") == 0)
      match_parts(&compare, "content", value, json_object_get(got, "content"), true);
    else if (strcmp(key, "content_lacks") == 0)
      match_parts(&compare, "content", value, json_object_get(got, "content"), false);
    else if (strcmp(key, "ledger_contains") == 0)
      match_parts(&compare, "ledger", value, json_object_get(got, "ledger"), true);
    else if (strcmp(key, "ledger_lacks") == 0)
      match_parts(&compare, "ledger", value, json_object_get(got, "ledger"), false);
    else if (strcmp(key, "error_contains") == 0)
      match_parts(&compare, "error's text", value, json_object_get(got, "error_text"), true);
    else match(&compare, key, value, json_object_get(got, key));
  }
  return compare.differences;
}
