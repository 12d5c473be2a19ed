/* SPDX-License-Identifier: MIT
 *
 * event/config_tables.h: the keys and values of the configuration, once for the reader and the writer. Private to event/.
 */
#ifndef EVENT_CONFIG_TABLES_H
#define EVENT_CONFIG_TABLES_H

#include <tidings/reply.h>

#include "base/settings.h"
#include "event/field.h"

/* The values of a key that chooses. The first `built` of the names are what this version has; the rest are known to the contract. An
 * index is the value of the enum in settings.h (or TIDINGS_PLACE_*). */
struct choices {
  const char *const *names;
  size_t built, known;
};

extern const struct choices preset_choices, format_choices, place_choices, order_choices, overflow_choices, fence_choices;

/* A key that is known but has, in this version, only its default value. */
enum fixed_kind { FIXED_INTEGER, FIXED_BOOL, FIXED_CHOICE };
struct fixed_key {
  const char *name;
  enum fixed_kind kind;
  int64_t value;          /* FIXED_INTEGER, FIXED_BOOL */
  struct choices choices; /* FIXED_CHOICE: the first name is the value */
};

enum delivery_key {
  DELIVERY_PRESET,
  DELIVERY_FORMAT,
  DELIVERY_PLACE,
  DELIVERY_ORDER,
  DELIVERY_MAX_ITEMS,
  DELIVERY_OVERFLOW,
  DELIVERY_MAX_TOKENS,
  DELIVERY_COALESCE_WINDOW_MS,
  DELIVERY_ANNIHILATE,
  DELIVERY_FENCE,
  DELIVERY_COUNT
};
enum { TURNS_COUNT = 4, CRITICAL_COUNT = 3 };
extern const char *const delivery_names[DELIVERY_COUNT];
extern const struct fixed_key turns_fixed[TURNS_COUNT], critical_fixed[CRITICAL_COUNT];

enum limit { LIMIT_EVENT_BYTES, LIMIT_MESSAGE_BYTES, LIMIT_PENDING_PER_SESSION, LIMIT_DEDUP_WINDOW_MS, LIMIT_COUNT };
struct limit_key {
  const char *name;
  int64_t min, max, initial;
};
extern const struct limit_key limit_keys[LIMIT_COUNT];

/* What a preset sets. */
struct preset_values {
  uint8_t format, place, order, overflow, fence;
  bool annihilate;
  uint32_t max_items, max_tokens, coalesce_window_ms;
};
extern const struct preset_values preset_values[];

enum { MAX_ITEMS_LIMIT = 1000000, MAX_TOKENS_LIMIT = 10000000, COALESCE_WINDOW_LIMIT_MS = 86400000 };

/* conversation.notifications.kinds and conversation.tools. Each returns 0, SCHEMA or NOMEM. */
int kind_rules_read(const struct path *path, const struct json *kinds, struct arena *arena, struct settings *settings,
                    struct tidings_error *error);
int tool_rules_read(const struct path *path, const struct json *tools, struct arena *arena, struct settings *settings,
                    struct tidings_error *error);

#endif
