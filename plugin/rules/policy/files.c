/* SPDX-License-Identifier: MIT
 *
 * rules/policy/files.c: combines several reports of changed files, path by path: the last change
 * counts; a file that was created and modified is created; one that was created and deleted never
 * existed.
 */
#include "rules/policy/steps.h"
#include "values/event.h"

/* The reports about a path so far. */
struct path_state {
  size_t last; /* the newest mention */
  bool open;   /* there is a mention */
  bool born;   /* the file was not there before the first of them */
  uint8_t change;
};

static size_t count_mentions(const struct work *work) {
  size_t count = 0;
  for (size_t i = 0; i < work->item_count; i++) {
    if (is_left(work, i) && is_file_change(&work->items[i]))
      count += work->items[i].facts.path_count;
  }
  return count;
}

/* Writes a text that is the same for one path in one window. */
static int write_place(const struct work *work, const size_t *windows, size_t i,
                       struct tidings_span path, struct tidings_span *ret) {
  if (!windows) {
    *ret = path;
    return 0;
  }
  char *text = arena_alloc(work->arena, sizeof *windows + path.len);
  if (!text) return -1;
  memcpy(text, &windows[i], sizeof *windows);
  memcpy(text + sizeof *windows, path.ptr, path.len);
  *ret = span_of(text, sizeof *windows + path.len);
  return 0;
}

static int gather_mentions(const struct work *work, const size_t *windows, struct trace *trace) {
  struct tidings_span *places = arena_array(work->arena, trace->count, sizeof *places);
  size_t *leaders = arena_array(work->arena, trace->count, sizeof *leaders), m = 0;
  if (!places || !leaders) return -1;
  for (size_t i = 0; i < work->item_count; i++) {
    const struct facts *facts = &work->items[i].facts;
    trace->first[i] = m;
    if (!is_left(work, i) || !is_file_change(&work->items[i])) continue;
    for (size_t p = 0; p < facts->path_count; p++, m++) {
      if (write_place(work, windows, i, facts->paths[p], &places[m])) return -1;
      trace->mentions[m] = (struct mention){
          .item = i, .path = facts->paths[p], .before = NO_ITEM, .opposite = NO_ITEM};
    }
  }
  if (policy_group_equal(places, trace->count, work->arena, leaders)) return -1;
  for (m = 0; m < trace->count; m++) trace->mentions[m].leader = leaders[m];
  return 0;
}

/* Removes the creation, the deletion `m` and all changes between them. */
static void undo(struct trace *trace, size_t m) {
  size_t first = m;
  for (size_t at = m; at != NO_ITEM; at = trace->mentions[at].before) {
    trace->mentions[at].opposite = trace->mentions[m].item;
    first = at;
  }
  trace->mentions[m].opposite = trace->mentions[first].item;
}

static void follow(struct trace *trace, struct path_state *state, size_t m, uint8_t change,
                   bool may_undo) {
  if (!state->open) *state = (struct path_state){.last = NO_ITEM, .born = change == FILE_CREATED};
  trace->mentions[m].before = state->last;
  state->born = state->born && may_undo;
  if (!state->open || state->change != FILE_CREATED || change != FILE_MODIFIED)
    state->change = change;
  state->last = m;
  state->open = true;
  if (!state->born || change != FILE_DELETED) return;
  undo(trace, m);
  state->open = false;
}

int policy_trace_files(const struct work *work, const size_t *windows, struct trace *ret_trace) {
  struct trace trace = {.count = count_mentions(work)};
  trace.mentions = arena_array(work->arena, trace.count, sizeof *trace.mentions);
  trace.first = arena_array(work->arena, work->item_count, sizeof *trace.first);
  struct path_state *states = arena_zalloc(work->arena, trace.count, sizeof *states);
  if (!trace.mentions || !trace.first || !states || gather_mentions(work, windows, &trace))
    return -1;
  for (size_t m = 0; m < trace.count; m++) {
    size_t i = trace.mentions[m].item;
    const struct facts *facts = &work->items[i].facts;
    struct mention *leader = &trace.mentions[trace.mentions[m].leader];
    struct path_state *state = &states[trace.mentions[m].leader];
    follow(&trace, state, m, facts->change, windows || facts->path_count == 1);
    leader->change = state->change;
    if (facts->edited && facts->edited[m - trace.first[i]]) leader->edited = true;
  }
  *ret_trace = trace;
  return 0;
}

void policy_end_undone(struct work *work, const struct trace *trace) {
  for (size_t m = 0; m < trace->count;) {
    size_t i = trace->mentions[m].item, opposite = NO_ITEM;
    bool all = true;
    for (; m < trace->count && trace->mentions[m].item == i; m++) {
      opposite = trace->mentions[m].opposite;
      all = all && opposite != NO_ITEM;
    }
    if (all) end_item(work, i, OUTCOME_ANNIHILATED, REASON_OPPOSITE, work->items[opposite].n);
  }
}

