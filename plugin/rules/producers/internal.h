/* SPDX-License-Identifier: MIT
 *
 * rules/producers/internal.h: one function a kind of report. Each writes the words into `words`; a
 * message comes of them if any are written. Private to producers/.
 */
#ifndef RULES_PRODUCERS_INTERNAL_H
#define RULES_PRODUCERS_INTERNAL_H

#include "common/buffer.h"
#include "rules/producers/producers.h"

void produce_handle_state(const struct report *report, struct produced *produced,
                          struct buffer *words);
void produce_handle_polled(const struct report *report, struct produced *produced,
                           struct buffer *words);
void produce_mcp_state(const struct report *report, struct produced *produced,
                       struct buffer *words);
void produce_file_changed(const struct report *report, struct produced *produced,
                          struct buffer *words);
void produce_config_changed(const struct report *report, struct produced *produced,
                            struct buffer *words);
void produce_budget_usage(const struct report *report, struct produced *produced,
                          struct buffer *words);
void produce_rate_limited(const struct report *report, struct produced *produced,
                          struct buffer *words);
void produce_subagent_finished(const struct report *report, struct produced *produced,
                               struct buffer *words);

static inline void set_kind(struct notification *note, const char *source, const char *name,
                            uint8_t level) {
  note->source = span_text(source);
  note->name = span_text(name);
  note->level = level;
}

#endif
