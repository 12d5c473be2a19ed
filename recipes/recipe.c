/* SPDX-License-Identifier: MIT
 *
 * recipes/recipe.c: reads a recipe and checks all of it, so that mistakes are reported before the
 * first document comes.
 */
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "recipes/rules.h"
#include "recipes/template.h"

struct reading {
  struct recipe *recipe;
  struct tidings_span text;
  const char *what;
  size_t rule; /* the number of the rule that is read */
  struct tidings_error *error;
};

static size_t line_of(const struct reading *reading, const struct json *value) {
  size_t line = 1;
  for (size_t i = 0; i < value->start && i < reading->text.len; i++)
    line += reading->text.ptr[i] == '\n';
  return line;
}

/* "ci.json, line 4: rules[1].level: "bad" is not …" */
static int refuse(const struct reading *reading, const struct json *value, const char *field,
                  const char *expected) {
  size_t len = value->end - value->start;
  struct quoted shown = quote(span_of(reading->text.ptr + value->start, len));
  return fail(reading->error, TIDINGS_E_SCHEMA, "%s, line %zu: rules[%zu].%s: %s; expected %s",
              reading->what, line_of(reading, value), reading->rule, field, shown.text, expected);
}

static int no_memory_to_read(const struct reading *reading) {
  return fail(reading->error, TIDINGS_E_NOMEM, "%s: no memory to read it", reading->what);
}

/* -- fields ------------------------------------------------------------------------------------ */

static int read_template(const struct reading *reading, const struct json *value, const char *field,
                         struct tidings_span *ret_text) {
  if (value->kind != JSON_IS_STRING || !value->text.len)
    return refuse(reading, value, field, "a text");
  const char *mistake = template_mistake(value->text);
  if (mistake)
    return fail(reading->error, TIDINGS_E_SCHEMA, "%s, line %zu: rules[%zu].%s: %s in %s",
                reading->what, line_of(reading, value), reading->rule, field, mistake,
                quote(value->text).text);
  *ret_text = value->text;
  return 0;
}

static int read_pointer(const struct reading *reading, const struct json *value, const char *field,
                        struct tidings_span *ret_pointer) {
  if (value->kind != JSON_IS_STRING || !value->text.len || !pointer_is_valid(value->text))
    return refuse(reading, value, field, "a JSON pointer such as \"/a/b\"");
  *ret_pointer = value->text;
  return 0;
}

static int read_each(const struct reading *reading, const struct json *value,
                     struct recipe_rule *rule) {
  if (value->kind == JSON_IS_STRING && value->text.len && value->text.ptr[0] == '/')
    return read_pointer(reading, value, "each", &rule->each);
  return refuse(reading, value, "each", "a JSON pointer from the root, such as \"/alerts/*\"");
}

static bool is_level(struct tidings_span text) {
  return span_is(text, "info") || span_is(text, "warning") || span_is(text, "error") ||
         span_is(text, "critical");
}

static int read_level_word(const struct reading *reading, const struct json *value,
                           struct tidings_span *ret_level) {
  if (value->kind != JSON_IS_STRING || !is_level(value->text))
    return refuse(reading, value, "level", "info, warning, error or critical");
  *ret_level = value->text;
  return 0;
}

static int read_level_map(const struct reading *reading, const struct json *map,
                          struct recipe_rule *rule) {
  struct tidings_span level;
  if (map->kind != JSON_IS_OBJECT)
    return refuse(reading, map, "level.map", "an object from values to levels");
  for (const struct json *one = map->members; one; one = one->next) {
    int code = read_level_word(reading, one, &level);
    if (code) return code;
  }
  rule->level_map = map;
  return 0;
}

