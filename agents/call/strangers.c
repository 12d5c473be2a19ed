/* SPDX-License-Identifier: MIT
 *
 * agents/call/strangers.c: each line is a JSON object, whose first members distinguish programs. A
 * program that a later version knows is not listed any more.
 */
#include "agents/call/strangers.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/json_value.h"
#include "command/owner.h"
#include "command/paths.h"
#include "common/clock.h"
#include "common/file.h"
#include "common/span.h"
#include "common/utf8.h"

enum { MOST_BYTES = 16 << 10, MOST_FIELDS = 40, MOST_TEXT = 200 };
static const char this_version[] = "{\"version\":\"" TIDINGS_VERSION "\",";

static char *file_path(void) {
  return paths_in_home("XDG_STATE_HOME", ".local/state", "tidings/logs/unknown-callers");
}

static json_t *cut(const char *text) {
  struct tidings_span span = span_text(text);
  return json_stringn(text, utf8_prefix(span, MOST_TEXT));
}

/* Returns only the names of the call's members, because their values may be secrets. */
static json_t *names_in(json_t *input) {
  json_t *names = json_array(), *value = NULL;
  const char *name = NULL;
  json_object_foreach(input, name, value) {
    if (json_array_size(names) < MOST_FIELDS) json_array_append_new(names, cut(name));
  }
  return names;
}

/* Returns the beginning of a program's lines: the object without its closing brace. Free it; NULL:
 * out of memory. */
static char *beginning(const struct hook_call *call, const char *program) {
  json_t *known = json_pack("{s:s, s:s, s:o}", "version", TIDINGS_VERSION, "host", call->host->name,
                            "program", cut(program));
  char *text = known ? json_dumps(known, JSON_COMPACT) : NULL;
  if (text) text[strlen(text) - 1] = ',';
  json_decref(known);
  return text;
}

static char *line_of(const struct hook_call *call, const char *start) {
  json_t *input = call->input;
  json_t *rest = json_pack("{s:o, s:o, s:o, s:I}", "event", cut(call->event), "transcript",
                           cut(json_value_text(input, "transcript_path")), "fields",
                           names_in(input), "at", (json_int_t)clock_wall_ms());
  char *text = rest ? json_dumps(rest, JSON_COMPACT) : NULL, *line = NULL;
  if (text && asprintf(&line, "%s%s\n", start, text + 1) < 0) line = NULL;
  free(text);
  json_decref(rest);
  return line;
}

/* Two processes may find no line at the same time and write the same line twice, which does no
 * harm. */
static void append(const char *path, const char *line, bool truncate) {
  const int flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  int fd = open(path, flags | (truncate ? O_TRUNC : 0), 0600);
  char *slash = strrchr(path, '/'), *folder = slash ? strndup(path, (size_t)(slash - path)) : NULL;
  if (fd < 0 && folder && !paths_make_folders(folder)) fd = open(path, flags, 0600);
  free(folder);
  if (fd < 0) return;
  (void)file_write_all(fd, line, strlen(line));
  close(fd);
}

void hook_stranger_note(const struct hook_call *call, uint32_t owner) {
  char program[OWNER_NAME_SIZE] = "", *text = NULL;
  size_t len = 0;
  if (owner) owner_program(owner, program);
  char *path = file_path(), *start = path ? beginning(call, program) : NULL;
  int reason = start ? file_read_whole(path, MOST_BYTES, &text, &len) : -1;
  bool known = text && start && strstr(text, start), old = text && !strstr(text, this_version);
  char *line = start && !known && reason != EFBIG ? line_of(call, start) : NULL;
  if (line && len + strlen(line) <= MOST_BYTES) append(path, line, old);
  free(line);
  free(text);
  free(start);
  free(path);
}

json_t *hook_strangers(char **ret_path) {
  static const struct json_rules rules = {.max_depth = 4};
  char *path = file_path(), *text = NULL, *at = NULL;
  size_t len = 0;
  json_t *all = json_array();
  if (path && file_read_whole(path, MOST_BYTES, &text, &len)) text = NULL;
  for (char *line = text ? strtok_r(text, "\n", &at) : NULL; line;
       line = strtok_r(NULL, "\n", &at)) {
    json_t *one = NULL;
    if (json_value_read(&rules, span_text(line), path, &one, NULL)) continue;
    if (strcmp(json_value_text(one, "version"), TIDINGS_VERSION) == 0) json_array_append(all, one);
    json_decref(one);
  }
  free(text);
  if (json_array_size(all)) {
    *ret_path = path;
    return all;
  }
  json_decref(all);
  free(path);
  return NULL;
}
