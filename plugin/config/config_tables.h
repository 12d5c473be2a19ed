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

/* The values of a key that chooses. An index is the value of the enum in settings.h (or
 * TIDINGS_PLACE_*). */
struct choices {
  const char *const *names;
  size_t count;
};

extern const struct choices config_preset_choices, config_format_choices, config_place_choices,
    config_order_choices, config_overflow_choices, config_fence_choices, config_preamble_choices,
    config_discipline_choices, config_default_delivery_choices, config_restart_choices;

enum delivery_key {
  DELIVERY_PRESET,
  DELIVERY_FORMAT,
  DELIVERY_PLACE,
  DELIVERY_ORDER,
  DELIVERY_MAX_ITEMS,
  DELIVERY_OVERFLOW,
  DELIVERY_MAX_TOKENS,
  DELIVERY_MAX_BYTES,
  DELIVERY_COALESCE_WINDOW_MS,
  DELIVERY_ANNIHILATE,
  DELIVERY_FENCE,
  DELIVERY_PREAMBLE,
  DELIVERY_AGE_AFTER_MS,
  DELIVERY_COUNT
};
enum turns_key {
  TURNS_DISCIPLINE,
  TURNS_SETTLE_DELAY_MS,
  TURNS_RESTART,
  TURNS_MAX_AUTO_TURNS,
  TURNS_DEFAULT_DELIVERY,
  TURNS_COUNT
};
enum critical_key { CRITICAL_FORCE, CRITICAL_MAX_ABORTS, CRITICAL_ABORT_WINDOW_MS, CRITICAL_COUNT };
enum alerts_key { ALERTS_IDLE, ALERTS_WAITING, ALERTS_CRITICAL, ALERTS_DELIVERED, ALERTS_COUNT };
extern const char *const config_alerts_names[ALERTS_COUNT];
extern const char *const config_delivery_names[DELIVERY_COUNT],
    *const config_turns_names[TURNS_COUNT], *const config_critical_names[CRITICAL_COUNT];

enum limit {
  LIMIT_EVENT_BYTES,
  LIMIT_MESSAGE_BYTES,
  LIMIT_PENDING_PER_SESSION,
  LIMIT_DEDUP_WINDOW_MS,
  LIMIT_SOURCE_PER_MINUTE,
  LIMIT_COUNT
};
struct limit_key {
  const char *name;
  int64_t min, max, initial;
};
extern const struct limit_key config_limit_keys[LIMIT_COUNT];

/* What a preset sets. */
struct config_preset_values {
  uint8_t format, place, order, overflow, fence, preamble;
  bool annihilate;
  uint32_t max_items, max_tokens, coalesce_window_ms, age_after_ms;
};
extern const struct config_preset_values config_preset_values[];

enum {
  MAX_ITEMS_LIMIT = 1000000,
  MAX_TOKENS_LIMIT = 10000000,
  MAX_BYTES_LIMIT = 100000000,
  COALESCE_WINDOW_LIMIT_MS = 86400000,
  AGE_AFTER_LIMIT_MS = 86400000
};
enum {
  SETTLE_DELAY_LIMIT_MS = 3600000,
  MAX_AUTO_TURNS_LIMIT = 1000000,
  MAX_ABORTS_LIMIT = 64,
  ABORT_WINDOW_LIMIT_MS = 86400000
};

/* conversation.notifications.kinds and conversation.tools. Each returns 0, SCHEMA or NOMEM. */
int config_read_kind_rules(const struct path *path, const struct json *kinds, struct arena *arena,
                           struct settings *settings, struct tidings_error *error);
int config_read_tool_rules(const struct path *path, const struct json *tools, struct arena *arena,
                           struct settings *settings, struct tidings_error *error);

#endif
