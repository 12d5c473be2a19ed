/* SPDX-License-Identifier: MIT
 *
 * rules/policy/filter.c: removes items that the configuration does not want. An item is shown only
 * if every setting that applies to it is true, or is "critical" and the item is critical.
 */
#include "rules/policy/steps.h"

/* An early draft of the contract called the source of a tool's notifications "handle"; such a key
 * counts for both. */
static bool is_rule_for(struct tidings_span rule_source, struct tidings_span source) {
  return span_equal(rule_source, source) ||
         (span_is(rule_source, "handle") && span_is(source, "tool"));
}

static bool lets_through(uint8_t wanted, const struct notification *note) {
  return wanted == WANTED_ALL || (wanted == WANTED_CRITICAL && notification_is_critical(note));
}

static enum reason kind_rule_against(const struct kind_rule *rule,
                                     const struct notification *note) {
  if (lets_through(rule->wanted, note) || !is_rule_for(rule->source, note->source))
    return REASON_NONE;
  if (rule->whole_source) return REASON_SOURCE;
  if (!span_equal(rule->name, note->name)) return REASON_NONE;
  return rule->flat ? REASON_FLAT_KIND : REASON_KIND;
}

/* The setting of the note's tool that does not let it through, `enable` before all others; NULL:
 * there is none. */
static const struct tool_rule *tool_rule_against(const struct settings *settings,
                                                 const struct notification *note) {
  const struct tool_rule *found = NULL;
  for (size_t i = 0; i < settings->tool_count && note->tool.len; i++) {
    const struct tool_rule *rule = &settings->tools[i];
    if (lets_through(rule->wanted, note) || !span_equal(rule->tool, note->tool)) continue;
    if (span_is(rule->name, "enable")) return rule;
    if (span_equal(rule->name, note->name)) found = rule;
  }
  return found;
}

/* Returns the broadest setting, so that the reason names what would have to change first. */
enum reason policy_filter_reason(const struct settings *settings, const struct notification *note) {
  if (!settings->notifications_enabled) return REASON_MASTER_SWITCH;
  enum reason broadest = REASON_NONE;
  for (size_t i = 0; i < settings->kind_count && broadest != REASON_SOURCE; i++) {
    enum reason reason = kind_rule_against(&settings->kinds[i], note);
    if (reason != REASON_NONE && (broadest == REASON_NONE || reason < broadest)) broadest = reason;
  }
  if (broadest != REASON_NONE) return broadest;
  return tool_rule_against(settings, note) ? REASON_TOOL : REASON_NONE;
}

static unsigned which_tool_rule(const struct settings *settings, const struct notification *note) {
  const struct tool_rule *rule = tool_rule_against(settings, note);
  return (span_is(rule->name, "enable") ? 1u : 0u) + (rule->wanted == WANTED_CRITICAL ? 2u : 0u);
}

void policy_filter(struct work *work) {
  for (size_t i = 0; i < work->item_count; i++) {
    if (!is_left(work, i)) continue;
    const struct notification *note = &work->items[i].note;
    enum reason reason = policy_filter_reason(work->settings, note);
    unsigned ref = reason == REASON_TOOL ? which_tool_rule(work->settings, note) : 0;
    if (reason != REASON_NONE) end_item(work, i, OUTCOME_FILTERED, reason, ref);
  }
}
