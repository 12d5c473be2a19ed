/* SPDX-License-Identifier: MIT
 *
 * config/config_tables.c: the presets, the defaults, and a table of every key of the flat sections.
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

#define CHOICES(names)                                                                             \
  { (names), COUNT_OF(names) }
const struct choices config_preset_choices = CHOICES(preset_names);
static const struct choices formats = CHOICES(format_names), places = CHOICES(place_names),
                            orders = CHOICES(order_names), overflows = CHOICES(overflow_names),
                            fences = CHOICES(fence_names), preambles = CHOICES(preamble_names),
                            disciplines = CHOICES(discipline_names),
                            restarts = CHOICES(restart_names),
                            default_deliveries = CHOICES(default_delivery_names);

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

const struct settings config_defaults = {
    .notifications_enabled = true,
    .discipline = DISCIPLINE_SERIAL,
    .max_auto_turns = 8,
    .critical_force = true,
    .alerts_delivered = true,
    .max_aborts = 3,
    .abort_window_ms = 60000,
    .event_bytes = 262144,
    .message_bytes = 16384,
    .pending_per_session = 10000,
    .dedup_window_ms = 86400000,
};

#define MEMBER(of)                                                                                 \
  .offset = offsetof(struct settings, of), .width = sizeof(((struct settings *)0)->of)
#define CHOICE(key, member, list)                                                                  \
  { .name = (key), .kind = CONFIG_CHOICE, MEMBER(member), .choices = &(list), .min = 0, .max = 0 }
#define BOOL(key, member)                                                                          \
  { .name = (key), .kind = CONFIG_BOOL, MEMBER(member), .choices = NULL, .min = 0, .max = 0 }
#define NUMBER(key, member, least, most)                                                           \
  {                                                                                                \
    .name = (key), .kind = CONFIG_NUMBER, MEMBER(member), .choices = NULL, .min = (least),         \
    .max = (most)                                                                                  \
  }

static const struct config_key delivery_keys[] = {
    CHOICE("preset", preset, config_preset_choices),
    CHOICE("format", format, formats),
    CHOICE("place", place, places),
    CHOICE("order", order, orders),
    CHOICE("overflow", overflow, overflows),
    NUMBER("max_items", max_items, 0, 1000000),
    NUMBER("max_tokens", max_tokens, 0, 10000000),
    NUMBER("max_bytes", max_bytes, 0, 100000000),
    NUMBER("coalesce_window_ms", coalesce_window_ms, 0, 86400000),
    BOOL("annihilate", annihilate),
    CHOICE("fence", fence, fences),
    CHOICE("preamble", preamble, preambles),
    NUMBER("age_after_ms", age_after_ms, 0, 86400000),
    BOOL("peers", says_peers),
};
static const struct config_key turns_keys[] = {
    CHOICE("discipline", discipline, disciplines),
    NUMBER("settle_delay_ms", settle_delay_ms, 0, 3600000),
    CHOICE("restart", restart_hold, restarts),
    NUMBER("max_auto_turns", max_auto_turns, 0, 1000000),
    CHOICE("default_delivery", steer_by_default, default_deliveries),
};
static const struct config_key critical_keys[] = {
    BOOL("force", critical_force),
    NUMBER("max_aborts", max_aborts, 0, 64),
    NUMBER("abort_window_ms", abort_window_ms, 0, 86400000),
};
static const struct config_key alerts_keys[] = {
    BOOL("idle", alerts_idle),
    BOOL("waiting", alerts_waiting),
    BOOL("critical", alerts_critical),
    BOOL("delivered", alerts_delivered),
};
static const struct config_key limits_keys[] = {
    NUMBER("event_bytes", event_bytes, 1024, 1048576),
    NUMBER("message_bytes", message_bytes, 64, 262144),
    NUMBER("pending_per_session", pending_per_session, 1, 1000000),
    NUMBER("dedup_window_ms", dedup_window_ms, 0, INT64_C(30) * 86400000),
    NUMBER("source_per_minute", source_per_minute, 0, 1000000),
};
_Static_assert(COUNT_OF(delivery_keys) <= CONFIG_MOST_KEYS, "the reader's arrays are long enough");

const struct config_section config_sections[CONFIG_SECTION_COUNT] = {
    {"delivery", delivery_keys, COUNT_OF(delivery_keys)},
    {"turns", turns_keys, COUNT_OF(turns_keys)},
    {"critical", critical_keys, COUNT_OF(critical_keys)},
    {"alerts", alerts_keys, COUNT_OF(alerts_keys)},
    {"limits", limits_keys, COUNT_OF(limits_keys)},
};

static const char *choice_name(const struct choices *choices, unsigned index) {
  return index < choices->count ? choices->names[index] : NULL;
}

const char *config_preset_name(unsigned preset) {
  return choice_name(&config_preset_choices, preset);
}

const char *config_format_name(unsigned format) { return choice_name(&formats, format); }
