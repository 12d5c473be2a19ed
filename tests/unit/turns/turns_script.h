/* SPDX-License-Identifier: MIT
 *
 * tests/unit/turns/turns_script.h: the run-state machine played by a script, and how the session
 * stands afterwards as one line, so that a test reads like the table of docs/turns.md.
 *
 * A script is a list of commands, "submit m1; chat m1 @1; tools.started":
 *   submit m1 [steer] [resume]    cancel m1    edit m1    move m1 [m2]: before m2, or last
 *   chat m1.. @1    result @1     carriers of delivery 1; "fires": it counts as committed at once
 *   commit 1    rollback 1        the delivery is settled; "silent": by a caller that takes no
 * reply started [ids]    declined, finished, aborted, failed, retrying, waiting [ids]; attempt=2,
 * words=text    resume stream.started, stream.finished, tools.started, tools.finished    opened,
 * compacting, compacted, closed, recovered    wake clock +500    clock -500      time item 3
 * [urgent]               what is pending asks for a turn: number 3 is the newest; "item 0": nothing
 * does any more lose m1                       the store has lost its row times the messages'
 * queued_at is shown: "m1=queued@0", in milliseconds since the script began; "@-": it never waited
 * "other:" before a command: somebody else's, while the host lives. "nobody:": while no host lives.
 * Ids may be anything, "tidings:1" included.
 */
#ifndef TESTS_UNIT_TURNS_SCRIPT_H
#define TESTS_UNIT_TURNS_SCRIPT_H

/* How the session stands: "busy.tools(m1) m1=leased m2=queued > offer m2". In brackets the turn's
 * ids; then the messages in their places; then what the last command asks of the host, or its
 * error: "! STATE: the session is ...". More, if it is so: "settling", "compacting",
 * "orphaned(m1)". */
const char *played(const char *script);
/* The same under settings, as JSON. */
const char *played_with(const char *settings, const char *script);

/* Fails the test, naming the script, unless it ends so. */
#define EXPECT_PLAYED(script, line) expect_played("", (script), (line), __LINE__)
#define EXPECT_PLAYED_WITH(settings, script, line)                                                 \
  expect_played((settings), (script), (line), __LINE__)
void expect_played(const char *settings, const char *script, const char *line, int at);

#endif
