/* SPDX-License-Identifier: MIT
 *
 * agents/hosts/hosts.c: see the header. What was seen of each host is in docs/hosts.md.
 */
#include "agents/hosts/hosts.h"

#include <stdlib.h>
#include <string.h>

#include "command/paths.h"
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

static const struct host_hook qwen_hooks[] = {{"SessionStart", HOOK_SESSION_START, NULL, false},
                                              {"UserPromptSubmit", HOOK_PROMPT, NULL, false},
                                              {"PostToolUse", HOOK_AFTER_TOOL, "*", false},
                                              {"PostToolUseFailure", HOOK_AFTER_TOOL, "*", false},
                                              {"PermissionRequest", HOOK_ASKS, "*", false},
                                              {"Notification", HOOK_NOTICE, "idle_prompt", false},
                                              {"SubagentStop", HOOK_SUBAGENT_STOP, NULL, false},
                                              {"Stop", HOOK_STOP, NULL, false},
                                              {"StopFailure", HOOK_TURN_FAILED, NULL, false},
                                              {"SessionEnd", HOOK_SESSION_END, NULL, false},
                                              {NULL, HOOK_OTHER, NULL, false}};

/* What it is given after a tool that fails is not in its transcript. It asks PermissionRequest
 * before it knows whether a person is asked, and calls ErrorOccurred for each attempt. */
static const struct host_hook copilot_hooks[] = {{"SessionStart", HOOK_SESSION_START, NULL, false},
                                                 {"UserPromptSubmit", HOOK_PROMPT, NULL, false},
                                                 {"PostToolUse", HOOK_AFTER_TOOL, NULL, false},
                                                 {"Notification", HOOK_NOTICE, NULL, false},
                                                 {"SubagentStop", HOOK_SUBAGENT_STOP, NULL, false},
                                                 {"Stop", HOOK_STOP, NULL, false},
                                                 {"SessionEnd", HOOK_SESSION_END, NULL, false},
                                                 {NULL, HOOK_OTHER, NULL, false}};

static const struct host_switch codex_switches[] = {{"config.toml", "features.hooks", false},
                                                    {"config.toml", "features.codex_hooks", false},
                                                    {NULL, NULL, false}};
static const struct host_switch claude_switches[] = {
    {"settings.json", "disableAllHooks", true},
    {"settings.local.json", "disableAllHooks", true},
    {"/etc/claude-code/managed-settings.json", "disableAllHooks", true},
    {"/etc/claude-code/managed-settings.json", "allowManagedHooksOnly", true},
    {NULL, NULL, false}};
static const struct host_switch gemini_switches[] = {
    {"settings.json", "hooksConfig.enabled", false}, {NULL, NULL, false}};
static const struct host_switch qwen_switches[] = {{"settings.json", "disableAllHooks", true},
                                                   {NULL, NULL, false}};

static const char *const claude_package_files[] = {"settings.json", NULL};
static const struct host_package claude_package = {.files = claude_package_files,
                                                   .project_file = ".claude/settings.json",
                                                   .list = "enabledPlugins",
                                                   .name = "tidings@",
                                                   .removal = "claude plugin uninstall"};

static const char *const gemini_package_files[] = {
    "extensions/tidings/gemini-extension.json",
    "extensions/tidings/.gemini-extension-install.json", /* of one that is only linked */
    NULL};
static const struct host_package gemini_package = {.files = gemini_package_files,
                                                   .name = "tidings",
                                                   .disabling_file =
                                                       "extensions/extension-enablement.json",
                                                   .removal = "gemini extensions uninstall"};

static const char *const opencode_package_files[] = {"opencode.json", "opencode.jsonc",
                                                     "config.json", NULL};
static const struct host_package opencode_package = {.files = opencode_package_files,
                                                     .project_file = "opencode.json",
                                                     .list = "plugin",
                                                     .name = "@tidings/opencode"};

