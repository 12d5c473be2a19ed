/* SPDX-License-Identifier: MIT
 *
 * event/config.c: the configuration from JSON.
 */
#include "event/config.h"

#include <stdio.h>

#include "base/error.h"
#include "event/config_tables.h"

enum { CONFIGURATION_BYTES = 1048576 };

static void apply_preset(struct settings *settings, uint8_t preset) {
  const struct preset_values *values = &preset_values[preset];
  settings->preset = preset;
  settings->format = values->format;
  settings->place = values->place;
  settings->order = values->order;
  settings->overflow = values->overflow;
  settings->fence = values->fence;
  settings->annihilate = values->annihilate;
  settings->max_items = values->max_items;
  settings->max_tokens = values->max_tokens;
  settings->coalesce_window_ms = values->coalesce_window_ms;
}

static struct settings default_settings(void) {
  struct settings settings = {
      .notifications_enabled = true,
      .event_bytes = (uint32_t)limit_keys[LIMIT_EVENT_BYTES].initial,
      .message_bytes = (uint32_t)limit_keys[LIMIT_MESSAGE_BYTES].initial,
      .pending_per_session = (uint32_t)limit_keys[LIMIT_PENDING_PER_SESSION].initial,
      .dedup_window_ms = limit_keys[LIMIT_DEDUP_WINDOW_MS].initial,
  };
  apply_preset(&settings, PRESET_RFD011);
  return settings;
}

static int not_built(const struct path *path, const char *value, const char *expected, struct tidings_error *error) {
  return fail(error, TIDINGS_E_SCHEMA, "%s: %s is not built in this version; expected %s", path_text(path).text, value, expected);
}

static int read_choice(const struct path *path, const struct json *value, const struct choices *choices, uint8_t *ret,
                       struct tidings_error *error) {
  for (size_t i = choices->built; i < choices->known && value->kind == JSON_IS_STRING; i++) {
    if (!span_is(value->text, choices->names[i])) continue;
    char expected[320];
    (void)snprintf(expected, sizeof expected, "%s%s", choices->built > 1 ? "one of " : "", name_list(choices->names, choices->built).text);
    return not_built(path, quote(value->text).text, expected, error);
  }
  return field_choice(path, value, choices->names, choices->built, ret, error);
}

static int check_fixed_key(const struct path *path, const struct json *value, const struct fixed_key *key, struct tidings_error *error) {
  char expected[32], given[32];
  uint8_t index;
  bool truth;
  int64_t number;
  int code;
  switch (key->kind) {
  case FIXED_CHOICE: return read_choice(path, value, &key->choices, &index, error);
  case FIXED_BOOL:
    code = field_bool(path, value, &truth, error);
    if (code || truth == (key->value != 0)) return code;
    return not_built(path, truth ? "true" : "false", truth ? "false" : "true", error);
  case FIXED_INTEGER:
  default:
    code = field_integer(path, value, 0, INT64_MAX, &number, error);
    if (code || number == key->value) return code;
    (void)snprintf(given, sizeof given, "%lld", (long long)number);
    (void)snprintf(expected, sizeof expected, "%lld", (long long)key->value);
    return not_built(path, given, expected, error);
  }
}

static int check_fixed_keys(const struct path *path, const struct json *const *slots, const struct fixed_key *keys, size_t count,
                            struct tidings_error *error) {
  int code = 0;
  for (size_t i = 0; i < count && !code; i++) {
    struct path key_path = path_member(path, keys[i].name);
    if (slots[i]) code = check_fixed_key(&key_path, slots[i], &keys[i], error);
  }
  return code;
}

/* A section all of whose keys are fixed. */
static int check_fixed_section(const struct path *path, const struct json *section, const struct fixed_key *keys, size_t count,
                               struct tidings_error *error) {
  enum { MOST = 4 };
  const char *names[MOST];
  const struct json *slots[MOST];
  for (size_t i = 0; i < count; i++) names[i] = keys[i].name;
  const struct member_names known = {names, count, "key"};
  int code = field_object(path, section, error);
  if (!code) code = field_members(path, section, &known, slots, error);
  return code ? code : check_fixed_keys(path, slots, keys, count, error);
}

