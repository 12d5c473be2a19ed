/* SPDX-License-Identifier: MIT
 *
 * config/config.c: the configuration from JSON.
 */
#include "config/config.h"

#include "common/error.h"
#include "config/config_tables.h"

enum { CONFIGURATION_BYTES = 1048576 };

static void apply_preset(struct settings *settings, uint8_t preset) {
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

static struct settings default_settings(void) {
  struct settings settings = {
      .notifications_enabled = true,
      .discipline = DISCIPLINE_SERIAL,
      .max_auto_turns = 8,
      .critical_force = true,
      .alerts_delivered = true,
      .max_aborts = 3,
      .abort_window_ms = 60000,
      .event_bytes = (uint32_t)config_limit_keys[LIMIT_EVENT_BYTES].initial,
      .message_bytes = (uint32_t)config_limit_keys[LIMIT_MESSAGE_BYTES].initial,
      .pending_per_session = (uint32_t)config_limit_keys[LIMIT_PENDING_PER_SESSION].initial,
      .dedup_window_ms = config_limit_keys[LIMIT_DEDUP_WINDOW_MS].initial,
  };
  apply_preset(&settings, PRESET_GROUPED);
  return settings;
}

static int read_choice(const struct path *path, const struct json *value,
                       const struct choices *choices, uint8_t *ret, struct tidings_error *error) {
  return field_choice(path, value, choices->names, choices->count, ret, error);
}

/* A key of a section whose value is a number from 0. */
struct amount {
  size_t key; /* in the section's names and slots */
  int64_t max;
  uint32_t *to;
};

static int read_amounts(const struct path *path, const char *const *names,
                        const struct json *const *slots, const struct amount *amounts, size_t count,
                        struct tidings_error *error) {
  int code = 0;
  for (size_t i = 0; i < count && !code; i++) {
    struct path key_path = path_member(path, names[amounts[i].key]);
    int64_t value = 0;
    if (!slots[amounts[i].key]) continue;
    code = field_integer(&key_path, slots[amounts[i].key], 0, amounts[i].max, &value, error);
    if (!code) *amounts[i].to = (uint32_t)value;
  }
  return code;
}

static int read_preset(const struct path *path, const struct json *value, uint8_t *ret_preset,
                       struct tidings_error *error) {
  static const struct {
    const char *name;
    uint8_t preset;
  } old_names[] = {{"rfd011", PRESET_GROUPED}, {"draft011", PRESET_FLAT}};
  for (size_t i = 0; i < sizeof old_names / sizeof *old_names; i++) {
    if (value->kind != JSON_IS_STRING || !span_is(value->text, old_names[i].name)) continue;
    *ret_preset = old_names[i].preset;
    return 0;
  }
  return read_choice(path, value, &config_preset_choices, ret_preset, error);
}

/* The preset is applied first, wherever it stands: keys beside it win. */
static int read_delivery(const struct path *path, const struct json *section,
                         struct settings *settings, struct tidings_error *error) {
  static const struct member_names known = {config_delivery_names, DELIVERY_COUNT, "key"};
  const struct {
    enum delivery_key key;
    const struct choices *choices;
    uint8_t *to;
  } chosen[] = {{DELIVERY_FORMAT, &config_format_choices, &settings->format},
                {DELIVERY_PLACE, &config_place_choices, &settings->place},
                {DELIVERY_ORDER, &config_order_choices, &settings->order},
                {DELIVERY_OVERFLOW, &config_overflow_choices, &settings->overflow},
                {DELIVERY_FENCE, &config_fence_choices, &settings->fence},
                {DELIVERY_PREAMBLE, &config_preamble_choices, &settings->preamble}};
  const struct amount amounts[] = {
      {DELIVERY_MAX_ITEMS, MAX_ITEMS_LIMIT, &settings->max_items},
      {DELIVERY_MAX_TOKENS, MAX_TOKENS_LIMIT, &settings->max_tokens},
      {DELIVERY_MAX_BYTES, MAX_BYTES_LIMIT, &settings->max_bytes},
      {DELIVERY_COALESCE_WINDOW_MS, COALESCE_WINDOW_LIMIT_MS, &settings->coalesce_window_ms},
      {DELIVERY_AGE_AFTER_MS, AGE_AFTER_LIMIT_MS, &settings->age_after_ms}};
  struct path annihilate_path = path_member(path, config_delivery_names[DELIVERY_ANNIHILATE]);
  const struct json *slots[DELIVERY_COUNT];
  int code = field_object(path, section, error);
  if (!code) code = field_members(path, section, &known, slots, error);
  if (code) return code;
  if (slots[DELIVERY_PRESET]) {
    struct path preset_path = path_member(path, config_delivery_names[DELIVERY_PRESET]);
    uint8_t preset = PRESET_GROUPED;
    code = read_preset(&preset_path, slots[DELIVERY_PRESET], &preset, error);
    if (code) return code;
    apply_preset(settings, preset);
  }
  for (size_t i = 0; i < sizeof chosen / sizeof *chosen && !code; i++) {
    struct path key_path = path_member(path, config_delivery_names[chosen[i].key]);
    if (slots[chosen[i].key])
      code = read_choice(&key_path, slots[chosen[i].key], chosen[i].choices, chosen[i].to, error);
  }
  if (!code)
    code = read_amounts(path, config_delivery_names, slots, amounts,
                        sizeof amounts / sizeof *amounts, error);
  if (!code && slots[DELIVERY_ANNIHILATE])
    code = field_bool(&annihilate_path, slots[DELIVERY_ANNIHILATE], &settings->annihilate, error);
  return code;
}

static int read_turns(const struct path *path, const struct json *section,
                      struct settings *settings, struct tidings_error *error) {
  static const struct member_names known = {config_turns_names, TURNS_COUNT, "key"};
  const struct amount amounts[] = {
      {TURNS_SETTLE_DELAY_MS, SETTLE_DELAY_LIMIT_MS, &settings->settle_delay_ms},
      {TURNS_MAX_AUTO_TURNS, MAX_AUTO_TURNS_LIMIT, &settings->max_auto_turns}};
  struct path discipline_path = path_member(path, config_turns_names[TURNS_DISCIPLINE]);
  struct path restart_path = path_member(path, config_turns_names[TURNS_RESTART]);
  struct path delivery_path = path_member(path, config_turns_names[TURNS_DEFAULT_DELIVERY]);
  const struct json *slots[TURNS_COUNT];
  uint8_t restart = 0, delivery = 0;
  int code = field_object(path, section, error);
  if (!code) code = field_members(path, section, &known, slots, error);
  if (code) return code;
  if (slots[TURNS_DISCIPLINE])
    code = read_choice(&discipline_path, slots[TURNS_DISCIPLINE], &config_discipline_choices,
                       &settings->discipline, error);
  if (!code)
    code = read_amounts(path, config_turns_names, slots, amounts, sizeof amounts / sizeof *amounts,
                        error);
  if (!code && slots[TURNS_RESTART])
    code =
        read_choice(&restart_path, slots[TURNS_RESTART], &config_restart_choices, &restart, error);
  if (!code && slots[TURNS_DEFAULT_DELIVERY])
    code = read_choice(&delivery_path, slots[TURNS_DEFAULT_DELIVERY],
                       &config_default_delivery_choices, &delivery, error);
  settings->restart_hold = restart == 1;
  settings->steer_by_default = delivery == 1;
  return code;
}

static int read_critical(const struct path *path, const struct json *section,
                         struct settings *settings, struct tidings_error *error) {
  static const struct member_names known = {config_critical_names, CRITICAL_COUNT, "key"};
  const struct amount amounts[] = {
      {CRITICAL_MAX_ABORTS, MAX_ABORTS_LIMIT, &settings->max_aborts},
      {CRITICAL_ABORT_WINDOW_MS, ABORT_WINDOW_LIMIT_MS, &settings->abort_window_ms}};
  struct path force_path = path_member(path, config_critical_names[CRITICAL_FORCE]);
  const struct json *slots[CRITICAL_COUNT];
  int code = field_object(path, section, error);
  if (!code) code = field_members(path, section, &known, slots, error);
  if (!code && slots[CRITICAL_FORCE])
    code = field_bool(&force_path, slots[CRITICAL_FORCE], &settings->critical_force, error);
  return code ? code
              : read_amounts(path, config_critical_names, slots, amounts,
                             sizeof amounts / sizeof *amounts, error);
}

static int read_alerts(const struct path *path, const struct json *section,
                       struct settings *settings, struct tidings_error *error) {
  static const struct member_names known = {config_alerts_names, ALERTS_COUNT, "key"};
  bool *const values[ALERTS_COUNT] = {&settings->alerts_idle, &settings->alerts_waiting,
                                      &settings->alerts_critical, &settings->alerts_delivered};
  const struct json *slots[ALERTS_COUNT];
  int code = field_object(path, section, error);
  if (!code) code = field_members(path, section, &known, slots, error);
  for (size_t i = 0; i < ALERTS_COUNT && !code; i++) {
    struct path key_path = path_member(path, config_alerts_names[i]);
    if (slots[i]) code = field_bool(&key_path, slots[i], values[i], error);
  }
  return code;
}

static int read_limits(const struct path *path, const struct json *section,
                       struct settings *settings, struct tidings_error *error) {
  const char *names[LIMIT_COUNT];
  const struct json *slots[LIMIT_COUNT];
  int64_t values[LIMIT_COUNT] = {settings->event_bytes, settings->message_bytes,
                                 settings->pending_per_session, settings->dedup_window_ms,
                                 settings->source_per_minute};
  for (size_t i = 0; i < LIMIT_COUNT; i++) names[i] = config_limit_keys[i].name;
  const struct member_names known = {names, LIMIT_COUNT, "key"};
  int code = field_object(path, section, error);
  if (!code) code = field_members(path, section, &known, slots, error);
  for (size_t i = 0; i < LIMIT_COUNT && !code; i++) {
    struct path key_path = path_member(path, names[i]);
    if (slots[i])
      code = field_integer(&key_path, slots[i], config_limit_keys[i].min, config_limit_keys[i].max,
                           &values[i], error);
  }
  if (code) return code;
  settings->event_bytes = (uint32_t)values[LIMIT_EVENT_BYTES];
  settings->message_bytes = (uint32_t)values[LIMIT_MESSAGE_BYTES];
  settings->pending_per_session = (uint32_t)values[LIMIT_PENDING_PER_SESSION];
  settings->dedup_window_ms = values[LIMIT_DEDUP_WINDOW_MS];
  settings->source_per_minute = (uint32_t)values[LIMIT_SOURCE_PER_MINUTE];
  return 0;
}

static int read_notifications(const struct path *path, const struct json *section,
                              struct arena *arena, struct settings *settings,
                              struct tidings_error *error) {
  enum { ENABLE, KINDS, COUNT };
  static const char *const names[COUNT] = {"enable", "kinds"};
  static const struct member_names known = {names, COUNT, "key"};
  const struct json *slots[COUNT];
  struct path enable_path = path_member(path, "enable"), kinds_path = path_member(path, "kinds");
  int code = field_object(path, section, error);
  if (!code) code = field_members(path, section, &known, slots, error);
  if (code) return code;
  if (slots[ENABLE])
    code = field_bool(&enable_path, slots[ENABLE], &settings->notifications_enabled, error);
  if (!code && slots[KINDS])
    code = config_read_kind_rules(&kinds_path, slots[KINDS], arena, settings, error);
  return code;
}

static int read_conversation(const struct path *path, const struct json *section,
                             struct arena *arena, struct settings *settings,
                             struct tidings_error *error) {
  enum { NOTIFICATIONS, TOOLS, COUNT };
  static const char *const names[COUNT] = {"notifications", "tools"};
  static const struct member_names known = {names, COUNT, "key"};
  const struct json *slots[COUNT];
  struct path notifications_path = path_member(path, "notifications"),
              tools_path = path_member(path, "tools");
  int code = field_object(path, section, error);
  if (!code) code = field_members(path, section, &known, slots, error);
  if (code) return code;
  if (slots[NOTIFICATIONS])
    code = read_notifications(&notifications_path, slots[NOTIFICATIONS], arena, settings, error);
  if (!code && slots[TOOLS])
    code = config_read_tool_rules(&tools_path, slots[TOOLS], arena, settings, error);
  return code;
}

static int read_sections(const struct json *root, struct arena *arena, struct settings *settings,
                         struct tidings_error *error) {
  enum { SCHEMA, CONVERSATION, DELIVERY, TURNS, CRITICAL, ALERTS, LIMITS, COUNT };
  static const char *const names[COUNT] = {"$schema",  "conversation", "delivery", "turns",
                                           "critical", "alerts",       "limits"};
  static const struct member_names known = {names, COUNT, "key"};
  const struct json *slots[COUNT];
  struct path paths[COUNT];
  for (size_t i = 0; i < COUNT; i++) paths[i] = path_member(NULL, names[i]);
  struct tidings_span schema; /* for editors; nothing here reads it */
  int code = field_members(NULL, root, &known, slots, error);
  if (!code && slots[SCHEMA])
    code = field_string(&paths[SCHEMA], slots[SCHEMA], CONFIGURATION_BYTES, &schema, error);
  if (code) return code;
  if (slots[CONVERSATION])
    code = read_conversation(&paths[CONVERSATION], slots[CONVERSATION], arena, settings, error);
  if (!code && slots[DELIVERY])
    code = read_delivery(&paths[DELIVERY], slots[DELIVERY], settings, error);
  if (!code && slots[TURNS]) code = read_turns(&paths[TURNS], slots[TURNS], settings, error);
  if (!code && slots[CRITICAL])
    code = read_critical(&paths[CRITICAL], slots[CRITICAL], settings, error);
  if (!code && slots[ALERTS]) code = read_alerts(&paths[ALERTS], slots[ALERTS], settings, error);
  if (!code && slots[LIMITS]) code = read_limits(&paths[LIMITS], slots[LIMITS], settings, error);
  return code;
}

int config_parse(struct tidings_span bytes, struct arena *arena, struct settings *ret_settings,
                 struct tidings_error *error) {
  struct settings settings = default_settings();
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
