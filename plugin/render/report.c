/* SPDX-License-Identifier: MIT
 */
#include "render/report.h"

#include "common/utf8.h"
#include "render/missing.h"
#include "render/run.h"

enum { SUMMARY_CHARACTERS = 500 };

static void write_name(const char *before, struct tidings_span name, const char *after,
                       struct buffer *out) {
  buffer_text(out, before);
  buffer_span(out, name);
  buffer_text(out, after);
}

static void write_handle_state(const struct report *report, size_t most, struct buffer *out) {
  write_name("Tool `", report->tool, "` (handle `", out);
  buffer_span(out, report->handle);
  buffer_text(out, "`) ");
  if (report->state == HANDLE_WAITING) buffer_text(out, "is waiting for input.");
  else if (report->state != HANDLE_FAILED) buffer_text(out, "has stopped with result available.");
  else if (report->has_exit_code)
    buffer_format(out, "failed with exit code %lld.", (long long)report->exit_code);
  else buffer_text(out, "failed.");
  render_last_lines(report->output, most, out);
}

static void write_mcp_state(const struct report *report, struct buffer *out) {
  write_name("MCP server `", report->server, "` ", out);
  if (report->state == MCP_DISCONNECTED) buffer_text(out, "has disconnected.");
  else if (report->state == MCP_UNRESPONSIVE) buffer_text(out, "is not responding.");
  else buffer_text(out, "has reconnected.");
}

const char *render_file_change_name(unsigned change) {
  static const char *const names[] = {"modified", "created", "deleted", "renamed"};
  return change <= FILE_RENAMED ? names[change] : "changed";
}

/* A file that is gone cannot be read again. */
static const char *since_edit(unsigned change) {
  return change == FILE_DELETED ? "since your edit" : "since your edit; read it again";
}

void render_file_change(struct tidings_span path, unsigned change, struct tidings_span tool,
                        bool edited, struct buffer *out) {
  write_name("`", path, "` was ", out);
  buffer_text(out, render_file_change_name(change));
  if (tool.len) write_name(" while ", tool, " ran", out);
  else buffer_text(out, " externally");
  if (edited) buffer_format(out, "%s %s", tool.len ? "," : "", since_edit(change));
  buffer_byte(out, '.');
}

void render_listed_file(struct tidings_span path, unsigned change, bool edited,
                        struct buffer *out) {
  buffer_span(out, path);
  if (edited) buffer_format(out, " (%s)", since_edit(change));
}

void render_files_title(const char *change, struct tidings_span tool, struct buffer *out) {
  if (change) buffer_format(out, "Multiple files %s", change);
  else buffer_text(out, "Files changed");
  if (tool.len) write_name(" while ", tool, " ran", out);
  buffer_text(out, ": ");
}

static void write_file_changed(const struct report *report, struct buffer *out) {
  const bool *edited = report->edited;
  if (report->path_count == 1) {
    render_file_change(report->paths[0], report->change, report->tool, edited && edited[0], out);
    return;
  }
  render_files_title(render_file_change_name(report->change), report->tool, out);
  for (size_t i = 0; i < report->path_count; i++) {
    if (i) buffer_text(out, ", ");
    render_listed_file(report->paths[i], report->change, edited && edited[i], out);
  }
}

/* part >= percent of whole, without overflow. */
static bool is_at_least(int64_t part, int64_t whole, int64_t percent) {
  return part >= whole / 100 * percent + (whole % 100 * percent + 99) / 100;
}

/* The percentage is rounded down. */
static void write_budget_usage(const struct report *report, struct buffer *out) {
  int64_t times = report->used / report->limit, rest = report->used % report->limit, percent = 0;
  while (percent < 99 && is_at_least(rest, report->limit, percent + 1)) percent++;
  buffer_text(out, "Token budget: ");
  if (times) buffer_format(out, "%lld%02lld", (long long)times, (long long)percent);
  else buffer_format(out, "%lld", (long long)percent);
  buffer_format(out, "%% used (%lld of %lld).", (long long)report->used, (long long)report->limit);
}

static void write_rate_limited(const struct report *report, struct buffer *out) {
  int64_t seconds = report->retry_after_ms / 1000 + (report->retry_after_ms % 1000 > 0);
  buffer_text(out, "Rate limited");
  if (report->provider.len) write_name(" by ", report->provider, "", out);
  buffer_format(out, "; retry after %lld s.", (long long)seconds);
}

static void write_subagent_finished(const struct report *report, struct buffer *out) {
  write_name("[Subagent '", report->slug, "' finished]", out);
  if (!report->summary.len) return;
  buffer_byte(out, '\n');
  size_t kept = utf8_characters(report->summary, SUMMARY_CHARACTERS);
  if (kept < report->summary.len) render_cut_text(report->summary, kept, out);
  else buffer_span(out, report->summary);
}

void render_report(enum event_type type, const struct report *report, size_t most,
                   struct buffer *out) {
  switch (type) {
  case EVENT_HANDLE_STATE: write_handle_state(report, most, out); break;
  case EVENT_RUN_FINISHED:
  case EVENT_RUN_FAILED: render_run(type, report, most, out); break;
  case EVENT_MCP_STATE: write_mcp_state(report, out); break;
  case EVENT_FILE_CHANGED: write_file_changed(report, out); break;
  case EVENT_CONFIG_CHANGED:
    write_name("Configuration reloaded: ", report->summary, "", out);
    break;
  case EVENT_BUDGET_USAGE: write_budget_usage(report, out); break;
  case EVENT_RATE_LIMITED: write_rate_limited(report, out); break;
  case EVENT_SUBAGENT_FINISHED: write_subagent_finished(report, out); break;
  default: break; /* producers make notifications of no other event */
  }
}
