/* SPDX-License-Identifier: MIT
 *
 * agents/hosts/claude.c: the row of Claude Code. docs/hosts/claude.md has the observations.
 */
#include "agents/hosts/hosts.h"
#include "tested_versions.h"

static const struct host_hook claude_hooks[] = {
    {"SessionStart", HOOK_SESSION_START, NULL, true},
    {"UserPromptSubmit", HOOK_PROMPT, NULL, true},
    {"PostToolUse", HOOK_AFTER_TOOL, "*", false},
    {"PostToolUseFailure", HOOK_AFTER_TOOL, "*", false},
    {"PermissionRequest", HOOK_ASKS, "*", false},
    {"Notification", HOOK_NOTICE, "idle_prompt|elicitation_dialog", false},
    {"SubagentStop", HOOK_SUBAGENT_STOP, NULL, false},
    {"Stop", HOOK_STOP, NULL, true},
    {"StopFailure", HOOK_TURN_FAILED, NULL, false},
    {"ConfigChange", HOOK_CONFIGURED, NULL, false},
    {"SessionEnd", HOOK_SESSION_END, NULL, false},
    {NULL, HOOK_OTHER, NULL, false}};

static const struct host_switch claude_switches[] = {
    {"settings.json", "disableAllHooks", true},
    {"settings.local.json", "disableAllHooks", true},
    {"/etc/claude-code/managed-settings.json", "disableAllHooks", true},
    {"/etc/claude-code/managed-settings.json", "allowManagedHooksOnly", true},
    {NULL, NULL, false}};

static const char *const claude_package_files[] = {"settings.json", NULL};

static const struct host_package claude_package = {.files = claude_package_files,
                                                   .project_file = ".claude/settings.json",
                                                   .list = "enabledPlugins",
                                                   .name = "tidings@",
                                                   .removal = "claude plugin uninstall"};

static const struct host_record claude_records[] = {
    {SAYS_MODEL, "type", "assistant"},
    {SAYS_CALL, "message.content.*.tool_use_id", NULL},
    {SAYS_TIME, "timestamp", NULL},
    {SAYS_ID, "uuid", NULL},
    {SAYS_PARENT, "parentUuid", NULL},
    {SAYS_PROMPT, "origin.kind", "human"},
    {SAYS_CONTEXT, "attachment.type", "hook_additional_context"},
    {SAYS_STOPPED, "message.content.*.text", "[Request interrupted by user*"},
    {SAYS_MODEL, NULL, NULL}};

static const struct host_editor claude_editors[] = {{"Write", "file_path", NULL},
                                                    {"Edit", "file_path", NULL},
                                                    {"MultiEdit", "file_path", NULL},
                                                    {"NotebookEdit", "notebook_path", NULL},
                                                    {NULL, NULL, NULL}};

static const struct host_notice claude_notices[] = {{"idle_prompt", NOTICE_OF_IDLING},
                                                    {"permission_prompt", NOTICE_OF_APPROVAL},
                                                    {"elicitation_dialog", NOTICE_OF_QUESTION},
                                                    {NULL, NOTICE_OF_IDLING}};

const struct host host_claude = {
    .name = "claude",
    .title = "Claude Code",
    .program = "claude",
    .tested = TESTED_CLAUDE,
    .shows_messages = true,
    .hooks = claude_hooks,
    .editors = claude_editors,
    .notices = claude_notices,
    .records = claude_records,
    .caller = {.transcript = "projects/*/%s.jsonl"},
    .reads = HOST_READS_START | HOST_READS_PROMPT | HOST_READS_RESULT | HOST_READS_STOP,
    .begins_anew = "clear",
    .most_reasons = 8,
    .reasons_variable = "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP",
    .environment_file = "CLAUDE_ENV_FILE",
    .stops = true,
    .background_subagents = true,
    .rewakes = true,
    .rewakes_variable = "CLAUDE_CODE_ENTRYPOINT",
    .rewakes_value = "cli",
    .session_variable = "CLAUDE_CODE_SESSION_ID",
    .undoing = HOST_UNDOES_BY_SIBLINGS,
    .keeps_start = true,
    .room = 9500,
    .room_measured = "10,000 UTF-16 units are shown whole; of more 2 KB and a path",
    .timeout_unit = 1,
    .home_variable = "CLAUDE_CONFIG_DIR",
    .switches = claude_switches,
    .home_folder = ".claude",
    .config_file = "settings.json",
    .package = &claude_package,
};
