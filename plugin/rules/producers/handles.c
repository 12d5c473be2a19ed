/* SPDX-License-Identifier: MIT
 *
 * rules/producers/handles.c: background tools. What they come to is news until the assistant has
 * looked itself.
 */
#include "rules/producers/internal.h"

void produce_handle_state(const struct report *report, struct produced *produced,
                          struct buffer *words) {
  struct notification *note = &produced->note;
  note->tool = report->tool;
  note->handle = report->handle;
  if (report->state == HANDLE_RUNNING) { /* it does not wait any more */
    produced->withdraw_handle = report->handle;
    produced->withdraw_reason = REASON_RUNNING;
    return;
  }
  buffer_text(words, "Tool `");
  buffer_span(words, report->tool);
  buffer_text(words, "` (handle `");
  buffer_span(words, report->handle);
  buffer_text(words, "`) ");
  switch ((enum handle_state)report->state) {
  case HANDLE_WAITING:
    set_kind(note, "tool", "waiting", TIDINGS_LEVEL_WARNING);
    buffer_text(words, "is waiting for input.");
    break;
  case HANDLE_FAILED:
    set_kind(note, "tool", "failed", TIDINGS_LEVEL_ERROR);
    if (report->has_exit_code)
      buffer_format(words, "failed with exit code %lld.", (long long)report->exit_code);
    else buffer_text(words, "failed.");
    break;
  case HANDLE_STOPPED:
  case HANDLE_RUNNING:
    set_kind(note, "tool", "stopped", TIDINGS_LEVEL_INFO);
    buffer_text(words, "has stopped with result available.");
    break;
  }
}

void produce_handle_polled(const struct report *report, struct produced *produced,
                           struct buffer *words) {
  (void)words;
  produced->withdraw_handle = report->handle;
  produced->withdraw_reason = REASON_POLLED;
}
