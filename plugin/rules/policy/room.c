/* SPDX-License-Identifier: MIT
 *
 * rules/policy/room.c: limits the bytes of the whole rendered block. In the order of fair.c each
 * line is shown whole; the first one that does not fit waits, and so do all later ones. A line is
 * cut only if it could never be shown whole, and only if it is the first. A line that does not fit
 * even when it is cut waits for more room, and the others do not wait for it.
 */
#include "rules/policy/steps.h"

/* No character, name or number is shown in more than LONGEST_SHOWN bytes for each of its own. */
enum { LONGEST_SHOWN = 8, SPARE_BYTES = 128 };

int policy_begin_room(struct work *work, const struct room *room) {
  work->room = room;
  work->deferred = room->deferred;
  work->measure = arena_zalloc(work->arena, 1, sizeof *work->measure);
  work->is_too_large = arena_zalloc(work->arena, work->item_count, sizeof *work->is_too_large);
  if (!work->measure || !work->is_too_large) return -1;
  return render_measure_begin(work->measure, room->frame);
}

void policy_end_room(struct work *work) {
  if (work->measure) render_measure_end(work->measure);
}

/* Is there room for the block with this line after those in `shown`? Then the line is added to
 * them. */
static int admit_line(struct work *work, const struct line *line, uint64_t line_bytes,
                      size_t waiting, uint64_t room, struct measured *shown, bool *ret_in) {
  struct measured with = *shown;
  uint64_t bytes;
  render_measure_add(work->measure, &with, line_bytes, line->level);
  if (render_measure_block(work->measure, &with, waiting, &bytes)) return -1;
  *ret_in = bytes <= room;
  if (*ret_in) *shown = with;
  return 0;
}

/* Would the line fit into `room` if it were the only one that is shown? */
static int fits_alone(struct work *work, const struct line *line, uint64_t room, bool *ret_fits) {
  struct measured none = {0};
  size_t waiting = work->deferred + work->line_count - 1;
  uint64_t bytes;
  if (render_measure_line(work->measure, line, &bytes)) return -1;
  return admit_line(work, line, bytes, waiting, room, &none, ret_fits);
}

/* -- which lines do not fit -------------------------------------------------------------------- */

/* Writes the shortest form in which the line may be shown. */
static int write_least(const struct work *work, const struct line *line, struct line *ret_least) {
  struct line least = *line;
  if (line->files) {
    if (policy_write_files(work, &least, 1)) return -1;
  } else {
    size_t kept = policy_least_bytes(line);
    if (policy_write_cut(work, line, kept, &least.message)) return -1;
    if (least.message.len >= line->message.len) least.message = line->message;
  }
  *ret_least = least;
  return 0;
}

bool policy_has_room_for(const struct work *work, size_t bytes) {
  return work->measure->alone + LONGEST_SHOWN * ((uint64_t)bytes + SPARE_BYTES) <=
         work->room->bytes;
}

/* Does a text of `bytes` bytes fit, whatever is in it? */
static bool has_room_for(const struct work *work, const struct line *line, size_t bytes) {
  const struct notification *note = &line->item->note;
  return policy_has_room_for(work, bytes + note->source.len + note->name.len);
}

/* Does the line fit for certain? Does not render the line, and mostly does not read it. */
static bool fits_surely(const struct work *work, const struct line *line) {
  if (line->files) return has_room_for(work, line, line->message.len);
  return has_room_for(work, line, line->item->note.message.len) ||
         has_room_for(work, line, policy_least_bytes(line));
}

static int can_be_shown(struct work *work, const struct line *line, bool *ret_can) {
  struct line least;
  *ret_can = true;
  if (fits_surely(work, line)) return 0;
  if (fits_alone(work, line, work->room->bytes, ret_can)) return -1;
  if (*ret_can) return 0;
  if (write_least(work, line, &least)) return -1;
  return fits_alone(work, &least, work->room->bytes, ret_can);
}

