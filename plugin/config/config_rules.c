/* SPDX-License-Identifier: MIT
 *
 * config/config_rules.c: reads the rules for wanted notifications: conversation.notifications.kinds
 * and conversation.tools, in every form that the documents allow.
 */
#include "common/error.h"
#include "config/config_tables.h"

static int no_memory(struct tidings_error *error) {
  return fail(error, TIDINGS_E_NOMEM, "configuration: no memory to keep it");
}

static int refuse_name(const struct path *parent, const struct json *value, const char *problem,
                       struct tidings_error *error) {
  struct path path = field_place(parent, value);
  return fail(error, TIDINGS_E_SCHEMA, "%s: %s", field_path_text(&path).text, problem);
}

/* true, false, or "critical", which leaves out everything less than critical. */
static int read_wanted(const struct path *parent, const struct json *value, uint8_t *ret_wanted,
                       struct tidings_error *error) {
  if (value->kind == JSON_IS_TRUE) *ret_wanted = WANTED_ALL;
  else if (value->kind == JSON_IS_FALSE) *ret_wanted = WANTED_NONE;
  else if (value->kind == JSON_IS_STRING && span_is(value->text, "critical"))
    *ret_wanted = WANTED_CRITICAL;
  else return field_refuse(parent, value, "true, false or \"critical\"", error);
  return 0;
}

/* "tool.stopped": true, or "tool": true for all that comes from a source. */
static int read_flat_rule(const struct path *parent, const struct json *value,
                          struct kind_rule *rule, struct tidings_error *error) {
  struct tidings_span key = value->key;
  const char *dot = memchr(key.ptr, '.', key.len);
  size_t source_len = dot ? (size_t)(dot - key.ptr) : key.len;
  if (!source_len || (dot && source_len + 1 == key.len))
    return refuse_name(parent, value,
                       "a source or name is empty; expected \"source.name\", or a source", error);
  *rule = (struct kind_rule){
      .source = span_of(key.ptr, source_len), .whole_source = !dot, .flat = true};
  if (dot) rule->name = span_of(dot + 1, key.len - source_len - 1);
  return read_wanted(parent, value, &rule->wanted, error);
}

/* "mcp": {"enable": true, "reconnected": false} */
static int read_nested_rules(const struct path *parent, const struct json *source,
                             struct kind_rule *rules, size_t *count, struct tidings_error *error) {
  struct path path = field_place(parent, source);
  if (!source->key.len) return refuse_name(parent, source, "a source is empty", error);
  if (memchr(source->key.ptr, '.', source->key.len))
    return field_refuse(parent, source, "true, false or \"critical\", as \"source.name\" must be",
                        error);
  for (const struct json *one = source->members; one; one = one->next) {
    if (!one->key.len) return refuse_name(&path, one, "a name is empty", error);
    struct kind_rule *rule = &rules[(*count)++];
    *rule = (struct kind_rule){.source = source->key, .whole_source = span_is(one->key, "enable")};
    if (!rule->whole_source) rule->name = one->key;
    int code = read_wanted(&path, one, &rule->wanted, error);
    if (code) return code;
  }
  return 0;
}

int config_read_kind_rules(const struct path *parent, const struct json *kinds, struct arena *arena,
                           struct settings *settings, struct tidings_error *error) {
  struct path path = field_place(parent, kinds);
  int code = field_object(parent, kinds, error);
  if (code) return code;
  size_t most = 0, count = 0;
  for (const struct json *one = kinds->members; one; one = one->next)
    most += one->kind == JSON_IS_OBJECT ? one->count : 1;
  struct kind_rule *rules = arena_zalloc(arena, most, sizeof *rules);
  if (!rules) return no_memory(error);
  for (const struct json *one = kinds->members; one; one = one->next) {
    code = one->kind == JSON_IS_OBJECT ? read_nested_rules(&path, one, rules, &count, error)
                                       : read_flat_rule(&path, one, &rules[count++], error);
    if (code) return code;
  }
  settings->kinds = rules;
  settings->kind_count = count;
  return 0;
}

int config_read_tool_rules(const struct path *parent, const struct json *tools, struct arena *arena,
                           struct settings *settings, struct tidings_error *error) {
  struct path path = field_place(parent, tools);
  int code = field_object(parent, tools, error);
  if (code) return code;
  size_t most = 0, count = 0;
  for (const struct json *tool = tools->members; tool; tool = tool->next) {
    const struct json *names = json_member(tool, "notifications");
    most += names ? names->count : 0;
  }
  struct tool_rule *rules = arena_zalloc(arena, most, sizeof *rules);
  if (!rules) return no_memory(error);
  for (const struct json *tool = tools->members; tool; tool = tool->next) {
    struct path tool_path = field_place(&path, tool),
                names_path = path_member(&tool_path, "notifications");
    if (!tool->key.len) return refuse_name(&path, tool, "a tool's name is empty", error);
    code = field_object(&path, tool, error);
    if (code) return code;
    const struct json *names = json_member(tool, "notifications");
    if (!names) continue;
    code = field_object(&tool_path, names, error);
    for (const struct json *one = names->members; one && !code; one = one->next) {
      if (!one->key.len) return refuse_name(&names_path, one, "a name is empty", error);
      rules[count] = (struct tool_rule){.tool = tool->key, .name = one->key};
      code = read_wanted(&names_path, one, &rules[count++].wanted, error);
    }
    if (code) return code;
  }
  settings->tools = rules;
  settings->tool_count = count;
  return 0;
}
