/* SPDX-License-Identifier: MIT
 *
 * rules/producers/producers.c: one function for each kind of report: the kind and level of its
 * notification, and what it withdraws. render/report.c writes the sentence.
 */
#include "rules/producers/producers.h"

#include "render/missing.h"
#include "render/report.h"
#include "rules/producers/edits.h"

static void set_note(struct produced *produced, const char *source, const char *name,
                     uint8_t level) {
  produced->has_note = true;
  produced->note.source = span_text(source);
  produced->note.name = span_text(name);
  produced->note.level = level;
}

/* A handle that runs again does not wait any more, so that notification is withdrawn. */
static void produce_handle_state(const struct report *report, struct produced *produced) {
  produced->note.tool = report->tool;
  produced->note.handle = report->handle;
  switch ((enum handle_state)report->state) {
  case HANDLE_RUNNING:
    produced->withdraw_handle = report->handle;
    produced->withdraw_reason = REASON_RUNNING;
    produced->withdraws_critical = report->has_level && report->level == TIDINGS_LEVEL_CRITICAL;
    break;
  case HANDLE_WAITING: set_note(produced, "tool", "waiting", TIDINGS_LEVEL_WARNING); break;
  case HANDLE_FAILED: set_note(produced, "tool", "failed", TIDINGS_LEVEL_ERROR); break;
  case HANDLE_STOPPED: set_note(produced, "tool", "stopped", TIDINGS_LEVEL_INFO); break;
  }
}

/* The assistant has asked for the handle's state itself, so it needs no notification. */
static void produce_handle_polled(const struct report *report, struct produced *produced) {
  produced->withdraw_handle = report->handle;
  produced->withdraw_reason = REASON_POLLED;
}

/* This is a handle's last state. A poll withdraws it, and it supersedes earlier states. */
static void produce_run(const struct report *report, struct produced *produced, bool failed) {
  if (failed) set_note(produced, "run", "failed", TIDINGS_LEVEL_ERROR);
  else set_note(produced, "run", "finished", TIDINGS_LEVEL_INFO);
  produced->note.tool = report->tool;
  produced->note.handle = report->handle;
}

static void produce_run_finished(const struct report *report, struct produced *produced) {
  produce_run(report, produced, false);
}

static void produce_run_failed(const struct report *report, struct produced *produced) {
  produce_run(report, produced, true);
}

/* The first connection is not worth a notification. */
static void produce_mcp_state(const struct report *report, struct produced *produced) {
  switch ((enum mcp_state)report->state) {
  case MCP_CONNECTED: break;
  case MCP_DISCONNECTED: set_note(produced, "mcp", "disconnected", TIDINGS_LEVEL_ERROR); break;
  case MCP_UNRESPONSIVE: set_note(produced, "mcp", "unresponsive", TIDINGS_LEVEL_WARNING); break;
  case MCP_RECONNECTED: set_note(produced, "mcp", "reconnected", TIDINGS_LEVEL_INFO); break;
  }
}

/* A change that a call of the assistant's own caused is pushed all the same: the policy withdraws
 * it together with a watcher's report of the same change. */
static void produce_file_changed(const struct report *report, struct produced *produced) {
  set_note(produced, "file", "changed", TIDINGS_LEVEL_INFO);
  produced->note.caused_by = report->caused_by;
  produced->note.tool = report->tool;
}

static void produce_config_changed(const struct report *report, struct produced *produced) {
  (void)report;
  set_note(produced, "config", "reloaded", TIDINGS_LEVEL_INFO);
}

/* used >= percent of limit, without overflow. */
static bool reaches(int64_t used, int64_t limit, int64_t percent) {
  return used >= limit / 100 * percent + (limit % 100 * percent + 99) / 100;
}

/* A threshold is reported again after usage has fallen below it. If usage crosses several at once,
 * the highest is reported. */
