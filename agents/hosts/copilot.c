/* SPDX-License-Identifier: MIT
 *
 * agents/hosts/copilot.c: the row of GitHub Copilot CLI. docs/hosts/copilot.md has the
 * observations.
 */
#include "agents/hosts/hosts.h"
#include "tested_versions.h"

/* Its transcript lacks the text that a hook adds after a failed tool. It calls PermissionRequest
 * before it knows whether a person is asked, and ErrorOccurred for each attempt. */
static const struct host_hook copilot_hooks[] = {{"SessionStart", HOOK_SESSION_START, NULL, false},
                                                 {"UserPromptSubmit", HOOK_PROMPT, NULL, false},
                                                 {"PostToolUse", HOOK_AFTER_TOOL, NULL, false},
                                                 {"Notification", HOOK_NOTICE, NULL, false},
                                                 {"SubagentStop", HOOK_SUBAGENT_STOP, NULL, false},
                                                 {"Stop", HOOK_STOP, NULL, false},
                                                 {"SessionEnd", HOOK_SESSION_END, NULL, false},
                                                 {NULL, HOOK_OTHER, NULL, false}};

static const char *const copilot_fields[] = {"timestamp", "cwd", NULL};

static const struct host_record copilot_records[] = {
    {SAYS_MODEL, "type", "assistant.message"},
    {SAYS_TIME, "timestamp", NULL},
    {SAYS_HOOK_ECHO, "type", "hook.*"},
    {SAYS_COMPACTED, "type", "session.compaction_complete"},
    {SAYS_MODEL, NULL, NULL}};

/* The fields of its notices have other names than the fields of its other calls. */
static const char *const copilot_names[HOST_FIELDS] = {[FIELD_SESSION] = "session_id sessionId"};

static const struct host_editor copilot_editors[] = {{"Write", "path file_path", NULL},
                                                     {"Edit", "path file_path", NULL},
                                                     {"apply_patch", NULL, "command input"},
                                                     {NULL, NULL, NULL}};

static const struct host_notice copilot_notices[] = {{"permission_prompt", NOTICE_OF_APPROVAL},
                                                     {"elicitation_dialog", NOTICE_OF_QUESTION},
                                                     {NULL, NOTICE_OF_IDLING}};

const struct host host_copilot = {
    .name = "copilot",
    .title = "GitHub Copilot CLI",
    .program = "copilot",
    .tested = TESTED_COPILOT,
    .hooks = copilot_hooks,
    .editors = copilot_editors,
    .notices = copilot_notices,
    .records = copilot_records,
    .fields = copilot_names,
    .notices_without_event = true,
    .session_variable = "COPILOT_AGENT_SESSION_ID",
    .caller = {.transcript = "session-state/*/events.jsonl", .fields = copilot_fields},
    .reads = HOST_READS_START | HOST_READS_PROMPT | HOST_READS_RESULT | HOST_READS_STOP,
    .begins_anew = "new",
    .stop_decision = "block",
    .answer = "additionalContext",
    .repeats_reasons = true,
    .transcript = "session-state/%s/events.jsonl",
    .most_reasons = 8,
    .room = 9500,
    .message_room = 30000,
    .room_measured = "10,240 characters after a tool's result are shown, of more the first ones",
    .timeout_unit = 1,
    .home_variable = "COPILOT_HOME",
    .home_folder = ".copilot",
    .config_file = "hooks/tidings.json",
};
