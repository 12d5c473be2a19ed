/* SPDX-License-Identifier: MIT
 *
 * tests/unit/policy/policy_model_lines.h: the second half of the naive plan: coalesce, rank, cap,
 * tokens, room.
 */
#ifndef TESTS_UNIT_POLICY_MODEL_LINES_H
#define TESTS_UNIT_POLICY_MODEL_LINES_H

#include "policy_model.h"

void model_lines(struct model *model, const struct items *items, const struct settings *settings,
                 const struct room *room);

/* Is it line `a`'s turn before line `b`'s? */
bool model_has_turn_before(const struct model *model, const struct items *items, size_t a,
                           size_t b);
/* A line that is not kept waits, or is dropped, as `overflow` says. */
void model_keep_lines(struct model *model, const bool *kept, uint8_t overflow);
/* Returns how many bytes of a line's message are shown at least. */
size_t model_least(const struct items *items, const struct model_line *line);
/* Returns a line's message, cut to so many bytes. */
struct tidings_span model_cut(struct model *model, const struct items *items,
                              const struct model_line *line, size_t kept);

/* policy_model_room.c: lines that no reply of this room can hold are set aside, before any cap;
 * then the lines that have room are chosen. */
void model_set_aside(struct model *model, const struct items *items, const struct room *room);
void model_fit(struct model *model, const struct items *items, const struct room *room);
/* The bytes of the block with these lines as the host gets it. */
uint64_t model_block_bytes(const struct items *items, const struct render_input *frame,
                           const struct model_line *const *lines, size_t count, size_t waiting);

#endif
