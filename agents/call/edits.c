/* SPDX-License-Identifier: MIT
 *
 * agents/call/edits.c: which files a tool call has changed. Only tools that name the files in
 * their input are covered; changes by a shell command are not.
 */
#include <stdlib.h>
#include <string.h>

#include "agents/call/call.h"
#include "command/session_path.h"

/* Each names its file in one of the members of path_members. apply_patch, and what is called with a
 * text, has it there. */
static const char *const editing_tools[] = {"Write",      "Edit",    "MultiEdit", "NotebookEdit",
                                            "write_file", "replace", "edit",      "notebook_edit"};
static const char *const path_members[] = {"file_path", "absolute_path", "notebook_path", "path"};
static const char *const patch_lines[] = {
    "*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "};

static int add(const struct hook_call *call, json_t *paths, const char *path) {
  char *named = session_path(call->cwd, path);
  json_t *text = named ? json_string(named) : NULL;
  free(named);
  return json_array_append_new(paths, text);
}

static int add_patch_line(const struct hook_call *call, json_t *paths, const char *line,
                          size_t len) {
  for (size_t i = 0; i < sizeof patch_lines / sizeof patch_lines[0]; i++) {
    size_t start = strlen(patch_lines[i]);
    if (len <= start || strncmp(line, patch_lines[i], start) != 0) continue;
    while (len > start && (line[len - 1] == '\r' || line[len - 1] == ' ')) len--;
    char *path = strndup(line + start, len - start);
    int failed = path ? add(call, paths, path) : -1;
    free(path);
    return failed;
  }
  return 0;
}

static int add_patch(const struct hook_call *call, json_t *paths, const char *patch) {
  for (const char *line = patch; line && *line;) {
    size_t len = strcspn(line, "\n");
    if (add_patch_line(call, paths, line, len)) return -1;
    line += len + (line[len] == '\n');
  }
  return 0;
}

static bool is_editing(const char *tool) {
  for (size_t i = 0; i < sizeof editing_tools / sizeof editing_tools[0]; i++) {
    if (strcmp(tool, editing_tools[i]) == 0) return true;
  }
  return false;
}

static int collect(const struct hook_call *call, json_t *paths) {
  const json_t *input = hook_call_value(call, FIELD_INPUT);
  const char *text = json_string_value(input);
  if (strcmp(call->tool, "apply_patch") == 0 || (text && is_editing(call->tool))) {
    if (!text) text = json_string_value(json_object_get(input, "command"));
    if (!text) text = json_string_value(json_object_get(input, "input"));
    return text ? add_patch(call, paths, text) : 0;
  }
  for (size_t i = 0; is_editing(call->tool) && i < sizeof path_members / sizeof path_members[0];
       i++) {
    const char *path = json_string_value(json_object_get(input, path_members[i]));
    if (path && path[0]) return add(call, paths, path);
  }
  return 0;
}

json_t *hook_call_edits(const struct hook_call *call) {
  json_t *paths = json_array();
  if (paths && collect(call, paths)) {
    json_decref(paths);
    return NULL;
  }
  return paths;
}
