/* SPDX-License-Identifier: MIT
 */
#include "mcp/tools.h"

#include <stdio.h>
#include <string.h>

enum { MOST_ARGUMENTS = 3, LONGEST_SHOWN = 200 };
enum argument_type { A_TEXT, TEXTS };

static const struct tool {
  const char *name, *description;
  struct tool_argument {
    const char *name;
    enum argument_type type;
    bool required;
    const char *description;
  } arguments[MOST_ARGUMENTS];
} tools[] = {
    [MCP_TOOL_NEWS] = {.name = "news",
                       .description = "Show the notifications that are pending: background "
                                      "commands that ended, changed files, CI, other agents."},
    [MCP_TOOL_RUN] = {.name = "run",
                      .description = "Run a shell command in the background. A notification says "
                                     "how it ended.",
                      .arguments = {{"command", A_TEXT, true, "For sh -c."},
                                    {"name", A_TEXT, false, "What notifications call it."}}},
    [MCP_TOOL_WATCH] = {.name = "watch",
                        .description = "Watch files and folders. A notification says what other "
                                       "programs change in them.",
                        .arguments = {{"paths", TEXTS, false, "The current folder if not given."}}},
    [MCP_TOOL_REMIND] = {.name = "remind",
                         .description = "Remind yourself later: a notification at that time. Give "
                                        "either in or at.",
                         .arguments = {{"text", A_TEXT, true, "What you will read then."},
                                       {"in", A_TEXT, false, "\"90s\", \"20m\", \"2h\"."},
                                       {"at", A_TEXT, false, "\"17:00\", or a date and a time."}}},
    [MCP_TOOL_SEND] = {.name = "send",
                       .description = "Send a notification to another agent, which can reply.",
                       .arguments = {{"to", A_TEXT, true,
                                      "session:ID, folder:PATH, repo:HOST/OWNER/NAME[@BRANCH] or "
                                      "box:NAME."},
                                     {"text", A_TEXT, true, "What it will read."}}},
    [MCP_TOOL_REPLY] = {.name = "reply",
                        .description = "Answer the agent whose message was shown here last.",
                        .arguments = {{"text", A_TEXT, true, "What it will read."}}},
};
enum { TOOL_COUNT = sizeof tools / sizeof *tools };

const char *mcp_server_tool_name(enum mcp_tool tool) { return tools[tool].name; }

bool mcp_tools_find(const char *name, enum mcp_tool *ret_tool) {
  for (size_t i = 0; i < TOOL_COUNT; i++) {
    if (strcmp(tools[i].name, name) != 0) continue;
    *ret_tool = (enum mcp_tool)i;
    return true;
  }
  return false;
}

/* -- schemas ----------------------------------------------------------------------------------- */

static json_t *schema_of(const struct tool *tool) {
  json_t *properties = json_object(), *required = json_array();
  for (size_t i = 0; i < MOST_ARGUMENTS && tool->arguments[i].name; i++) {
    const struct tool_argument *argument = &tool->arguments[i];
    json_t *type = argument->type == A_TEXT
                       ? json_pack("{s:s}", "type", "string")
                       : json_pack("{s:s, s:{s:s}}", "type", "array", "items", "type", "string");
    json_object_set_new(type, "description", json_string(argument->description));
    json_object_set_new(properties, argument->name, type);
    if (argument->required) json_array_append_new(required, json_string(argument->name));
  }
  return json_pack("{s:s, s:o, s:o, s:b}", "type", "object", "properties", properties, "required",
                   required, "additionalProperties", 0);
}

json_t *mcp_tools_list(void) {
  json_t *list = json_array();
  for (size_t i = 0; i < TOOL_COUNT; i++) {
    json_t *tool = json_pack("{s:s, s:s, s:o}", "name", tools[i].name, "description",
                             tools[i].description, "inputSchema", schema_of(&tools[i]));
    if (json_array_append_new(list, tool) == 0) continue;
    json_decref(list);
    return NULL;
  }
  return list;
}

/* -- arguments --------------------------------------------------------------------------------- */

static char *wrong(const char *name, const char *what, const char *expected) {
  char *text = NULL;
  return asprintf(&text, "arguments.%.*s: %s; expected %s", LONGEST_SHOWN, name, what, expected) < 0
             ? strdup("the arguments are wrong")
             : text;
}

static bool is_text(const json_t *value) {
  return json_is_string(value) && json_string_length(value) &&
         strlen(json_string_value(value)) == json_string_length(value);
}

static char *check_argument(const struct tool_argument *argument, const json_t *value) {
  const json_t *one = NULL;
  size_t i = 0;
  const char *expected = argument->type == A_TEXT ? "a text that is not empty" : "a list of texts";
  if (!value) return argument->required ? wrong(argument->name, "missing", expected) : NULL;
  if (argument->type == A_TEXT)
    return is_text(value) ? NULL : wrong(argument->name, "it is something else", expected);
  if (!json_is_array(value)) return wrong(argument->name, "it is something else", expected);
  json_array_foreach(value, i, one) {
    if (!is_text(one)) return wrong(argument->name, "one of them is something else", expected);
  }
  return NULL;
}

static const struct tool_argument *find_argument(const struct tool *tool, const char *name) {
  for (size_t i = 0; i < MOST_ARGUMENTS && tool->arguments[i].name; i++) {
    if (strcmp(tool->arguments[i].name, name) == 0) return &tool->arguments[i];
  }
  return NULL;
}

/* Writes the names of all arguments, as a part of a sentence. */
static void name_all(const struct tool *tool, char *text, size_t size) {
  size_t len = 0;
  snprintf(text, size, "no arguments");
  for (size_t i = 0; i < MOST_ARGUMENTS && tool->arguments[i].name && len < size; i++)
    len += (size_t)snprintf(text + len, size - len, "%s%s", i ? ", " : "", tool->arguments[i].name);
}

char *mcp_tools_check(enum mcp_tool which, const json_t *arguments) {
  const struct tool *tool = &tools[which];
  char names[128];
  if (arguments && !json_is_object(arguments)) return strdup("arguments: expected an object");
  for (void *at = json_object_iter((json_t *)(uintptr_t)arguments); at;
       at = json_object_iter_next((json_t *)(uintptr_t)arguments, at)) {
    const char *name = json_object_iter_key(at);
    if (find_argument(tool, name)) continue;
    name_all(tool, names, sizeof names);
    return wrong(name, "there is no such argument", names);
  }
  for (size_t i = 0; i < MOST_ARGUMENTS && tool->arguments[i].name; i++) {
    char *problem =
        check_argument(&tool->arguments[i], json_object_get(arguments, tool->arguments[i].name));
    if (problem) return problem;
  }
  return NULL;
}
