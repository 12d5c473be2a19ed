/* SPDX-License-Identifier: MIT
 *
 * sim/model/act.c: the words for the numbers of an act.
 */
#include "sim/model/act.h"

const struct note_kind act_note_kinds[NOTE_KINDS + 1] = {
    {"ci", "done"}, {"tool", "failed"}, {"tool", "waiting"},
    {"lone", ""},   {"ci", "broken"},   {"subagent", "finished"}};
const char *const act_level_names[4] = {"info", "warning", "error", "critical"};
const char *const act_peer_names[PEERS] = {"host", "rival", "producer"};
const char *const act_event_types[ACT_WAKE + 1] = {
    "notification",       "handle.polled",     "subagent.finished", "message.submitted",
    "message.cancelled",  "message.edited",    "message.moved",     "message.redirected",
    "turn.started",       "turn.declined",     "turn.finished",     "turn.aborted",
    "turn.failed",        "turn.retrying",     "turn.waiting",      "turn.resume",
    "stream.started",     "stream.finished",   "tools.started",     "tools.finished",
    "session.opened",     "session.resumed",   "session.rewound",   "session.forked",
    "session.compacting", "session.compacted", "session.closed",    "wake"};

const struct sim_look act_looks[LOOKS] = {{"grouped", "markdown", false},
                                          {"flat", "markdown-flat", false},
                                          {"xml", "xml", false},
                                          {"xml-batch", "xml-batch", false},
                                          {"balanced", "markdown", false},
                                          {"grouped", "json", true},
                                          {"balanced", "json", true},
                                          {"grouped", "system-reminder", true},
                                          {"xml", "system-reminder", true},
                                          {"grouped", "openai", true},
                                          {"grouped", "anthropic", true},
                                          {"balanced", "synthetic-call", true},
                                          {"balanced", "markdown-flat", true},
                                          {"flat", "xml", true},
                                          {"plain", "plain", false},
                                          {"grouped", "plain", true}};
const char *const act_order_names[ORDERS] = {"level", "time", "newest"};
