/* SPDX-License-Identifier: MIT
 *
 * config/config.c: the configuration from JSON.
 */
#include "config/config.h"

#include <string.h>

#include "common/error.h"
#include "config/config_tables.h"

enum { CONFIGURATION_BYTES = 1048576 };

void config_apply_preset(struct settings *settings, uint8_t preset) {
  const struct config_preset_values *values = &config_preset_values[preset];
  settings->preset = preset;
  settings->format = values->format;
  settings->place = values->place;
  settings->order = values->order;
  settings->overflow = values->overflow;
  settings->fence = values->fence;
  settings->preamble = values->preamble;
  settings->annihilate = values->annihilate;
  settings->max_items = values->max_items;
  settings->max_tokens = values->max_tokens;
  settings->coalesce_window_ms = values->coalesce_window_ms;
  settings->age_after_ms = values->age_after_ms;
}

static int read_key(const struct path *section, const struct json *value,
                    const struct config_key *key, struct settings *settings,
                    struct tidings_error *error) {
  char *to = (char *)settings + key->offset;
  uint8_t choice = 0;
  bool flag = false;
  int64_t number = 0;
  int code = 0;
  switch (key->kind) {
  case CONFIG_CHOICE:
    code = field_choice(section, value, key->choices->names, key->choices->count, &choice, error);
    if (!code) memcpy(to, &choice, sizeof choice);
    return code;
  case CONFIG_BOOL:
    code = field_bool(section, value, &flag, error);
    if (!code) memcpy(to, &flag, sizeof flag);
    return code;
  case CONFIG_NUMBER:
    code = field_integer(section, value, key->min, key->max, &number, error);
    if (code) return code;
    if (key->width == sizeof number) memcpy(to, &number, sizeof number);
    else memcpy(to, &(uint32_t){(uint32_t)number}, sizeof(uint32_t));
    return 0;
  }
  return 0;
}

/* The preset is the first key of its table, and so is applied first: keys beside it win. */
static int read_section(const struct json *json, const struct config_section *section,
                        struct settings *settings, struct tidings_error *error) {
  const char *names[CONFIG_MOST_KEYS];
  const struct json *slots[CONFIG_MOST_KEYS];
  for (size_t i = 0; i < section->count; i++) names[i] = section->keys[i].name;
  const struct member_names known = {names, section->count, "key"};
  struct path path = field_place(NULL, json);
  int code = field_object(NULL, json, error);
  if (!code) code = field_members(&path, json, &known, slots, error);
  for (size_t i = 0; i < section->count && !code; i++) {
    const struct config_key *key = &section->keys[i];
    if (!slots[i]) continue;
    code = read_key(&path, slots[i], key, settings, error);
    if (!code && key->choices == &config_preset_choices)
      config_apply_preset(settings, settings->preset);
  }
  return code;
}

static int read_notifications(const struct path *parent, const struct json *section,
                              struct arena *arena, struct settings *settings,
                              struct tidings_error *error) {
  enum { ENABLE, KINDS, COUNT };
  static const char *const names[COUNT] = {"enable", "kinds"};
  static const struct member_names known = {names, COUNT, "key"};
  const struct json *slots[COUNT];
  struct path path = field_place(parent, section);
  int code = field_object(parent, section, error);
  if (!code) code = field_members(&path, section, &known, slots, error);
  if (code) return code;
  if (slots[ENABLE])
    code = field_bool(&path, slots[ENABLE], &settings->notifications_enabled, error);
  if (!code && slots[KINDS])
    code = config_read_kind_rules(&path, slots[KINDS], arena, settings, error);
  return code;
}

static int read_conversation(const struct json *section, struct arena *arena,
                             struct settings *settings, struct tidings_error *error) {
  enum { NOTIFICATIONS, TOOLS, COUNT };
  static const char *const names[COUNT] = {"notifications", "tools"};
  static const struct member_names known = {names, COUNT, "key"};
  const struct json *slots[COUNT];
  struct path path = field_place(NULL, section);
  int code = field_object(NULL, section, error);
  if (!code) code = field_members(&path, section, &known, slots, error);
  if (code) return code;
  if (slots[NOTIFICATIONS])
    code = read_notifications(&path, slots[NOTIFICATIONS], arena, settings, error);
  if (!code && slots[TOOLS])
    code = config_read_tool_rules(&path, slots[TOOLS], arena, settings, error);
  return code;
}

static int read_sections(const struct json *root, struct arena *arena, struct settings *settings,
                         struct tidings_error *error) {
  enum { SCHEMA, CONVERSATION, SECTIONS, COUNT = SECTIONS + CONFIG_SECTION_COUNT };
  const char *names[COUNT] = {"$schema", "conversation"};
  const struct json *slots[COUNT];
  for (size_t i = SECTIONS; i < COUNT; i++) names[i] = config_sections[i - SECTIONS].name;
  const struct member_names known = {names, COUNT, "key"};
  struct tidings_span schema; /* for editors; nothing here reads it */
  int code = field_members(NULL, root, &known, slots, error);
  if (!code && slots[SCHEMA])
    code = field_string(NULL, slots[SCHEMA], CONFIGURATION_BYTES, &schema, error);
  if (!code && slots[CONVERSATION])
    code = read_conversation(slots[CONVERSATION], arena, settings, error);
  for (size_t i = SECTIONS; i < COUNT && !code; i++) {
    const struct config_section *section = &config_sections[i - SECTIONS];
    if (slots[i]) code = read_section(slots[i], section, settings, error);
  }
  return code;
}

int config_parse(struct tidings_span bytes, struct arena *arena, struct settings *ret_settings,
                 struct tidings_error *error) {
  struct settings settings = config_defaults;
  config_apply_preset(&settings, PRESET_GROUPED);
  if (bytes.len) {
    if (bytes.len > CONFIGURATION_BYTES)
      return fail(error, TIDINGS_E_TOO_BIG, "configuration: %zu bytes are over the limit of %d",
                  bytes.len, (int)CONFIGURATION_BYTES);
    const struct json *root;
    struct path path = path_member(NULL, "configuration");
    static const struct json_rules rules = {.max_depth = JSON_MAX_DEPTH, .comments = true};
    int code = json_read_by(&rules, bytes, "configuration", arena, &root, error);
    if (!code) code = field_object(&path, root, error);
    if (!code) code = read_sections(root, arena, &settings, error);
    if (code) return code;
  }
  *ret_settings = settings;
  return 0;
}
