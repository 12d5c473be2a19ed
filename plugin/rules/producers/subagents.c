/* SPDX-License-Identifier: MIT
 *
 * rules/producers/subagents.c: a subagent's end, with the beginning of what it has to say. An idle
 * session is started for it.
 */
#include "common/utf8.h"
#include "rules/producers/internal.h"

enum { SUMMARY_CHARACTERS = 500 };

void produce_subagent_finished(const struct report *report, struct produced *produced,
                               struct buffer *words) {
  set_kind(&produced->note, "subagent", "finished", TIDINGS_LEVEL_INFO);
  produced->note.activation = ACTIVATION_IDLE;
  buffer_text(words, "[Subagent '");
  buffer_span(words, report->slug);
  buffer_text(words, "' finished]");
  if (!report->summary.len) return;
  buffer_byte(words, '\n');
  buffer_append(words, report->summary.ptr, utf8_characters(report->summary, SUMMARY_CHARACTERS));
}