/* The keys of `delivery` that are no choices. */
static int read_amounts(const struct path *path, const struct json *const *slots, struct settings *settings, struct tidings_error *error) {
  const struct {
    enum delivery_key key;
    int64_t max;
    uint32_t *to;
  } amounts[] = {{DELIVERY_MAX_ITEMS, MAX_ITEMS_LIMIT, &settings->max_items},
                 {DELIVERY_MAX_TOKENS, MAX_TOKENS_LIMIT, &settings->max_tokens},
                 {DELIVERY_COALESCE_WINDOW_MS, COALESCE_WINDOW_LIMIT_MS, &settings->coalesce_window_ms}};
  struct path annihilate_path = path_member(path, delivery_names[DELIVERY_ANNIHILATE]);
  int code = 0;
  for (size_t i = 0; i < sizeof amounts / sizeof *amounts && !code; i++) {
    struct path key_path = path_member(path, delivery_names[amounts[i].key]);
    int64_t amount = 0;
    if (!slots[amounts[i].key]) continue;
    code = field_integer(&key_path, slots[amounts[i].key], 0, amounts[i].max, &amount, error);
    if (!code) *amounts[i].to = (uint32_t)amount;
  }
  if (!code && slots[DELIVERY_ANNIHILATE]) code = field_bool(&annihilate_path, slots[DELIVERY_ANNIHILATE], &settings->annihilate, error);
  return code;
}

/* The preset is applied first, wherever it stands: keys beside it win. */
static int read_delivery(const struct path *path, const struct json *section, struct settings *settings, struct tidings_error *error) {
  static const struct member_names known = {delivery_names, DELIVERY_COUNT, "key"};
  const struct {
    enum delivery_key key;
    const struct choices *choices;
    uint8_t *to;
  } chosen[] = {{DELIVERY_FORMAT, &format_choices, &settings->format},
                {DELIVERY_PLACE, &place_choices, &settings->place},
                {DELIVERY_ORDER, &order_choices, &settings->order},
                {DELIVERY_OVERFLOW, &overflow_choices, &settings->overflow},
                {DELIVERY_FENCE, &fence_choices, &settings->fence}};
  const struct json *slots[DELIVERY_COUNT];
  int code = field_object(path, section, error);
  if (!code) code = field_members(path, section, &known, slots, error);
  if (code) return code;
  if (slots[DELIVERY_PRESET]) {
    struct path preset_path = path_member(path, delivery_names[DELIVERY_PRESET]);
    uint8_t preset = PRESET_RFD011;
    code = read_choice(&preset_path, slots[DELIVERY_PRESET], &preset_choices, &preset, error);
    if (code) return code;
    apply_preset(settings, preset);
  }
  for (size_t i = 0; i < sizeof chosen / sizeof *chosen && !code; i++) {
    struct path key_path = path_member(path, delivery_names[chosen[i].key]);
    if (slots[chosen[i].key]) code = read_choice(&key_path, slots[chosen[i].key], chosen[i].choices, chosen[i].to, error);
  }
  return code ? code : read_amounts(path, slots, settings, error);
}

static int read_limits(const struct path *path, const struct json *section, struct settings *settings, struct tidings_error *error) {
  const char *names[LIMIT_COUNT];
  const struct json *slots[LIMIT_COUNT];
  int64_t values[LIMIT_COUNT] = {settings->event_bytes, settings->message_bytes, settings->pending_per_session, settings->dedup_window_ms};
  for (size_t i = 0; i < LIMIT_COUNT; i++) names[i] = limit_keys[i].name;
  const struct member_names known = {names, LIMIT_COUNT, "key"};
  int code = field_object(path, section, error);
  if (!code) code = field_members(path, section, &known, slots, error);
  for (size_t i = 0; i < LIMIT_COUNT && !code; i++) {
    struct path key_path = path_member(path, names[i]);
    if (slots[i]) code = field_integer(&key_path, slots[i], limit_keys[i].min, limit_keys[i].max, &values[i], error);
  }
  if (code) return code;
  settings->event_bytes = (uint32_t)values[LIMIT_EVENT_BYTES];
  settings->message_bytes = (uint32_t)values[LIMIT_MESSAGE_BYTES];
  settings->pending_per_session = (uint32_t)values[LIMIT_PENDING_PER_SESSION];
  settings->dedup_window_ms = values[LIMIT_DEDUP_WINDOW_MS];
  return 0;
}