static void count_too_large(struct work *work, const struct line *line) {
  work->too_large++;
  work->is_too_large[first_of(work, line)] = true;
  for (size_t i = first_of(work, line); i != NO_ITEM; i = work->next[i])
    if (work->items[i].n > work->too_large_newest) work->too_large_newest = work->items[i].n;
}

/* Do all lines fit whole? Then the block has no line about those that wait. */
static int all_fit(struct work *work, bool *ret_fit) {
  struct measured shown = {0};
  uint64_t bytes;
  *ret_fit = true;
  for (size_t i = 0; *ret_fit && i < work->line_count; i++) {
    if (render_measure_line(work->measure, &work->lines[i], &bytes) ||
        admit_line(work, &work->lines[i], bytes, 0, work->room->bytes, &shown, ret_fit))
      return -1;
  }
  return 0;
}

int policy_defer_too_large(struct work *work) {
  bool *kept = arena_zalloc(work->arena, work->line_count, sizeof *kept);
  size_t count = 0;
  bool fit = false;
  if (!kept) return -1;
  for (size_t i = 0; i < work->line_count; i++) {
    if (can_be_shown(work, &work->lines[i], &kept[i])) return -1;
    count += kept[i];
  }
  if (count == work->line_count) return 0;
  if (all_fit(work, &fit)) return -1;
  if (fit) return 0;
  for (size_t i = 0; i < work->line_count; i++) {
    if (!kept[i]) count_too_large(work, &work->lines[i]);
  }
  policy_defer_lines(work, kept);
  return 0;
}

/* -- what is shown ----------------------------------------------------------------------------- */

struct fitting {
  size_t *order;
  uint64_t *bytes; /* of the lines in that order */
  size_t measured; /* how many of them are measured */
  uint64_t room;   /* of the block */
};

static int bytes_of(struct work *work, struct fitting *fitting, size_t at, uint64_t *ret_bytes) {
  for (; fitting->measured <= at; fitting->measured++) {
    const struct line *line = &work->lines[fitting->order[fitting->measured]];
    if (render_measure_line(work->measure, line, &fitting->bytes[fitting->measured])) return -1;
  }
  *ret_bytes = fitting->bytes[at];
  return 0;
}

/* Tries to fit all lines, none cut; then the block has no line about those that wait. */
static int fit_all(struct work *work, struct fitting *fitting, bool *ret_fit) {
  struct measured shown = {0};
  uint64_t bytes;
  *ret_fit = true;
  for (size_t i = 0; *ret_fit && i < work->line_count; i++) {
    const struct line *line = &work->lines[fitting->order[i]];
    if (bytes_of(work, fitting, i, &bytes) ||
        admit_line(work, line, bytes, work->deferred, fitting->room, &shown, ret_fit))
      return -1;
  }
  return 0;
}

static int list_fewer(struct work *work, struct line *line, uint64_t room, bool *ret_in) {
  struct line fewer = *line;
  while (!*ret_in && fewer.listed > 1) {
    if (policy_write_files(work, &fewer, fewer.listed - 1)) return -1;
    if (fits_alone(work, &fewer, room, ret_in)) return -1;
  }
  if (*ret_in) *line = fewer;
  return 0;
}

static int try_cut(struct work *work, const struct line *line, size_t kept, uint64_t room,
                   struct line *cut, bool *ret_in) {
  struct line shorter = *line;
  *ret_in = false;
  if (policy_write_cut(work, line, kept, &shorter.message)) return -1;
  if (shorter.message.len >= line->message.len) return 0; /* a cut would save nothing */
  if (fits_alone(work, &shorter, room, ret_in)) return -1;
  shorter.shortened = true;
  if (*ret_in) *cut = shorter;
  return 0;
}