static const char *const pi_package_files[] = {"settings.json", NULL};
static const struct host_package pi_package = {.files = pi_package_files,
                                               .project_file = ".pi/settings.json",
                                               .list = "packages",
                                               .name = "npm:@tidings/pi",
                                               .removal = "pi remove"};

/* VS Code's transcript has a format of its own, and lies elsewhere. Its documentation gives the
 * prompt's hook no additional context. */
static const struct host_hook vscode_hooks[] = {{"SessionStart", HOOK_SESSION_START, NULL, false},
                                                {"UserPromptSubmit", HOOK_PROMPT, NULL, false},
                                                {"PostToolUse", HOOK_AFTER_TOOL, NULL, false},
                                                {"SubagentStop", HOOK_SUBAGENT_STOP, NULL, false},
                                                {"Stop", HOOK_STOP, NULL, false},
                                                {NULL, HOOK_OTHER, NULL, false}};
static const struct host_hook cursor_hooks[] = {{"SessionStart", HOOK_SESSION_START, NULL, false},
                                                {"UserPromptSubmit", HOOK_PROMPT, NULL, false},
                                                {"PostToolUse", HOOK_AFTER_TOOL, NULL, false},
                                                {"SubagentStop", HOOK_SUBAGENT_STOP, NULL, false},
                                                {"Stop", HOOK_STOP, NULL, false},
                                                {"SessionEnd", HOOK_SESSION_END, NULL, false},
                                                {NULL, HOOK_OTHER, NULL, false}};

static const char *const any_fields[] = {NULL};
static const char *const assistant_records[] = {"type=assistant", NULL};
static const char *const codex_records[] = {"payload.role=assistant", "payload.type=reasoning",
                                            "payload.type=function_call",
                                            "payload.type=custom_tool_call", NULL};
static const char *const codex_outputs[] = {"payload.type=function_call_output",
                                            "payload.type=custom_tool_call_output", NULL};
static const char *const gemini_records[] = {"type=gemini", NULL};
static const char *const copilot_records[] = {"type=assistant.message", NULL};
static const char *const copilot_fields[] = {"timestamp", "cwd", NULL};
static const char *const cursor_fields[] = {"conversation_id", NULL};
static const char *const vscode_fields[] = {"hook_event_name", "session_id", "timestamp", NULL};
static const char *const vscode_never[] = {"conversation_id", "permission_mode", NULL};
static const char *const cursor_borrows[] = {"claude", NULL};
static const char *const vscode_borrows[] = {"claude", "copilot", NULL};