static int read_notifications(const struct path *path, const struct json *section, struct arena *arena, struct settings *settings,
                              struct tidings_error *error) {
  enum { ENABLE, KINDS, COUNT };
  static const char *const names[COUNT] = {"enable", "kinds"};
  static const struct member_names known = {names, COUNT, "key"};
  const struct json *slots[COUNT];
  struct path enable_path = path_member(path, "enable"), kinds_path = path_member(path, "kinds");
  int code = field_object(path, section, error);
  if (!code) code = field_members(path, section, &known, slots, error);
  if (code) return code;
  if (slots[ENABLE]) code = field_bool(&enable_path, slots[ENABLE], &settings->notifications_enabled, error);
  if (!code && slots[KINDS]) code = kind_rules_read(&kinds_path, slots[KINDS], arena, settings, error);
  return code;
}

static int read_conversation(const struct path *path, const struct json *section, struct arena *arena, struct settings *settings,
                             struct tidings_error *error) {
  enum { NOTIFICATIONS, TOOLS, COUNT };
  static const char *const names[COUNT] = {"notifications", "tools"};
  static const struct member_names known = {names, COUNT, "key"};
  const struct json *slots[COUNT];
  struct path notifications_path = path_member(path, "notifications"), tools_path = path_member(path, "tools");
  int code = field_object(path, section, error);
  if (!code) code = field_members(path, section, &known, slots, error);
  if (code) return code;
  if (slots[NOTIFICATIONS]) code = read_notifications(&notifications_path, slots[NOTIFICATIONS], arena, settings, error);
  if (!code && slots[TOOLS]) code = tool_rules_read(&tools_path, slots[TOOLS], arena, settings, error);
  return code;
}

static int read_sections(const struct json *root, struct arena *arena, struct settings *settings, struct tidings_error *error) {
  enum { CONVERSATION, DELIVERY, TURNS, CRITICAL, LIMITS, COUNT };
  static const char *const names[COUNT] = {"conversation", "delivery", "turns", "critical", "limits"};
  static const struct member_names known = {names, COUNT, "key"};
  const struct json *slots[COUNT];
  struct path paths[COUNT];
  for (size_t i = 0; i < COUNT; i++) paths[i] = path_member(NULL, names[i]);
  int code = field_members(NULL, root, &known, slots, error);
  if (code) return code;
  if (slots[CONVERSATION]) code = read_conversation(&paths[CONVERSATION], slots[CONVERSATION], arena, settings, error);
  if (!code && slots[DELIVERY]) code = read_delivery(&paths[DELIVERY], slots[DELIVERY], settings, error);
  if (!code && slots[TURNS]) code = check_fixed_section(&paths[TURNS], slots[TURNS], turns_fixed, TURNS_COUNT, error);
  if (!code && slots[CRITICAL]) code = check_fixed_section(&paths[CRITICAL], slots[CRITICAL], critical_fixed, CRITICAL_COUNT, error);
  if (!code && slots[LIMITS]) code = read_limits(&paths[LIMITS], slots[LIMITS], settings, error);
  return code;
}

int config_parse(struct tidings_span bytes, struct arena *arena, struct settings *ret_settings, struct tidings_error *error) {
  struct settings settings = default_settings();
  if (bytes.len) {
    if (bytes.len > CONFIGURATION_BYTES)
      return fail(error, TIDINGS_E_TOO_BIG, "configuration: %zu bytes are over the limit of %d", bytes.len, (int)CONFIGURATION_BYTES);
    const struct json *root;
    struct path path = path_member(NULL, "configuration");
    int code = json_read(bytes, "configuration", arena, &root, error);
    if (!code) code = field_object(&path, root, error);
    if (!code) code = read_sections(root, arena, &settings, error);
    if (code) return code;
  }
  *ret_settings = settings;
  return 0;
}
