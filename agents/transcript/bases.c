/* SPDX-License-Identifier: MIT
 *
 * agents/transcript/bases.c: observed with Codex 0.169.0, whose first record names the former file.
 */
#include "agents/transcript/bases.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agents/transcript/records.h"
#include "agents/transcript/transcript.h"

enum { MOST = 8 << 20, MOST_FILES = 64 };

struct hook_base hook_base_of(const struct hook_record *first) {
  struct hook_base base = {.id = ""};
  struct tidings_span id = hook_record_first(first, SAYS_BASE);
  if (!hook_record_says(first, SAYS_BASE_BYTES) || id.len >= sizeof base.id) return base;
  if (id.len) memcpy(base.id, id.ptr, id.len);
  base.bytes = (size_t)hook_record_number(first, SAYS_BASE_BYTES);
  return base;
}

static bool is_file_of(const char *path, const char *id) {
  size_t len = strlen(path), id_len = strlen(id), end_len = strlen(".jsonl");
  return len > id_len + end_len && strncmp(path + len - id_len - end_len, id, id_len) == 0;
}

/* Finds all files of the session, in the folders of all days: PATH is …/sessions/YEAR/MONTH/DAY/
 * rollout-TIME-SESSION_FILE.jsonl. */
static bool find_files(const char *path, glob_t *ret_files) {
  enum { UUID = 36 };
  const char *slash = strrchr(path, '/'), *mark = slash ? strrchr(slash, '_') : NULL;
  char *pattern = NULL;
  if (!mark || mark - slash <= UUID) return false;
  int len = asprintf(&pattern, "%.*s/../../../*/*/*/rollout-*%.*s*.jsonl", (int)(slash - path),
                     path, UUID, mark - UUID);
  bool found = len >= 0 && glob(pattern, GLOB_NOSORT, NULL, ret_files) == 0;
  if (len >= 0) free(pattern);
  return found;
}

struct marking {
  struct hook_marks *marks;
  size_t undone_from;
  struct hook_base base;
  bool no_memory;
};

static bool mark_record(void *context, const struct hook_record *record) {
  struct marking *marking = context;
  if (!record->at) marking->base = hook_base_of(record);
  for (size_t i = 0; i < record->marker_count && !marking->no_memory; i++) {
    const struct hook_marked *marker = &record->markers[i];
    marking->no_memory = hook_marks_add(marking->marks, marker->delivery, marker->at,
                                        marker->at >= marking->undone_from);
  }
  return !marking->no_memory;
}

/* Marks the deliveries in a file. A file whose beginning could not be read gets no marks. */
static int mark_file(struct hook_marks *marks, const struct host *host, const char *path,
                     size_t undone_from, struct hook_base *ret_base) {
  struct marking marking = {.marks = marks, .undone_from = undone_from};
  const struct hook_reading reading = {
      .host = host, .markers = true, .each = mark_record, .context = &marking};
  struct hook_lines lines;
  int code = 0;
  *ret_base = (struct hook_base){.unread = true};
  if (hook_lines_read(path, MOST, &lines)) return 0;
  if (lines.whole) {
    code = hook_records_read(&reading, lines.text) || marking.no_memory ? -1 : 0;
    *ret_base = marking.base;
  }
  hook_lines_finish(&lines);
  return code;
}

/* Marks the deliveries of all files as undone, except in the parts that stay. If a file that stays
 * is missing or was not read, it marks nothing as undone, because more files may stay. */
static int mark_files(struct hook_marks *marks, const struct host *host, struct hook_base base,
                      const glob_t *files, bool *seen) {
  int code = 0;
  for (size_t i = 0; !code && base.id[0] && i < files->gl_pathc;) {
    bool next = !seen[i] && is_file_of(files->gl_pathv[i], base.id);
    if (next) {
      seen[i] = true;
      code = mark_file(marks, host, files->gl_pathv[i], base.bytes, &base);
    }
    i = next ? 0 : i + 1;
  }
  if (base.id[0] || base.unread) return code;
  for (size_t i = 0; !code && i < files->gl_pathc && i < MOST_FILES; i++) {
    if (!seen[i]) code = mark_file(marks, host, files->gl_pathv[i], 0, &base);
  }
  return code;
}

int hook_bases_mark(struct hook_marks *marks, const struct host *host, const char *path,
                    struct hook_base base) {
  const char *slash = strrchr(path, '/');
  glob_t files;
  if (!base.id[0] || !find_files(path, &files)) return 0;
  bool *seen = calloc(files.gl_pathc, sizeof *seen);
  for (size_t i = 0; seen && i < files.gl_pathc; i++)
    seen[i] = strcmp(strrchr(files.gl_pathv[i], '/'), slash) == 0;
  int code = seen ? mark_files(marks, host, base, &files, seen) : -1;
  free(seen);
  globfree(&files);
  return code;
}
