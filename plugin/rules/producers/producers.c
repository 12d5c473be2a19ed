/* SPDX-License-Identifier: MIT
 *
 * rules/producers/producers.c: which producer, and what is the same for all of them.
 */
#include "common/cut.h"
#include "rules/producers/internal.h"

static int finish_note(const struct event *event, const struct settings *settings,
                       const struct buffer *words, struct arena *arena, struct notification *note) {
  struct tidings_span message = buffer_view(words);
  note->data = event->data;
  if (event->report.has_level) note->level = event->report.level;
  if (message.len > settings->message_bytes)
    return cut_text(arena, message, settings->message_bytes, &note->message);
  return arena_copy(arena, message, &note->message);
}

int produce(const struct event *event, const struct settings *settings, const struct memory *memory,
            struct arena *arena, struct produced *ret_produced) {
  static void (*const producers[])(const struct report *, struct produced *, struct buffer *) = {
      [EVENT_HANDLE_STATE] = produce_handle_state,
      [EVENT_HANDLE_POLLED] = produce_handle_polled,
      [EVENT_MCP_STATE] = produce_mcp_state,
      [EVENT_FILE_CHANGED] = produce_file_changed,
      [EVENT_CONFIG_CHANGED] = produce_config_changed,
      [EVENT_BUDGET_USAGE] = produce_budget_usage,
      [EVENT_RATE_LIMITED] = produce_rate_limited,
      [EVENT_SUBAGENT_FINISHED] = produce_subagent_finished,
  };
  struct produced produced = {.memory = *memory};
  struct buffer words = BUFFER_EMPTY;
  producers[event->type](&event->report, &produced, &words);
  int code = words.failed ? -1 : 0;
  produced.speaks = words.len > 0;
  if (!code && produced.speaks) code = finish_note(event, settings, &words, arena, &produced.note);
  buffer_free(&words);
  if (!code) *ret_produced = produced;
  return code;
}