/* Reads a level, or {"from": POINTER, "map": {"err": "error"}, "default": LEVEL}. */
static int read_level(const struct reading *reading, const struct json *value,
                      struct recipe_rule *rule) {
  int code = 0;
  if (value->kind != JSON_IS_OBJECT) return read_level_word(reading, value, &rule->level);
  for (const struct json *one = value->members; !code && one; one = one->next) {
    if (span_is(one->key, "from"))
      code = read_pointer(reading, one, "level.from", &rule->level_from);
    else if (span_is(one->key, "map")) code = read_level_map(reading, one, rule);
    else if (span_is(one->key, "default")) code = read_level_word(reading, one, &rule->level);
    else code = refuse(reading, one, "level", "only from, map and default");
  }
  if (!code && (!rule->level_from.len || !rule->level_map))
    code = refuse(reading, value, "level", "a level, or an object with from and map");
  return code;
}

static int64_t unit_ms(char unit) {
  switch (unit) {
  case 's': return 1000;
  case 'm': return 60000;
  case 'h': return 3600000;
  case 'd': return 86400000;
  default: return 0;
  }
}

/* Reads "30s", "10m", "2h" or "1d". */
static int read_ttl(const struct reading *reading, const struct json *value,
                    struct recipe_rule *rule) {
  static const char expected[] = "a duration such as \"30s\", \"10m\", \"2h\" or \"1d\"";
  enum { MOST_DIGITS = 6 };
  struct tidings_span text = value->text;
  int64_t number = 0;
  if (value->kind != JSON_IS_STRING || text.len < 2 || text.len > MOST_DIGITS + 1)
    return refuse(reading, value, "ttl", expected);
  for (size_t i = 0; i + 1 < text.len; i++) {
    if (text.ptr[i] < '0' || text.ptr[i] > '9') return refuse(reading, value, "ttl", expected);
    number = number * 10 + (text.ptr[i] - '0');
  }
  rule->ttl_ms = number * unit_ms(text.ptr[text.len - 1]);
  return rule->ttl_ms ? 0 : refuse(reading, value, "ttl", expected);
}

/* Reads an object from pointers to a text, a list of texts, true (the value exists) or false (it
 * does not). A text that ends with "*" matches every text with this beginning. */
static int read_when(const struct reading *reading, const struct json *when, const char *field,
                     const struct json **ret_when) {
  static const char expected[] = "a text, a list of texts, true or false";
  if (when->kind != JSON_IS_OBJECT)
    return refuse(reading, when, field, "an object from pointers to values");
  for (const struct json *one = when->members; one; one = one->next) {
    bool list = one->kind == JSON_IS_ARRAY && one->count;
    if (!pointer_is_valid(one->key) || !one->key.len)
      return refuse(reading, one, field, "pointers such as \"/a/b\" or \"header:NAME\" as names");
    if (!list && one->kind != JSON_IS_STRING && one->kind != JSON_IS_TRUE &&
        one->kind != JSON_IS_FALSE)
      return refuse(reading, one, field, expected);
    for (const struct json *value = list ? one->members : NULL; value; value = value->next) {
      if (value->kind != JSON_IS_STRING) return refuse(reading, value, field, expected);
    }
  }
  *ret_when = when;
  return 0;
}

/* -- rules ------------------------------------------------------------------------------------- */

static int read_field(const struct reading *reading, const struct json *value,
                      struct recipe_rule *rule) {
  struct tidings_span name = value->key;
  if (span_is(name, "when")) return read_when(reading, value, "when", &rule->when);
  if (span_is(name, "withdraw-when"))
    return read_when(reading, value, "withdraw-when", &rule->withdraw_when);
  if (span_is(name, "each")) return read_each(reading, value, rule);
  if (span_is(name, "kind")) return read_template(reading, value, "kind", &rule->kind);
  if (span_is(name, "level")) return read_level(reading, value, rule);
  if (span_is(name, "text")) return read_template(reading, value, "text", &rule->text);
  if (span_is(name, "key")) return read_template(reading, value, "key", &rule->key);
  if (span_is(name, "id")) return read_template(reading, value, "id", &rule->id);
  if (span_is(name, "to")) return read_template(reading, value, "to", &rule->to);
  if (span_is(name, "order")) return read_template(reading, value, "order", &rule->order);
  if (span_is(name, "ttl")) return read_ttl(reading, value, rule);
  return fail(reading->error, TIDINGS_E_SCHEMA,
              "%s, line %zu: rules[%zu]: unknown field %s; expected when, withdraw-when, each, "
              "kind, level, text, key, order, id, to or ttl",
              reading->what, line_of(reading, value), reading->rule, quote(name).text);
}

