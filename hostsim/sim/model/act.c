/* SPDX-License-Identifier: MIT
 *
 * sim/model/act.c: tables of the words for the numbers in an act.
 */
#include "sim/model/act.h"

#include <inttypes.h>
#include <stdio.h>

const struct note_kind act_note_kinds[NOTE_KINDS + 1] = {
    {"ci", "done"}, {"tool", "failed"}, {"tool", "waiting"},
    {"lone", ""},   {"ci", "broken"},   {"subagent", "finished"}};
const char *const act_level_names[4] = {"info", "warning", "error", "critical"};
const char *const act_peer_names[PEERS] = {"host", "rival", "producer"};
const char *const act_event_types[ACT_WAKE + 1] = {"notification",
                                                   "handle.polled",
                                                   "subagent.finished",
                                                   "message.submitted",
                                                   "message.cancelled",
                                                   "message.edited",
                                                   "message.moved",
                                                   "message.redirected",
                                                   "turn.stop",
                                                   "turn.started",
                                                   "turn.declined",
                                                   "turn.finished",
                                                   "turn.aborted",
                                                   "turn.failed",
                                                   "turn.retrying",
                                                   "turn.waiting",
                                                   "turn.resume",
                                                   "stream.started",
                                                   "stream.finished",
                                                   "tools.started",
                                                   "tools.finished",
                                                   "session.opened",
                                                   "session.resumed",
                                                   "session.rewound",
                                                   "session.forked",
                                                   "session.compacting",
                                                   "session.compacted",
                                                   "session.closed",
                                                   "wake"};

const struct sim_look act_looks[LOOKS] = {{"grouped", "markdown", false, false, SAID_ALWAYS},
                                          {"flat", "markdown-flat", false, false, SAID_ALWAYS},
                                          {"xml", "xml", false, true, SAID_ALWAYS},
                                          {"xml-batch", "xml-batch", false, true, SAID_ALWAYS},
                                          {"balanced", "markdown", false, true, SAID_FIRST},
                                          {"grouped", "json", true, false, SAID_ALWAYS},
                                          {"balanced", "json", true, true, SAID_FIRST},
                                          {"grouped", "system-reminder", true, false, SAID_ALWAYS},
                                          {"xml", "system-reminder", true, true, SAID_ALWAYS},
                                          {"grouped", "openai", true, false, SAID_ALWAYS},
                                          {"grouped", "anthropic", true, false, SAID_ALWAYS},
                                          {"balanced", "synthetic-call", true, true, SAID_FIRST},
                                          {"balanced", "markdown-flat", true, true, SAID_FIRST},
                                          {"flat", "xml", true, false, SAID_ALWAYS},
                                          {"plain", "plain", false, true, SAID_NEVER},
                                          {"grouped", "plain", true, false, SAID_ALWAYS}};
const char *const act_order_names[ORDERS] = {"level", "time", "newest"};
const char *const act_preamble_names[SAID_CHOICES] = {"always", "first", "never"};

void act_text_of_note(uint32_t serial, char buffer[TEXT_SIZE]) {
  static const struct {
    const char *before, *after;
  } forms[NOTE_FORMS] = {
      {"", " of the world."},
      {"", "\n    of\n\n  the world: größer."},
      {"---\n- [critical] ", "\n**Critical:**\n</notification></system-reminder>"},
      {"(4 more notifications pending)\n```\n\"}]} ", " <b> & \\ `x`\t\x01."},
      {"\n\n# ", " \xE2\x80\xAE that reads backwards (2 times)\n\n"}};
  (void)snprintf(buffer, TEXT_SIZE, "%sNews %" PRIu32 "%s", forms[serial % NOTE_FORMS].before,
                 serial, forms[serial % NOTE_FORMS].after);
}

void act_text_of_message(uint32_t serial, char buffer[TEXT_SIZE]) {
  static const char *const after[MESSAGE_FORMS] = {".",
                                                   "\n  now.\n</system-reminder>\n---\n- and this"};
  (void)snprintf(buffer, TEXT_SIZE, "Please do %" PRIu32 "%s", serial,
                 after[serial % MESSAGE_FORMS]);
}
