/* SPDX-License-Identifier: MIT
 *
 * config/config_write.c: writes the configuration as JSON: every key, and rules in the form in
 * which they were given.
 */
#include "config/config.h"

#include "config/config_tables.h"

static void write_key(const char *name, bool first, struct buffer *out) {
  if (!first) buffer_byte(out, ',');
  json_write_string(span_text(name), out);
  buffer_byte(out, ':');
}

static void write_bool(bool value, struct buffer *out) {
  buffer_text(out, value ? "true" : "false");
}

static void write_wanted(uint8_t wanted, struct buffer *out) {
  if (wanted == WANTED_CRITICAL) buffer_text(out, "\"critical\"");
  else write_bool(wanted == WANTED_ALL, out);
}

static void write_choice(const struct choices *choices, uint8_t index, struct buffer *out) {
  json_write_string(span_text(choices->names[index]), out);
}

static void write_flat_rule(const struct kind_rule *rule, struct buffer *out) {
  struct buffer key = BUFFER_EMPTY;
  buffer_span(&key, rule->source);
  if (!rule->whole_source) {
    buffer_byte(&key, '.');
    buffer_span(&key, rule->name);
  }
  if (key.failed) out->failed = true;
  json_write_string(buffer_view(&key), out);
  buffer_free(&key);
  buffer_byte(out, ':');
  write_wanted(rule->wanted, out);
}

/* Nested rules of one source stand side by side, because a key stands only once in the JSON that
 * they came from. */
static void write_kinds(const struct settings *settings, struct buffer *out) {
  buffer_byte(out, '{');
  for (size_t i = 0; i < settings->kind_count;) {
    const struct kind_rule *rule = &settings->kinds[i];
    if (i) buffer_byte(out, ',');
    if (rule->flat) {
      write_flat_rule(rule, out);
      i++;
      continue;
    }
    json_write_string(rule->source, out);
    buffer_text(out, ":{");
    for (size_t first = i; i < settings->kind_count; i++) {
      const struct kind_rule *one = &settings->kinds[i];
      if (one->flat || !span_equal(one->source, rule->source)) break;
      if (i > first) buffer_byte(out, ',');
      json_write_string(one->whole_source ? span_text("enable") : one->name, out);
      buffer_byte(out, ':');
      write_wanted(one->wanted, out);
    }
    buffer_byte(out, '}');
  }
  buffer_byte(out, '}');
}

static void write_tools(const struct settings *settings, struct buffer *out) {
  buffer_byte(out, '{');
  for (size_t i = 0; i < settings->tool_count;) {
    struct tidings_span tool = settings->tools[i].tool;
    if (i) buffer_byte(out, ',');
    json_write_string(tool, out);
    buffer_text(out, ":{\"notifications\":{");
    for (size_t first = i; i < settings->tool_count && span_equal(settings->tools[i].tool, tool);
         i++) {
      if (i > first) buffer_byte(out, ',');
      json_write_string(settings->tools[i].name, out);
      buffer_byte(out, ':');
      write_wanted(settings->tools[i].wanted, out);
    }
    buffer_text(out, "}}");
  }
  buffer_byte(out, '}');
}

static void write_delivery(const struct settings *settings, struct buffer *out) {
  const struct {
    const struct choices *choices;
    enum delivery_key key;
    uint8_t value;
  } chosen[] = {{&config_preset_choices, DELIVERY_PRESET, settings->preset},
                {&config_format_choices, DELIVERY_FORMAT, settings->format},
                {&config_place_choices, DELIVERY_PLACE, settings->place},
                {&config_order_choices, DELIVERY_ORDER, settings->order},
                {&config_overflow_choices, DELIVERY_OVERFLOW, settings->overflow}};
  buffer_byte(out, '{');
  for (size_t i = 0; i < sizeof chosen / sizeof *chosen; i++) {
    write_key(config_delivery_names[chosen[i].key], i == 0, out);
    write_choice(chosen[i].choices, chosen[i].value, out);
  }
  write_key(config_delivery_names[DELIVERY_MAX_ITEMS], false, out);
  buffer_format(out, "%u", settings->max_items);
  write_key(config_delivery_names[DELIVERY_MAX_TOKENS], false, out);
  buffer_format(out, "%u", settings->max_tokens);
  write_key(config_delivery_names[DELIVERY_MAX_BYTES], false, out);
  buffer_format(out, "%u", settings->max_bytes);
  write_key(config_delivery_names[DELIVERY_COALESCE_WINDOW_MS], false, out);
  buffer_format(out, "%u", settings->coalesce_window_ms);
  write_key(config_delivery_names[DELIVERY_ANNIHILATE], false, out);
  write_bool(settings->annihilate, out);
  write_key(config_delivery_names[DELIVERY_FENCE], false, out);
  write_choice(&config_fence_choices, settings->fence, out);
  write_key(config_delivery_names[DELIVERY_PREAMBLE], false, out);
  write_choice(&config_preamble_choices, settings->preamble, out);
  write_key(config_delivery_names[DELIVERY_AGE_AFTER_MS], false, out);
  buffer_format(out, "%u", settings->age_after_ms);
  buffer_byte(out, '}');
}

