/* SPDX-License-Identifier: MIT
 *
 * agents/hosts/vscode.c: the row of VS Code. docs/hosts.md has the observations.
 */
#include "agents/hosts/hosts.h"

/* VS Code's transcript has a format of its own, and lies elsewhere. Its documentation gives the
 * prompt's hook no additional context. */
static const struct host_hook vscode_hooks[] = {{"SessionStart", HOOK_SESSION_START, NULL, false},
                                                {"UserPromptSubmit", HOOK_PROMPT, NULL, false},
                                                {"PostToolUse", HOOK_AFTER_TOOL, NULL, false},
                                                {"SubagentStop", HOOK_SUBAGENT_STOP, NULL, false},
                                                {"Stop", HOOK_STOP, NULL, false},
                                                {NULL, HOOK_OTHER, NULL, false}};

static const char *const vscode_fields[] = {"hook_event_name", "session_id", "timestamp", NULL};

static const char *const vscode_never[] = {"conversation_id", "permission_mode", NULL};

static const char *const vscode_borrows[] = {"claude", "copilot", NULL};

static const struct host_editor vscode_editors[] = {{"Write", "file_path path", NULL},
                                                    {"Edit", "file_path path", NULL},
                                                    {"MultiEdit", "file_path", NULL},
                                                    {NULL, NULL, NULL}};

const struct host host_vscode = {
    .name = "vscode",
    .title = "VS Code",
    .program = "code",
    .kind = HOST_BORROWS,
    .borrows = vscode_borrows,
    .hooks = vscode_hooks,
    .editors = vscode_editors,
    .caller = {.fields = vscode_fields, .never = vscode_never},
    .reads = HOST_READS_START | HOST_READS_RESULT,
    .proof = HOST_PROOF_NEXT_CALL,
    .room = 9500,
    .room_measured = "not measured; as much as Claude Code shows",
};
