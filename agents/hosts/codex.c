/* SPDX-License-Identifier: MIT
 *
 * agents/hosts/codex.c: the row of Codex CLI. What was seen of it is in docs/hosts/codex.md.
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
                                               {"SessionEnd", HOOK_SESSION_END, NULL, false},
                                               {NULL, HOOK_OTHER, NULL, false}};

static const struct host_switch codex_switches[] = {{"config.toml", "features.hooks", false},
                                                    {"config.toml", "features.codex_hooks", false},
                                                    {NULL, NULL, false}};

static const char *const any_fields[] = {NULL};

static const char *const codex_records[] = {"payload.role=assistant", "payload.type=reasoning",
                                            "payload.type=function_call",
                                            "payload.type=custom_tool_call", NULL};

static const char *const codex_outputs[] = {"payload.type=function_call_output",
                                            "payload.type=custom_tool_call_output", NULL};

const struct host host_codex = {
    .name = "codex",
    .title = "Codex CLI",
    .program = "codex",
    .tested = TESTED_CODEX,
    .shows_messages = true,
    .hooks = codex_hooks,
    .records = {.model = codex_records, .outputs = codex_outputs, .result = "payload.call_id"},
    .call_id = "tool_use_id",
    .caller = {.transcript = "*sessions/*rollout-*", .fields = any_fields},
    .reads = HOST_READS_START | HOST_READS_PROMPT | HOST_READS_RESULT | HOST_READS_STOP,
    .begins_anew = "clear",
    .stop_decision = "block",
    .background_subagents = true,
    .undoing = HOST_UNDOES_BY_FILES,
    .queues = true,
    .server_word = "app-server",
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
    .instructions_file = "AGENTS.md",
};
