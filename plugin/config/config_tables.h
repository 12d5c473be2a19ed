/* SPDX-License-Identifier: MIT
 *
 * config/config_tables.h: the keys and values of the configuration, in one place for the reader and
 * the writer. Private to config/.
 */
#ifndef CONFIG_CONFIG_TABLES_H
#define CONFIG_CONFIG_TABLES_H

#include <tidings/reply.h>

#include "event/field.h"
#include "values/settings.h"

/* The words that a key may have as its value. The index of a word is its number in the enum of
 * settings.h (or TIDINGS_PLACE_*). */
struct choices {
  const char *const *names;
  size_t count;
};

/* A key of a section, and the member of struct settings that it sets. */
struct config_key {
  const char *name;
  enum { CONFIG_CHOICE, CONFIG_BOOL, CONFIG_NUMBER } kind;
  size_t offset, width;          /* of the member; its width is 1, or 4 or 8 for CONFIG_NUMBER */
  const struct choices *choices; /* CONFIG_CHOICE */
  int64_t min, max;              /* CONFIG_NUMBER */
};

/* A section whose keys are all in the table, in the order in which they are written. */
struct config_section {
  const char *name;
  const struct config_key *keys;
  size_t count; /* at most CONFIG_MOST_KEYS */
};
enum { CONFIG_SECTION_COUNT = 5, CONFIG_MOST_KEYS = 14 };
extern const struct config_section config_sections[CONFIG_SECTION_COUNT];

extern const struct choices config_preset_choices;
extern const struct settings config_defaults; /* for all keys that no preset sets */

/* The values that a preset sets. */
struct config_preset_values {
  uint8_t format, place, order, overflow, fence, preamble;
  bool annihilate;
  uint32_t max_items, max_tokens, coalesce_window_ms, age_after_ms;
};
extern const struct config_preset_values config_preset_values[];

void config_apply_preset(struct settings *settings, uint8_t preset);

/* conversation.notifications.kinds and conversation.tools. Each returns 0, SCHEMA or NOMEM. */
int config_read_kind_rules(const struct path *parent, const struct json *kinds, struct arena *arena,
                           struct settings *settings, struct tidings_error *error);
int config_read_tool_rules(const struct path *parent, const struct json *tools, struct arena *arena,
                           struct settings *settings, struct tidings_error *error);

#endif