/* Keeps as much of the message as there is room for, but at least the shortest form. */
static int cut_to_fit(struct work *work, struct line *line, uint64_t room, bool *ret_in) {
  size_t fits = policy_least_bytes(line), too_long = line->message.len;
  struct line cut;
  if (too_long > room) too_long = room + 1; /* a text is never shown in fewer bytes than it has */
  if (try_cut(work, line, fits, room, &cut, ret_in)) return -1;
  if (!*ret_in) return 0;
  while (fits + 1 < too_long) {
    size_t kept = fits + (too_long - fits) / 2;
    bool in;
    if (try_cut(work, line, kept, room, &cut, &in)) return -1;
    if (in) fits = kept;
    else too_long = kept;
  }
  *line = cut;
  return 0;
}

/* The first line does not fit. If its item would fit into an empty reply, it waits for one. */
static int shorten_line(struct work *work, struct line *line, uint64_t room, bool *ret_in) {
  bool whole = false;
  *ret_in = false;
  if (room < work->room->bytes && fits_alone(work, line, work->room->bytes, &whole)) return -1;
  if (whole) return 0;
  return line->files ? list_fewer(work, line, room, ret_in) : cut_to_fit(work, line, room, ret_in);
}

static int fit_in_order(struct work *work, struct fitting *fitting, bool *kept) {
  struct measured shown = {0};
  uint64_t bytes;
  for (size_t i = 0; i < work->line_count; i++) {
    struct line *line = &work->lines[fitting->order[i]];
    size_t waiting = work->deferred + work->line_count - shown.count - 1;
    bool in = false;
    if (bytes_of(work, fitting, i, &bytes) ||
        admit_line(work, line, bytes, waiting, fitting->room, &shown, &in))
      return -1;
    if (!in && !shown.count) {
      if (shorten_line(work, line, fitting->room, &in)) return -1;
      if (in && (render_measure_line(work->measure, line, &bytes) ||
                 admit_line(work, line, bytes, waiting, fitting->room, &shown, &in)))
        return -1;
    }
    if (in) kept[fitting->order[i]] = true;
    else if (shown.count || fitting->room < work->room->bytes) return 0;
    else count_too_large(work, line); /* a cap keeps others back, and these have to be mentioned */
  }
  return 0;
}

/* The block is rendered from the pieces that were measured, so it should fit. If it does not, its
 * true length counts, and the last lines in order wait too. */
static int check_whole(struct work *work, const struct fitting *fitting, bool *kept) {
  struct line *lines = arena_array(work->arena, work->line_count, sizeof *lines);
  if (!lines) return -1;
  for (size_t last = work->line_count;; kept[fitting->order[--last]] = false) {
    struct render_input input = *work->room->frame;
    uint64_t bytes;
    size_t count = 0;
    for (size_t i = 0; i < work->line_count; i++) {
      if (kept[i]) lines[count++] = work->lines[i];
    }
    input.lines = lines;
    input.line_count = count;
    input.deferred = work->deferred + work->line_count - count;
    input.steered_count = 0;
    if (!count) return 0;
    if (render_bytes(&input, &work->measure->scratch, &bytes)) return -1;
    if (bytes <= fitting->room) return 0;
  }
}

int policy_fit_room(struct work *work) {
  const struct room *room = work->room;
  struct fitting fitting = {.room = room->taken < room->bytes ? room->bytes - room->taken : 0};
  bool all = false;
  if (!work->line_count) return 0;
  fitting.order = arena_zalloc(work->arena, work->line_count, sizeof *fitting.order);
  fitting.bytes = arena_array(work->arena, work->line_count, sizeof *fitting.bytes);
  bool *kept = arena_zalloc(work->arena, work->line_count, sizeof *kept);
  if (!fitting.order || !fitting.bytes || !kept || policy_fair_order(work, fitting.order))
    return -1;
  if (fit_all(work, &fitting, &all)) return -1;
  if (all) memset(kept, true, work->line_count * sizeof *kept);
  else if (fit_in_order(work, &fitting, kept)) return -1;
  if (check_whole(work, &fitting, kept)) return -1;
  policy_defer_lines(work, kept);
  return 0;
}
