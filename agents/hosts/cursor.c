/* SPDX-License-Identifier: MIT
 *
 * agents/hosts/cursor.c: the row of Cursor. docs/hosts.md has the observations.
 */
#include "agents/hosts/hosts.h"

static const struct host_hook cursor_hooks[] = {{"SessionStart", HOOK_SESSION_START, NULL, false},
                                                {"UserPromptSubmit", HOOK_PROMPT, NULL, false},
                                                {"PostToolUse", HOOK_AFTER_TOOL, NULL, false},
                                                {"SubagentStop", HOOK_SUBAGENT_STOP, NULL, false},
                                                {"Stop", HOOK_STOP, NULL, false},
                                                {"SessionEnd", HOOK_SESSION_END, NULL, false},
                                                {NULL, HOOK_OTHER, NULL, false}};

static const char *const cursor_fields[] = {"conversation_id", NULL};

static const char *const cursor_borrows[] = {"claude", NULL};

static const struct host_editor cursor_editors[] = {{"Write", "file_path path", NULL},
                                                    {"Edit", "file_path path", NULL},
                                                    {"MultiEdit", "file_path", NULL},
                                                    {NULL, NULL, NULL}};

const struct host host_cursor = {
    .name = "cursor",
    .title = "Cursor",
    .program = "cursor",
    .kind = HOST_BORROWS,
    .borrows = cursor_borrows,
    .hooks = cursor_hooks,
    .editors = cursor_editors,
    .caller = {.fields = cursor_fields},
    .reads = HOST_READS_RESULT,
    .answer = "additional_context",
    .proof = HOST_PROOF_NEXT_CALL,
    .room = 9500,
    .room_measured = "not measured; as much as Claude Code shows",
};