int policy_leave_out(struct item *item, const bool *out, struct arena *arena) {
  struct facts facts = item->facts;
  struct tidings_span *paths = arena_array(arena, facts.path_count, sizeof *paths);
  struct tidings_span *stamps = arena_array(arena, facts.path_count, sizeof *stamps);
  bool *edited = arena_array(arena, facts.path_count, sizeof *edited);
  if (!paths || !stamps || !edited) return -1;
  facts.path_count = 0;
  for (size_t p = 0; p < item->facts.path_count; p++) {
    if (out[p]) continue;
    paths[facts.path_count] = facts.paths[p];
    if (facts.stamps) stamps[facts.path_count] = facts.stamps[p];
    edited[facts.path_count++] = facts.edited && facts.edited[p];
  }
  facts.paths = paths;
  if (facts.stamps) facts.stamps = stamps;
  if (facts.edited) facts.edited = edited;
  item->facts = facts;
  item->shortened = true;
  return 0;
}

/* -- lists ------------------------------------------------------------------------------------- */

/* The different paths of a line, those with the same change side by side; among these the ones that
 * the assistant has edited come first. */
static size_t gather_files(const struct work *work, const struct line *line,
                           struct tidings_span *paths, uint8_t *changes, size_t *leaders) {
  static const struct {
    uint8_t change;
    bool edited;
  } order[] = {{FILE_DELETED, true},  {FILE_DELETED, false}, {FILE_CREATED, true},
               {FILE_CREATED, false}, {FILE_RENAMED, true},  {FILE_RENAMED, false},
               {FILE_MODIFIED, true}, {FILE_MODIFIED, false}};
  const struct trace *trace = &work->trace;
  size_t count = 0;
  for (size_t c = 0; c < sizeof order / sizeof *order; c++) {
    for (size_t i = first_of(work, line); i != NO_ITEM; i = work->next[i]) {
      for (size_t p = 0; p < work->items[i].facts.path_count; p++) {
        const struct mention *mention = &trace->mentions[trace->first[i] + p];
        const struct mention *leader = &trace->mentions[mention->leader];
        if (mention->opposite != NO_ITEM || work->slots[mention->leader] != NO_ITEM ||
            leader->change != order[c].change || leader->edited != order[c].edited)
          continue;
        work->slots[mention->leader] = count;
        paths[count] = mention->path;
        changes[count] = order[c].change;
        leaders[count++] = mention->leader;
      }
    }
  }
  return count;
}

/* Chooses the files that are named if not all can be: with two kinds of change, up to half plus one
 * of the first kind, so that each kind has some. *ret_order has the named files first, then the
 * others. */
static void choose_named(const uint8_t *changes, size_t count, size_t most, size_t *ret_order) {
  size_t named = 0, others, kinds = 0;
  for (size_t f = 0; f < count; f++) kinds += !f || changes[f] != changes[f - 1];
  for (size_t begin = 0, end; begin < count; begin = end, kinds--) {
    size_t share = most - named;
    if (kinds > 1) share = kinds == 2 && !named ? most / 2 + 1 : share / kinds;
    for (end = begin; end < count && changes[end] == changes[begin]; end++) {
      if (end - begin < share) ret_order[named++] = end;
    }
  }
  others = named;
  for (size_t f = 0, n = 0; f < count; f++) {
    if (n < named && ret_order[n] == f) n++;
    else ret_order[others++] = f;
  }
}

int policy_list_files(const struct work *work, struct line *line) {
  struct file_list *list = arena_zalloc(work->arena, 1, sizeof *list);
  size_t most = 0;
  for (size_t i = first_of(work, line); i != NO_ITEM; i = work->next[i])
    most += work->items[i].facts.path_count;
  struct tidings_span *paths = arena_array(work->arena, 2 * most, sizeof *paths);
  uint8_t *changes = arena_array(work->arena, 2 * most, sizeof *changes);
  size_t *leaders = arena_array(work->arena, most, sizeof *leaders);
  size_t *order = arena_array(work->arena, most, sizeof *order);
  bool *edited = arena_array(work->arena, most, sizeof *edited);
  if (!list || !paths || !changes || !leaders || !order || !edited) return -1;
  size_t count = gather_files(work, line, paths + most, changes + most, leaders);
  line->listed = render_files_most(count);
  choose_named(changes + most, count, line->listed, order);
  for (size_t f = 0; f < count; f++) {
    paths[f] = paths[most + order[f]];
    changes[f] = changes[most + order[f]];
    edited[f] = work->trace.mentions[leaders[order[f]]].edited;
    work->slots[leaders[order[f]]] = f;
  }
  *list = (struct file_list){.paths = paths,
                             .changes = changes,
                             .edited = edited,
                             .count = count,
                             .tool = line->item->note.tool};
  line->files = list;
  return 0;
}

bool policy_is_listed(const struct work *work, const struct line *line, size_t i) {
  const struct trace *trace = &work->trace;
  for (size_t p = 0; p < work->items[i].facts.path_count; p++) {
    const struct mention *mention = &trace->mentions[trace->first[i] + p];
    if (mention->opposite == NO_ITEM && work->slots[mention->leader] < line->listed) return true;
  }
  return false;
}
