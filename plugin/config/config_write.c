/* SPDX-License-Identifier: MIT
 *
 * config/config_write.c: writes the configuration as JSON: every key, and rules in the form in
 * which they were given.
 */
#include "config/config.h"

#include <inttypes.h>
#include <string.h>

#include "config/config_tables.h"

static void write_bool(bool value, struct buffer *out) {
  buffer_text(out, value ? "true" : "false");
}

static void write_wanted(uint8_t wanted, struct buffer *out) {
  if (wanted == WANTED_CRITICAL) buffer_text(out, "\"critical\"");
  else write_bool(wanted == WANTED_ALL, out);
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

static void write_value(const struct settings *settings, const struct config_key *key,
                        struct buffer *out) {
  const char *from = (const char *)settings + key->offset;
  uint8_t byte = (uint8_t)*from;
  int64_t number = 0;
  uint32_t small = 0;
  switch (key->kind) {
  case CONFIG_CHOICE: json_write_string(span_text(key->choices->names[byte]), out); return;
  case CONFIG_BOOL: write_bool(byte, out); return;
  case CONFIG_NUMBER:
    if (key->width == sizeof number) memcpy(&number, from, sizeof number);
    else memcpy(&small, from, sizeof small);
    buffer_format(out, "%" PRId64, number + small);
    return;
  }
}

static bool has_value_of(const struct settings *defaults, const struct settings *settings,
                         const struct config_key *key) {
  size_t width = key->kind == CONFIG_NUMBER ? key->width : 1;
  return memcmp((const char *)settings + key->offset, (const char *)defaults + key->offset,
                width) == 0;
}

/* `defaults` NULL: writes every key; otherwise only keys with another value, and no section without
 * one. */
static void write_section(const struct settings *settings, const struct settings *defaults,
                          const struct config_section *section, struct buffer *out) {
  bool any = false;
  for (size_t i = 0; i < section->count; i++) {
    const struct config_key *key = &section->keys[i];
    if (defaults && has_value_of(defaults, settings, key)) continue;
    if (!any) {
      buffer_byte(out, ',');
      json_write_string(span_text(section->name), out);
    }
    buffer_text(out, any ? "," : ":{");
    json_write_string(span_text(key->name), out);
    buffer_byte(out, ':');
    write_value(settings, key, out);
    any = true;
  }
  if (any) buffer_byte(out, '}');
}

static void write_conversation(const struct settings *settings, struct buffer *out) {
  buffer_text(out, "{\"conversation\":{\"notifications\":{\"enable\":");
  write_bool(settings->notifications_enabled, out);
  buffer_text(out, ",\"kinds\":");
  write_kinds(settings, out);
  buffer_text(out, "},\"tools\":");
  write_tools(settings, out);
  buffer_byte(out, '}');
}

void config_write(const struct settings *settings, struct buffer *out) {
  write_conversation(settings, out);
  for (size_t i = 0; i < CONFIG_SECTION_COUNT; i++)
    write_section(settings, NULL, &config_sections[i], out);
  buffer_byte(out, '}');
}

void config_write_changed(const struct settings *settings, struct buffer *out) {
  struct settings defaults = config_defaults;
  config_apply_preset(&defaults, settings->preset);
  defaults.preset = PRESET_GROUPED;
  write_conversation(settings, out);
  for (size_t i = 0; i < CONFIG_SECTION_COUNT; i++)
    write_section(settings, &defaults, &config_sections[i], out);
  buffer_byte(out, '}');
}
