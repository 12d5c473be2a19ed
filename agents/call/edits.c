/* SPDX-License-Identifier: MIT
 *
 * agents/call/edits.c: lists the files that a tool call has changed. Only tools that name the files
 * in their input are covered; changes by a shell command are not.
 */
#include <stdlib.h>
#include <string.h>

#include "agents/call/call.h"
#include "command/session_path.h"

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
  for (const char *line = patch; *line;) {
    size_t len = strcspn(line, "\n");
    if (add_patch_line(call, paths, line, len)) return -1;
    line += len + (line[len] == '\n');
  }
  return 0;
}

static const struct host_editor *editor_of(const struct hook_call *call) {
  const struct host_editor *editor = call->host->editors;
  while (editor && editor->tool && strcmp(editor->tool, call->tool) != 0) editor++;
  return editor && editor->tool ? editor : NULL;
}

static int collect(const struct hook_call *call, json_t *paths) {
  const json_t *input = hook_call_value(call, FIELD_INPUT);
  const struct host_editor *editor = editor_of(call);
  if (!editor) return 0;
  const char *patch = json_string_value(input), *path = hook_member_text(input, editor->paths);
  if (!patch) patch = hook_member_text(input, editor->patches);
  if (patch[0]) return add_patch(call, paths, patch);
  return path[0] ? add(call, paths, path) : 0;
}

json_t *hook_call_edits(const struct hook_call *call) {
  json_t *paths = json_array();
  if (paths && collect(call, paths)) {
    json_decref(paths);
    return NULL;
  }
  return paths;
}
