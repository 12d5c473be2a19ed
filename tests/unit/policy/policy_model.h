/* SPDX-License-Identifier: MIT
 *
 * tests/unit/policy/policy_model.h: a second plan, naive on purpose, that follows the words of the
 * documentation step by step. It shares only the types with the plugin's plan.
 */
#ifndef TESTS_UNIT_POLICY_MODEL_H
#define TESTS_UNIT_POLICY_MODEL_H

#include "items.h"

enum { MODEL_PATHS = 3 }; /* of one item, at most */

struct model_line {
  size_t items[MOST_ITEMS]; /* indices */
  size_t count;
  uint64_t place, group, newest;
  int64_t time_ms;
  uint8_t level;
  bool pinned;
  struct tidings_span message;
  bool shortened;
  /* a list of files: the first `listed` by name */
  struct tidings_span files[MOST_ITEMS * MODEL_PATHS];
  uint8_t changes[MOST_ITEMS * MODEL_PATHS];
  size_t file_count, listed;
  struct tidings_span tool; /* that ran while all of them changed */
};

struct model {
  struct disposition dispositions[MOST_ITEMS];
  uint64_t places[MOST_ITEMS];
  struct model_line lines[MOST_ITEMS]; /* what is shown */
  size_t shown, deferred;              /* lines */
  struct model_line made[MOST_ITEMS];  /* all of them */
  size_t made_count;
  size_t waiting;   /* items of deferred lines */
  size_t too_large; /* of the deferred lines: those that fit into no such room */
  uint64_t too_large_newest;
  bool is_too_large[MOST_ITEMS]; /* at the first item of each */
  /* the item that has undone this path of this item, plus 1; 0: none has */
  size_t undone[MOST_ITEMS][MODEL_PATHS];
  struct items seen;          /* without the paths that the assistant itself has changed */
  bool shortened[MOST_ITEMS]; /* it had such paths, and others */
  bool gone[MOST_ITEMS];      /* it had ended before the step that cancels pairs out */
  size_t awaited;             /* withdrawn, but pending until no watcher can speak of it any more */
  struct arena *arena;        /* of messages */
};

static inline bool model_is_file(const struct item *item) {
  return item->note.made_by == MADE_BY_FILE_CHANGED && item->facts.path_count > 0 &&
         item->note.level != TIDINGS_LEVEL_CRITICAL;
}
/* policy_model_files.c: ends what reports of files have undone. `windows` NULL: all are one window,
 * and only reports of one file count. */
void model_undo(struct model *model, const struct items *items, const size_t *windows);
/* Make the list of a line's files, and its text with only some files by name. */
void model_list(const struct model *model, const struct items *items, struct model_line *line);
void model_write_list(struct model *model, struct model_line *line, size_t listed);
bool model_is_undone(const struct model *model, const struct items *items,
                     const struct model_line *line);
/* Does the line name one of the item's files? */
bool model_names(const struct model *model, const struct items *items,
                 const struct model_line *line, size_t i);

/* `room` NULL: there is no bound. */
void model_plan(struct model *model, const struct items *items, const struct settings *settings,
                int64_t now_ms, const struct room *room, struct arena *arena);

#endif
