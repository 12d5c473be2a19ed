/* SPDX-License-Identifier: MIT
 *
 * agents/hosts/gemini.c: the row of Gemini CLI. docs/hosts/gemini.md has the observations.
 */
#include "agents/hosts/hosts.h"
#include "tested_versions.h"

static const char *const gemini_forgets[] = {"/", "?", "<session_context>", "<hook_context>", NULL};

static const struct host_hook gemini_hooks[] = {
    {"SessionStart", HOOK_SESSION_START, NULL, false},
    {"BeforeAgent", HOOK_PROMPT, NULL, false},
    {"BeforeTool", HOOK_BEFORE_TOOL, "invoke_agent", false},
    {"AfterTool", HOOK_AFTER_TOOL, "*", false},
    {"Notification", HOOK_NOTICE, NULL, false},
    {"AfterAgent", HOOK_STOP, NULL, false},
    {"SessionEnd", HOOK_SESSION_END, NULL, false},
    {NULL, HOOK_OTHER, NULL, false}};

static const struct host_switch gemini_switches[] = {
    {"settings.json", "hooksConfig.enabled", false}, {NULL, NULL, false}};

static const char *const gemini_package_files[] = {
    "extensions/tidings/gemini-extension.json",
    "extensions/tidings/.gemini-extension-install.json", /* the file of an extension that is only
                                                            linked */
    NULL};

static const struct host_package gemini_package = {.files = gemini_package_files,
                                                   .name = "tidings",
                                                   .disabling_file =
                                                       "extensions/extension-enablement.json",
                                                   .removal = "gemini extensions uninstall"};

static const char *const any_fields[] = {NULL};

static const struct host_record gemini_records[] = {
    {SAYS_MODEL, "type", "gemini"},
    {SAYS_TIME, "timestamp", NULL},
    {SAYS_ID, "id", NULL},
    {SAYS_SNAPSHOT, "$set.messages", NULL},
    {SAYS_SNAPSHOT_ID, "$set.messages.*.id", NULL},
    {SAYS_STAMP, "$set.lastUpdated", NULL},
    {SAYS_CONTEXT, HOST_ANY_STRING, "*</hook_context>"},
    {SAYS_MODEL, NULL, NULL}};

static const struct host_editor gemini_editors[] = {{"write_file", "file_path absolute_path", NULL},
                                                    {"replace", "file_path absolute_path", NULL},
                                                    {NULL, NULL, NULL}};

static const struct host_notice gemini_notices[] = {{"ToolPermission", NOTICE_OF_APPROVAL},
                                                    {NULL, NOTICE_OF_IDLING}};

static const struct host_subagent gemini_subagents = {
    .tool = "invoke_agent", .kind = "agent_name", .heading = "\nResult:\n"};

const struct host host_gemini = {
    .name = "gemini",
    .title = "Gemini CLI",
    .program = "gemini",
    .tested = TESTED_GEMINI,
    .shows_messages = true,
    .hook_name = "tidings",
    .hooks = gemini_hooks,
    .editors = gemini_editors,
    .notices = gemini_notices,
    .subagents = &gemini_subagents,
    .result_text = "llmContent",
    .result_opening = "<untrusted_context>\n",
    .stops = true,
    .records = gemini_records,
    .raw_variable = "GEMINI_CLI",
    .caller = {.transcript = "tmp/*/chats/*", .fields = any_fields},
    .reads = HOST_READS_START | HOST_READS_PROMPT | HOST_READS_RESULT | HOST_READS_STOP,
    .begins_anew = "clear",
    .stop_decision = "deny",
    .undoing = HOST_UNDOES_BY_LINES,
    .stops_alike = true,
    .stopped_tool = "run_shell_command",
    .stopped_result = "Command was cancelled by user before it could ",
    .drops_start = true,
    .forgets = gemini_forgets,
    .room = 7900,
    .message_room = 260000,
    .room_measured = "of a large tool result the last 32,000 characters are shown, and < is four",
    .timeout_unit = 1000,
    .base_variable = "GEMINI_CLI_HOME",
    .base_folder = ".gemini",
    .switches = gemini_switches,
    .home_folder = ".gemini",
    .config_file = "settings.json",
    .settings_file = "settings.json",
    .project_settings = ".gemini/settings.json",
    .package = &gemini_package,
};
