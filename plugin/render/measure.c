/* SPDX-License-Identifier: MIT
 */
#include "render/measure.h"

static int render_block(struct measure *measure, const struct line *lines, size_t count,
                        size_t deferred, uint64_t *ret_bytes) {
  struct render_input input = *measure->frame;
  input.lines = lines;
  input.line_count = count;
  input.deferred = deferred;
  input.steered_count = 0;
  return render_bytes(&input, &measure->scratch, ret_bytes);
}

/* Makes a line with one letter of text and no age. Such lines differ only in their level. */
static struct line small_line(const struct measure *measure, unsigned level) {
  static const struct item item = {.note = {.source = {"x", 1}, .message = {"x", 1}}};
  return (struct line){.item = &item,
                       .message = item.note.message,
                       .count = 1,
                       .level = (uint8_t)level,
                       .time_ms = measure->frame->now_ms};
}

int render_measure_begin(struct measure *measure, const struct render_input *frame) {
  uint64_t one[LEVEL_COUNT], two;
  *measure = (struct measure){.frame = frame, .scratch = BUFFER_EMPTY};
  for (unsigned level = 0; level < LEVEL_COUNT; level++) {
    struct line line = small_line(measure, level);
    const struct line pair[] = {line, line};
    if (render_block(measure, pair, 1, 0, &one[level]) || render_block(measure, pair, 2, 0, &two))
      return -1;
    measure->next[level] = (int64_t)two - 2 * (int64_t)one[level];
    if (one[level] > measure->alone) measure->alone = one[level];
  }
  const struct line unlike[] = {small_line(measure, TIDINGS_LEVEL_INFO),
                                small_line(measure, TIDINGS_LEVEL_ERROR)};
  if (render_block(measure, unlike, 2, 0, &two)) return -1;
  measure->first =
      (int64_t)two - (int64_t)one[TIDINGS_LEVEL_INFO] - (int64_t)one[TIDINGS_LEVEL_ERROR];
  return 0;
}

void render_measure_end(struct measure *measure) { buffer_free(&measure->scratch); }

int render_measure_line(struct measure *measure, const struct line *line, uint64_t *ret_bytes) {
  return render_block(measure, line, 1, 0, ret_bytes);
}

void render_measure_add(const struct measure *measure, struct measured *block, uint64_t bytes,
                        unsigned level) {
  int64_t joined = !block->count            ? 0
                   : block->of_level[level] ? measure->next[level]
                                            : measure->first;
  block->bytes += bytes + (uint64_t)joined; /* `joined` may be negative: the sum wraps to less */
  block->count++;
  block->of_level[level]++;
}

static unsigned digits_of(size_t number) {
  unsigned digits = 1;
  for (; number >= 10; number /= 10) digits++;
  return digits;
}

/* Does the sentence about `a` waiting lines have as many bytes as that about `b`? */
static bool is_said_alike(size_t a, size_t b) {
  return a == b ||
         (a > 1 && b > 1 && digits_of(a) == digits_of(b) && digits_of(a + 1) == digits_of(b + 1));
}

static int render_measure_pending(struct measure *measure, size_t deferred) {
  struct line line = small_line(measure, TIDINGS_LEVEL_INFO);
  uint64_t none, some;
  if (is_said_alike(deferred, measure->pending_for)) return 0;
  if (render_block(measure, &line, 1, 0, &none) || render_block(measure, &line, 1, deferred, &some))
    return -1;
  measure->pending = some - none;
  measure->pending_for = deferred;
  return 0;
}

int render_measure_block(struct measure *measure, const struct measured *block, size_t deferred,
                         uint64_t *ret_bytes) {
  if (render_measure_pending(measure, deferred)) return -1;
  uint64_t bytes = block->bytes + measure->pending;
  if (measure->frame->format == FORMAT_XML_BATCH) { /* one line and those that wait were said */
    bytes += digits_of(block->count) - 1;
    if (deferred) bytes += digits_of(block->count + deferred) - digits_of(1 + deferred);
  }
  *ret_bytes = bytes;
  return 0;
}
