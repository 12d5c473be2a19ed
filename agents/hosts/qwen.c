/* SPDX-License-Identifier: MIT
 *
 * agents/hosts/qwen.c: the row of Qwen Code. docs/hosts/qwen.md says what was seen of it.
 */
#include "agents/hosts/hosts.h"
#include "tested_versions.h"

static const struct host_hook qwen_hooks[] = {
    {"SessionStart", HOOK_SESSION_START, NULL, true},
    {"UserPromptSubmit", HOOK_PROMPT, NULL, false},
    {"UserPromptExpansion", HOOK_PROMPT, "^tidings:read$", false},
    {"PostToolUse", HOOK_AFTER_TOOL, "*", false},
    {"PostToolUseFailure", HOOK_AFTER_TOOL, "*", false},
    {"PermissionRequest", HOOK_ASKS, "*", false},
    {"Notification", HOOK_NOTICE, "idle_prompt", false},
    {"SubagentStop", HOOK_SUBAGENT_STOP, NULL, false},
    {"Stop", HOOK_STOP, NULL, true},
    {"StopFailure", HOOK_TURN_FAILED, NULL, false},
    {"SessionEnd", HOOK_SESSION_END, NULL, false},
    {NULL, HOOK_OTHER, NULL, false}};

static const struct host_switch qwen_switches[] = {{"settings.json", "disableAllHooks", true},
                                                   {NULL, NULL, false}};

static const char *const any_fields[] = {NULL};

static const struct host_record qwen_records[] = {
    {SAYS_MODEL, "type", "assistant"}, {SAYS_CALL, "message.parts.*.functionResponse.id", NULL},
    {SAYS_TIME, "timestamp", NULL},    {SAYS_ID, "uuid", NULL},
    {SAYS_PARENT, "parentUuid", NULL}, {SAYS_REWIND, "subtype", "rewind"},
    {SAYS_MODEL, NULL, NULL}};

static const char *const qwen_fields[HOST_FIELDS] = {[FIELD_CALL] = "tool_call_id tool_use_id"};

static const struct host_editor qwen_editors[] = {{"write_file", "file_path absolute_path", NULL},
                                                  {"edit", "file_path absolute_path", NULL},
                                                  {"replace", "file_path absolute_path", NULL},
                                                  {"notebook_edit", "notebook_path", NULL},
                                                  {NULL, NULL, NULL}};

static const struct host_notice qwen_notices[] = {{"idle_prompt", NOTICE_OF_IDLING},
                                                  {"permission_prompt", NOTICE_OF_APPROVAL},
                                                  {"elicitation_dialog", NOTICE_OF_QUESTION},
                                                  {NULL, NOTICE_OF_IDLING}};

/* In shell mode the window runs every text but a command, so a task's prompt is nothing else. */
static const struct host_scheduler qwen_scheduler = {
    .window_variable = "QWEN_CODE_MESSAGING_SOCKET",
    .tasks = "scheduled_tasks.json",
    .command = "/tidings:read",
    .command_file = "commands/tidings/read.md",
    .server_word = "serve",
    .server_script = "*/qwen-code/lib/cli*", /* the script of its archive, which is no npm
                                                package */
    .command_text = "---\n"
                    "description: What tidings has for the model (tidings setup qwen)\n"
                    "disable-model-invocation: true\n"
                    "---\n"
                    "(tidings) Something was waiting for you; it is in this turn's context. "
                    "[tidings {{args}}]\n",
    .event = "UserPromptExpansion",
    .characters = 10000};

const struct host host_qwen = {
    .name = "qwen",
    .title = "Qwen Code",
    .program = "qwen",
    .tested = TESTED_QWEN,
    .shows_at_stop = true,
    .hooks = qwen_hooks,
    .editors = qwen_editors,
    .notices = qwen_notices,
    .records = qwen_records,
    .fields = qwen_fields,
    .session_variable = "QWEN_CODE_SESSION_ID",
    .raw_variable = "QWEN_CODE_SESSION_ID",
    .caller = {.transcript = "projects/*/chats/*", .fields = any_fields},
    .reads = HOST_READS_START | HOST_READS_PROMPT | HOST_READS_RESULT | HOST_READS_STOP,
    .begins_anew = "clear",
    .stop_decision = "block",
    .ignores_empty_prompts = true,
    .repeats_reasons = true,
    .leaves_out_reasons = true,
    .scheduler = &qwen_scheduler,
    .undoing = HOST_UNDOES_BY_RECORDS,
    .most_reasons = 8,
    .reasons_variable = "QWEN_CODE_STOP_HOOK_BLOCK_CAP",
    .room = 6000,
    .message_room = 30000,
    .room_measured = "25,000 characters beside a large tool result are shown, and < is four",
    .timeout_unit = 1,
    .home_variable = "QWEN_HOME",
    .switches = qwen_switches,
    .home_folder = ".qwen",
    .config_file = "settings.json",
    .settings_file = "settings.json",
    .project_settings = ".qwen/settings.json",
    .reads_settings_again = true,
};