const struct host hosts[] = {
    {.name = "codex",
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
     .instructions_file = "AGENTS.md"},
    {.name = "claude",
     .title = "Claude Code",
     .program = "claude",
     .tested = TESTED_CLAUDE,
     .shows_messages = true,
     .hooks = claude_hooks,
     .records = {.model = assistant_records, .result = "message.content.*.tool_use_id"},
     .call_id = "tool_use_id",
     .caller = {.transcript = "projects/*/%s.jsonl"},
     .reads = HOST_READS_START | HOST_READS_PROMPT | HOST_READS_RESULT | HOST_READS_STOP,
     .begins_anew = "clear",
     .most_reasons = 8,
     .reasons_variable = "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP",
     .environment_file = "CLAUDE_ENV_FILE",
     .stops = true,
     .background_subagents = true,
     .rewakes = true,
     .undoing = HOST_UNDOES_BY_SIBLINGS,
     .interruption = "{\"type\":\"text\",\"text\":\"[Request interrupted by user",
     .kept = "\"hook_additional_context\"",
     .keeps_start = true,
     .room = 9500,
     .room_measured = "10,000 UTF-16 units are shown whole; of more 2 KB and a path",
     .timeout_unit = 1,
     .home_variable = "CLAUDE_CONFIG_DIR",
     .switches = claude_switches,
     .home_folder = ".claude",
     .config_file = "settings.json",
     .instructions_file = "CLAUDE.md",
     .package = &claude_package},
    {.name = "gemini",
     .title = "Gemini CLI",
     .program = "gemini",
     .tested = TESTED_GEMINI,
     .shows_messages = true,
     .hook_name = "tidings",
     .hooks = gemini_hooks,
     .stops = true,
     .records = {.model = gemini_records},
     .caller = {.transcript = "tmp/*/chats/*", .fields = any_fields},
     .reads = HOST_READS_START | HOST_READS_PROMPT | HOST_READS_RESULT | HOST_READS_STOP,
     .begins_anew = "clear",
     .stop_decision = "deny",
     .anew = "{\"$set\":{\"messages\":",
     .undoing = HOST_UNDOES_BY_LINES,
     .subagent_tool = "invoke_agent",
     .stops_alike = true,
     .stopped_tool = "run_shell_command",
     .stopped_result = "Command was cancelled by user before it could ",
     .kept = "<hook_context>",
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
     .instructions_file = "GEMINI.md",
     .package = &gemini_package},
    {.name = "qwen",
     .title = "Qwen Code",
     .program = "qwen",
     .tested = TESTED_QWEN,
     .hooks = qwen_hooks,
     .records = {.model = assistant_records, .result = "message.parts.*.functionResponse.id"},
     .call_id = "tool_call_id",
     .caller = {.transcript = "projects/*/chats/*", .fields = any_fields},
     .reads = HOST_READS_START | HOST_READS_PROMPT | HOST_READS_RESULT | HOST_READS_STOP,
     .begins_anew = "clear",
     .stop_decision = "block",
     .ignores_empty_prompts = true,
     .repeats_reasons = true,
     .leaves_out_reasons = true,
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
     .instructions_file = "QWEN.md"},
    {.name = "copilot",
     .title = "GitHub Copilot CLI",
     .program = "copilot",
     .tested = TESTED_COPILOT,
     .hooks = copilot_hooks,
     .records = {.model = copilot_records},
     .caller = {.transcript = "session-state/*/events.jsonl", .fields = copilot_fields},
     .reads = HOST_READS_START | HOST_READS_PROMPT | HOST_READS_RESULT | HOST_READS_STOP,
     .begins_anew = "new",
     .stop_decision = "block",
     .answer = "additionalContext",
     .repeats_reasons = true,
     .of_hooks = "{\"type\":\"hook.",
     .compacts = "{\"type\":\"session.compaction_complete\"",
     .transcript = "session-state/%s/events.jsonl",
     .most_reasons = 8,
     .room = 9500,
     .message_room = 30000,
     .room_measured = "10,240 characters after a tool's result are shown, of more the first ones",
     .timeout_unit = 1,
     .home_variable = "COPILOT_HOME",
     .home_folder = ".copilot",
     .config_file = "hooks/tidings.json"},
    {.name = "opencode",
     .title = "opencode",
     .program = "opencode",
     .tested = TESTED_OPENCODE,
     .kind = HOST_NODE,
     .room = 30000,
     .room_measured = "235,000 bytes are shown whole; more of them would fill the model's context",
     .home_variable = "OPENCODE_CONFIG_DIR",
     .base_variable = "XDG_CONFIG_HOME",
     .base_folder = "opencode",
     .home_folder = ".config/opencode",
     .config_file = "plugin/tidings.ts",
     .package = &opencode_package},
    {.name = "pi",
     .title = "pi",
     .program = "pi",
     .tested = TESTED_PI,
     .kind = HOST_NODE,
     .room = 30000,
     .room_measured = "235,000 bytes are shown whole; more of them would fill the model's context",
     .home_variable = "PI_CODING_AGENT_DIR",
     .home_folder = ".pi/agent",
     .config_file = "extensions/tidings.ts",
     .package = &pi_package},
    {.name = "kilo",
     .title = "Kilo",
     .program = "kilo",
     .kind = HOST_NODE,
     .module = "opencode",
     .room = 30000,
     .room_measured = "as opencode, whose module it loads",
     .base_variable = "XDG_CONFIG_HOME",
     .base_folder = "kilo",
     .home_folder = ".config/kilo",
     .config_file = "plugin/tidings.ts"},
    {.name = "cursor",
     .title = "Cursor",
     .program = "cursor",
     .kind = HOST_BORROWS,
     .borrows = cursor_borrows,
     .hooks = cursor_hooks,
     .caller = {.fields = cursor_fields},
     .reads = HOST_READS_RESULT,
     .answer = "additional_context",
     .proof = HOST_PROOF_NEXT_CALL,
     .room = 9500,
     .room_measured = "not measured; as much as Claude Code shows"},
    {.name = "vscode",
     .title = "VS Code",
     .program = "code",
     .kind = HOST_BORROWS,
     .borrows = vscode_borrows,
     .hooks = vscode_hooks,
     .caller = {.fields = vscode_fields, .never = vscode_never},
     .reads = HOST_READS_START | HOST_READS_RESULT,
     .proof = HOST_PROOF_NEXT_CALL,
     .room = 9500,
     .room_measured = "not measured; as much as Claude Code shows"},
};
const size_t host_count = sizeof hosts / sizeof hosts[0];