static void produce_budget_usage(const struct report *report, struct produced *produced) {
  static const uint8_t thresholds[] = {75, 90, 95};
  uint8_t reached = 0, before = produced->memory.budget_percent;
  for (size_t i = 0; i < sizeof thresholds / sizeof *thresholds; i++) {
    if (reaches(report->used, report->limit, thresholds[i])) reached = thresholds[i];
  }
  produced->memory.budget_percent = reached;
  if (reached <= before) return;
  set_note(produced, "budget", "threshold",
           reached == 95 ? TIDINGS_LEVEL_ERROR : TIDINGS_LEVEL_WARNING);
}

static void produce_rate_limited(const struct report *report, struct produced *produced) {
  (void)report;
  set_note(produced, "rate", "limited", TIDINGS_LEVEL_WARNING);
}

/* This notification starts a turn in an idle session. */
static void produce_subagent_finished(const struct report *report, struct produced *produced) {
  (void)report;
  set_note(produced, "subagent", "finished", TIDINGS_LEVEL_INFO);
  produced->note.activation = ACTIVATION_IDLE;
}

static int write_note(const struct event *event, const struct settings *settings,
                      struct arena *arena, struct produced *produced) {
  static const uint8_t makers[] = {[EVENT_HANDLE_STATE] = MADE_BY_HANDLE_STATE,
                                   [EVENT_RUN_FINISHED] = MADE_BY_RUN_FINISHED,
                                   [EVENT_RUN_FAILED] = MADE_BY_RUN_FAILED,
                                   [EVENT_MCP_STATE] = MADE_BY_MCP_STATE,
                                   [EVENT_FILE_CHANGED] = MADE_BY_FILE_CHANGED,
                                   [EVENT_CONFIG_CHANGED] = MADE_BY_CONFIG_CHANGED,
                                   [EVENT_BUDGET_USAGE] = MADE_BY_BUDGET_USAGE,
                                   [EVENT_RATE_LIMITED] = MADE_BY_RATE_LIMITED,
                                   [EVENT_SUBAGENT_FINISHED] = MADE_BY_SUBAGENT_FINISHED};
  struct notification *note = &produced->note;
  struct buffer text = BUFFER_EMPTY;
  note->data = event->data;
  note->occurred_ms = event->occurred_ms;
  note->made_by = makers[event->type];
  note->key = event->report.key;
  note->ttl_ms = event->report.ttl_ms;
  if (event->report.has_level) note->level = event->report.level;
  if (event->report.has_activation) note->activation = event->report.activation;
  render_report(event->type, &event->report, settings->message_bytes, &text);
  struct tidings_span message = buffer_view(&text);
  int code = -1;
  if (message.len > settings->message_bytes) produced->uncut_bytes = message.len;
  if (!text.failed)
    code = produced->uncut_bytes
               ? render_cut(arena, message, settings->message_bytes, &note->message)
               : arena_copy(arena, message, &note->message);
  buffer_free(&text);
  return code;
}

bool produce_changes_memory(const struct memory *before, const struct memory *after) {
  return before->budget_percent != after->budget_percent ||
         !span_equal(before->edits, after->edits);
}

int produce(const struct event *event, const struct settings *settings, const struct memory *memory,
            struct arena *arena, struct produced *ret_produced) {
  static void (*const producers[])(const struct report *, struct produced *) = {
      [EVENT_HANDLE_STATE] = produce_handle_state,
      [EVENT_HANDLE_POLLED] = produce_handle_polled,
      [EVENT_RUN_FINISHED] = produce_run_finished,
      [EVENT_RUN_FAILED] = produce_run_failed,
      [EVENT_MCP_STATE] = produce_mcp_state,
      [EVENT_FILE_CHANGED] = produce_file_changed,
      [EVENT_CONFIG_CHANGED] = produce_config_changed,
      [EVENT_BUDGET_USAGE] = produce_budget_usage,
      [EVENT_RATE_LIMITED] = produce_rate_limited,
      [EVENT_SUBAGENT_FINISHED] = produce_subagent_finished,
  };
  struct produced produced = {.memory = *memory};
  producers[event->type](&event->report, &produced);
  if (produced.has_note && write_note(event, settings, arena, &produced)) return -1;
  if (produce_remembers(event) && event->type == EVENT_FILE_CHANGED &&
      edits_take(&produced.memory, &event->report, arena))
    return -1;
  *ret_produced = produced;
  return 0;
}
