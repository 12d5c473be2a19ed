/* SPDX-License-Identifier: MIT
 *
 * config/config_tables.c: see config_tables.h.
 */
#include "config/config_tables.h"

#include "config/config.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static const char *const preset_names[] = {"grouped",   "flat",     "xml",
                                           "xml-batch", "balanced", "plain"};
static const char *const format_names[] = {
    "markdown",        "markdown-flat", "xml",       "xml-batch",      "json",
    "system-reminder", "openai",        "anthropic", "synthetic-call", "plain"};
static const char *const place_names[] = {"prepend", "append"};
static const char *const order_names[] = {"level", "time", "newest"};
static const char *const overflow_names[] = {"defer", "drop_oldest", "drop_lowest"};
static const char *const fence_names[] = {"none", "nonce"};
static const char *const preamble_names[] = {"always", "first", "never"};
static const char *const discipline_names[] = {"serial", "coalescing"};
static const char *const restart_names[] = {"drain", "hold"};
static const char *const default_delivery_names[] = {"queue", "steer"};

const struct choices config_preset_choices = {preset_names, COUNT_OF(preset_names)};
const struct choices config_format_choices = {format_names, COUNT_OF(format_names)};
const struct choices config_place_choices = {place_names, COUNT_OF(place_names)};
const struct choices config_order_choices = {order_names, COUNT_OF(order_names)};
const struct choices config_overflow_choices = {overflow_names, COUNT_OF(overflow_names)};
const struct choices config_fence_choices = {fence_names, COUNT_OF(fence_names)};
const struct choices config_preamble_choices = {preamble_names, COUNT_OF(preamble_names)};
const struct choices config_discipline_choices = {discipline_names, COUNT_OF(discipline_names)};
const struct choices config_restart_choices = {restart_names, COUNT_OF(restart_names)};
const struct choices config_default_delivery_choices = {default_delivery_names,
                                                        COUNT_OF(default_delivery_names)};

const struct config_preset_values config_preset_values[] = {
    [PRESET_GROUPED] = {.format = FORMAT_MARKDOWN,
                        .place = TIDINGS_PLACE_PREPEND,
                        .order = ORDER_LEVEL},
    [PRESET_FLAT] = {.format = FORMAT_MARKDOWN_FLAT,
                     .place = TIDINGS_PLACE_PREPEND,
                     .order = ORDER_TIME,
                     .overflow = OVERFLOW_DROP_OLDEST,
                     .max_items = 10},
    [PRESET_XML] = {.format = FORMAT_XML, .place = TIDINGS_PLACE_APPEND, .order = ORDER_TIME},
    [PRESET_XML_BATCH] = {.format = FORMAT_XML_BATCH,
                          .place = TIDINGS_PLACE_APPEND,
                          .order = ORDER_LEVEL,
                          .max_items = 10,
                          .coalesce_window_ms = 2000},
    [PRESET_BALANCED] = {.format = FORMAT_MARKDOWN,
                         .place = TIDINGS_PLACE_APPEND,
                         .order = ORDER_LEVEL,
                         .fence = FENCE_NONCE,
                         .preamble = PREAMBLE_FIRST,
                         .annihilate = true,
                         .max_items = 10,
                         .max_tokens = 800,
                         .coalesce_window_ms = 2000,
                         .age_after_ms = 60000},
    [PRESET_PLAIN] = {.format = FORMAT_PLAIN,
                      .place = TIDINGS_PLACE_APPEND,
                      .order = ORDER_LEVEL,
                      .preamble = PREAMBLE_NEVER,
                      .annihilate = true,
                      .max_items = 10,
                      .max_tokens = 800,
                      .coalesce_window_ms = 2000,
                      .age_after_ms = 60000},
};

const char *const config_delivery_names[DELIVERY_COUNT] = {
    "preset",      "format",    "place",
    "order",       "max_items", "overflow",
    "max_tokens",  "max_bytes", "coalesce_window_ms",
    "annihilate",  "fence",     "preamble",
    "age_after_ms"};

const char *const config_turns_names[TURNS_COUNT] = {"discipline", "settle_delay_ms", "restart",
                                                     "max_auto_turns", "default_delivery"};
const char *const config_critical_names[CRITICAL_COUNT] = {"force", "max_aborts",
                                                           "abort_window_ms"};

const char *const config_alerts_names[ALERTS_COUNT] = {"idle", "waiting", "critical", "delivered"};

const struct limit_key config_limit_keys[LIMIT_COUNT] = {
    [LIMIT_EVENT_BYTES] = {"event_bytes", 1024, 1048576, 262144},
    [LIMIT_MESSAGE_BYTES] = {"message_bytes", 64, 262144, 16384},
    [LIMIT_PENDING_PER_SESSION] = {"pending_per_session", 1, 1000000, 10000},
    [LIMIT_DEDUP_WINDOW_MS] = {"dedup_window_ms", 0, INT64_C(30) * 86400000, 86400000},
    [LIMIT_SOURCE_PER_MINUTE] = {"source_per_minute", 0, 1000000, 0},
};

static const char *choice_name(const struct choices *choices, unsigned index) {
  return index < choices->count ? choices->names[index] : NULL;
}

const char *config_preset_name(unsigned preset) {
  return choice_name(&config_preset_choices, preset);
}

const char *config_format_name(unsigned format) {
  return choice_name(&config_format_choices, format);
}