const struct host *host_find(const char *name) {
  for (size_t i = 0; i < host_count; i++) {
    if (strcmp(hosts[i].name, name) == 0) return &hosts[i];
  }
  return NULL;
}

const char *host_module(const struct host *host) {
  return host->module ? host->module : host->name;
}

bool host_borrows(const struct host *host, const struct host *lender) {
  for (const char *const *one = host->borrows; one && *one; one++) {
    if (strcmp(*one, lender->name) == 0) return true;
  }
  return false;
}

const struct host *host_find_title(const char *title) {
  for (size_t i = 0; i < host_count; i++) {
    if (strcmp(hosts[i].title, title) == 0) return &hosts[i];
  }
  return NULL;
}

char *host_home(const struct host *host) {
  const char *named = host->home_variable ? getenv(host->home_variable) : NULL;
  if (named && named[0]) return strdup(named);
  const char *base = host->base_variable ? getenv(host->base_variable) : NULL,
             *home = getenv("HOME");
  if (base && base[0]) return paths_join(base, host->base_folder);
  return home && home[0] ? paths_join(home, host->home_folder) : NULL;
}

/* A hook's text comes from outside the conversation: one that speaks as the system is taken for an
 * attack by some models. */
const char *host_preset(const struct host *host) {
  return host->kind == HOST_NODE ? NULL : "plain";
}

/* White space as JavaScript trims it. */
static size_t blank_start(const char *text) {
  static const char *const wide[] = {"\u00a0", "\u1680", "\u2000", "\u2001", "\u2002",
                                     "\u2003", "\u2004", "\u2005", "\u2006", "\u2007",
                                     "\u2008", "\u2009", "\u200a", "\u2028", "\u2029",
                                     "\u202f", "\u205f", "\u3000", "\ufeff"};
  size_t at = strspn(text, " \t\n\v\f\r");
  for (size_t i = 0; i < sizeof wide / sizeof wide[0]; i++) {
    if (strncmp(text + at, wide[i], strlen(wide[i])) == 0)
      return at + strlen(wide[i]) + blank_start(text + at + strlen(wide[i]));
  }
  return at;
}

bool host_forgets(const struct host *host, const char *text) {
  const char *start = text + blank_start(text);
  if (host->forgets && !*start) return true;
  for (const char *const *one = host->forgets; one && *one; one++) {
    if (strncmp(start, *one, strlen(*one)) == 0) return true;
  }
  return false;
}

enum hook_moment host_moment(const struct host *host, const char *event) {
  for (const struct host_hook *hook = host->hooks; hook && hook->event; hook++) {
    if (strcmp(hook->event, event) == 0) return hook->moment;
  }
  return HOOK_OTHER;
}