static int read_rule(const struct reading *reading, const struct json *value,
                     struct recipe_rule *rule) {
  int code = 0;
  if (value->kind != JSON_IS_OBJECT) return refuse(reading, value, "when", "an object");
  for (const struct json *one = value->members; !code && one; one = one->next)
    code = read_field(reading, one, rule);
  if (!code && rule->text.len && !rule->kind.len)
    code = fail(reading->error, TIDINGS_E_SCHEMA,
                "%s, line %zu: rules[%zu].kind: missing; expected a kind such as \"ci.failed\"",
                reading->what, line_of(reading, value), reading->rule);
  if (!code && rule->withdraw_when && (!rule->kind.len || !rule->key.len))
    code = refuse(reading, rule->withdraw_when, "withdraw-when",
                  "a kind and a key, too: what has them is withdrawn");
  if (!code && rule->order.len && !rule->key.len)
    code = fail(reading->error, TIDINGS_E_SCHEMA,
                "%s, line %zu: rules[%zu].key: missing; expected one, for an order is among those "
                "with the same key",
                reading->what, line_of(reading, value), reading->rule);
  return code;
}

static int read_rules(struct reading *reading, const struct json *rules) {
  struct recipe *recipe = reading->recipe;
  if (!rules || rules->kind != JSON_IS_ARRAY || !rules->count)
    return fail(reading->error, TIDINGS_E_SCHEMA, "%s: rules: expected a list of at least one rule",
                reading->what);
  recipe->rules = arena_zalloc(&recipe->arena, rules->count, sizeof *recipe->rules);
  if (!recipe->rules) return no_memory_to_read(reading);
  int code = 0;
  for (const struct json *one = rules->members; !code && one; one = one->next) {
    reading->rule = recipe->rule_count;
    code = read_rule(reading, one, &recipe->rules[recipe->rule_count++]);
  }
  return code;
}

static int read_members(struct reading *reading, const struct json *root) {
  if (root->kind != JSON_IS_OBJECT)
    return fail(reading->error, TIDINGS_E_SCHEMA, "%s: expected an object with rules",
                reading->what);
  for (const struct json *one = root->members; one; one = one->next) {
    if (span_is(one->key, "rules") || span_is(one->key, "description") ||
        span_is(one->key, "$schema"))
      continue;
    return fail(reading->error, TIDINGS_E_SCHEMA,
                "%s, line %zu: unknown field %s; expected rules and description", reading->what,
                line_of(reading, one), quote(one->key).text);
  }
  return read_rules(reading, json_member(root, "rules"));
}

int recipe_read(struct tidings_span text, const char *what, struct recipe **ret_recipe,
                struct tidings_error *error) {
  const struct json *root = NULL;
  struct reading reading = {.text = text, .what = what, .error = error};
  reading.recipe = calloc(1, sizeof *reading.recipe);
  if (!reading.recipe) return no_memory_to_read(&reading);
  int code = json_read(text, what, &reading.recipe->arena, &root, error);
  if (!code) code = read_members(&reading, root);
  if (code) recipe_free(reading.recipe);
  else *ret_recipe = reading.recipe;
  return code;
}

bool recipe_names_address(const struct recipe *recipe) {
  for (size_t i = 0; i < recipe->rule_count; i++) {
    const struct recipe_rule *rule = &recipe->rules[i];
    if ((rule->text.len || rule->withdraw_when) && !rule->to.len) return false;
  }
  return true;
}

void recipe_free(struct recipe *recipe) {
  if (!recipe) return;
  arena_free(&recipe->arena);
  free(recipe);
}
