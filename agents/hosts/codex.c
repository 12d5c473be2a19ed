/* SPDX-License-Identifier: MIT
 *
 * agents/hosts/codex.c: the row of Codex CLI. docs/hosts/codex.md says what was seen of it.
 */
#include "agents/hosts/hosts.h"
#include "tested_versions.h"

static const struct host_hook codex_hooks[] = {{"SessionStart", HOOK_SESSION_START, NULL, false},
                                               {"UserPromptSubmit", HOOK_PROMPT, NULL, false},
                                               {"PostToolUse", HOOK_AFTER_TOOL, NULL, false},
                                               {"PermissionRequest", HOOK_ASKS, NULL, false},
                                               {"SubagentStop", HOOK_SUBAGENT_STOP, NULL, false},
                                               {"Stop", HOOK_STOP, NULL, true},
                                               {"Interrupt", HOOK_INTERRUPTED, NULL, false},
                                               {"SessionEnd", HOOK_SESSION_END, NULL, true},
                                               {NULL, HOOK_OTHER, NULL, false}};

static const struct host_switch codex_switches[] = {{"config.toml", "features.hooks", false},
                                                    {"config.toml", "features.codex_hooks", false},
                                                    {NULL, NULL, false}};

static const char *const any_fields[] = {NULL};

static const struct host_record codex_records[] = {
    {SAYS_MODEL, "payload.role", "assistant"},
    {SAYS_MODEL, "payload.type", "reasoning"},
    {SAYS_MODEL, "payload.type", "function_call"},
    {SAYS_MODEL, "payload.type", "custom_tool_call"},
    {SAYS_OUTPUT, "payload.type", "function_call_output"},
    {SAYS_OUTPUT, "payload.type", "custom_tool_call_output"},
    {SAYS_CALL, "payload.call_id", NULL},
    {SAYS_TIME, "timestamp", NULL},
    {SAYS_BASE, "payload.history_base.thread_id", NULL},
    {SAYS_BASE_BYTES, "payload.history_base.end_byte_offset", NULL},
    {SAYS_USED, "payload.info.last_token_usage.total_tokens", NULL},
    {SAYS_LIMIT, "payload.info.model_context_window", NULL},
    {SAYS_MODEL, NULL, NULL}};

static const struct host_editor codex_editors[] = {{"apply_patch", NULL, "command input"},
                                                   {NULL, NULL, NULL}};

const struct host host_codex = {
    .name = "codex",
    .title = "Codex CLI",
    .program = "codex",
    .tested = TESTED_CODEX,
    .shows_messages = true,
    .hooks = codex_hooks,
    .editors = codex_editors,
    .records = codex_records,
    .caller = {.transcript = "*sessions/*rollout-*", .fields = any_fields},
    .reads = HOST_READS_START | HOST_READS_PROMPT | HOST_READS_RESULT | HOST_READS_STOP,
    .begins_anew = "clear",
    .stop_decision = "block",
    .background_subagents = true,
    .undoing = HOST_UNDOES_BY_FILES,
    .queues = true,
    .server_word = "app-server",
    .session_at = sizeof "rollout-2026-01-31T23-59-59-" - 1,
    .keeps_start = true,
    .room = 9000,
    .room_measured = "of a reason to go on 2,500 tokens, about 10,000 bytes, are shown whole, of "
                     "other answers 7,500 with the hooks' additionalContextLimit",
    .context_limit = 7500,
    .context_room = 27000,
    .timeout_unit = 1,
    .trusts_hashes = true,
    .home_variable = "CODEX_HOME",
    .switches = codex_switches,
    .home_folder = ".codex",
    .config_file = "hooks.json",
    .trust_file = "config.toml",
    .settings_file = "config.toml",
    .project_settings = ".codex/config.toml",
};