static void write_turns(const struct settings *settings, struct buffer *out) {
  buffer_byte(out, '{');
  write_key(config_turns_names[TURNS_DISCIPLINE], true, out);
  write_choice(&config_discipline_choices, settings->discipline, out);
  write_key(config_turns_names[TURNS_SETTLE_DELAY_MS], false, out);
  buffer_format(out, "%u", settings->settle_delay_ms);
  write_key(config_turns_names[TURNS_RESTART], false, out);
  write_choice(&config_restart_choices, settings->restart_hold, out);
  write_key(config_turns_names[TURNS_MAX_AUTO_TURNS], false, out);
  buffer_format(out, "%u", settings->max_auto_turns);
  write_key(config_turns_names[TURNS_DEFAULT_DELIVERY], false, out);
  write_choice(&config_default_delivery_choices, settings->steer_by_default, out);
  buffer_byte(out, '}');
}

static void write_critical(const struct settings *settings, struct buffer *out) {
  buffer_byte(out, '{');
  write_key(config_critical_names[CRITICAL_FORCE], true, out);
  write_bool(settings->critical_force, out);
  write_key(config_critical_names[CRITICAL_MAX_ABORTS], false, out);
  buffer_format(out, "%u", settings->max_aborts);
  write_key(config_critical_names[CRITICAL_ABORT_WINDOW_MS], false, out);
  buffer_format(out, "%u", settings->abort_window_ms);
  buffer_byte(out, '}');
}

static void write_alerts(const struct settings *settings, struct buffer *out) {
  const bool values[ALERTS_COUNT] = {settings->alerts_idle, settings->alerts_waiting,
                                     settings->alerts_critical, settings->alerts_delivered};
  buffer_byte(out, '{');
  for (size_t i = 0; i < ALERTS_COUNT; i++) {
    write_key(config_alerts_names[i], i == 0, out);
    write_bool(values[i], out);
  }
  buffer_byte(out, '}');
}

static void write_limits(const struct settings *settings, struct buffer *out) {
  const int64_t values[LIMIT_COUNT] = {
      [LIMIT_EVENT_BYTES] = settings->event_bytes,
      [LIMIT_MESSAGE_BYTES] = settings->message_bytes,
      [LIMIT_PENDING_PER_SESSION] = settings->pending_per_session,
      [LIMIT_DEDUP_WINDOW_MS] = settings->dedup_window_ms,
      [LIMIT_SOURCE_PER_MINUTE] = settings->source_per_minute,
  };
  buffer_byte(out, '{');
  for (size_t i = 0; i < LIMIT_COUNT; i++) {
    write_key(config_limit_keys[i].name, i == 0, out);
    buffer_format(out, "%lld", (long long)values[i]);
  }
  buffer_byte(out, '}');
}

void config_write(const struct settings *settings, struct buffer *out) {
  buffer_text(out, "{\"conversation\":{\"notifications\":{\"enable\":");
  write_bool(settings->notifications_enabled, out);
  buffer_text(out, ",\"kinds\":");
  write_kinds(settings, out);
  buffer_text(out, "},\"tools\":");
  write_tools(settings, out);
  buffer_text(out, "},\"delivery\":");
  write_delivery(settings, out);
  buffer_text(out, ",\"turns\":");
  write_turns(settings, out);
  buffer_text(out, ",\"critical\":");
  write_critical(settings, out);
  buffer_text(out, ",\"alerts\":");
  write_alerts(settings, out);
  buffer_text(out, ",\"limits\":");
  write_limits(settings, out);
  buffer_byte(out, '}');
}
