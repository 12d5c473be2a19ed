/* SPDX-License-Identifier: MIT
 *
 * tests/unit/turns/turns_script.h: plays a script on the run-state machine and writes the state of
 * the session afterwards as one line, so that a test reads like the table of docs/turns.md.
 *
 * A script is a list of commands, such as "submit m1; chat m1 @1; tools.started":
 *   submit m1 [steer] [resume], cancel m1, edit m1
 *   move m1 [m2]: before m2, or to the end
 *   chat m1.. @1, result @1: carriers of delivery 1; "fires": it is committed at once
 *   commit 1, rollback 1: settle the delivery; "silent": the caller takes no reply
 *   started [ids]
 *   declined, finished, aborted, failed, retrying, waiting [ids]; attempt=2, words=text
 *   resume
 *   stream.started, stream.finished, tools.started, tools.finished
 *   opened, compacting, compacted, closed, recovered
 *   wake
 *   clock +500, clock -500: move the clock, in milliseconds
 *   item 3 [urgent]: a pending item asks for a turn; number 3 is the newest; "item 0": none does
 *   lose m1: the store has lost the message's row
 *   times: the line shows queued_at: "m1=queued@0", in milliseconds since the script began; "@-":
 *     the message has not waited
 * "other:" before a command: another process does it while the host lives. "nobody:": no host
 * lives. Ids may be anything, "tidings:1" included.
 */
#ifndef TESTS_UNIT_TURNS_SCRIPT_H
#define TESTS_UNIT_TURNS_SCRIPT_H

/* Returns the session's state: "busy.tools(m1) m1=leased m2=queued > offer m2". The turn's ids are
 * in brackets; then come the messages in their places; then what the last command asks of the host,
 * or its error: "! STATE: the session is ...". The words "settling", "compacting" and
 * "orphaned(m1)" are added if they apply. */
const char *played(const char *script);
/* The same under settings, as JSON. */
const char *played_with(const char *settings, const char *script);

/* Fails the test, naming the script, unless it ends so. */
#define EXPECT_PLAYED(script, line) expect_played("", (script), (line), __LINE__)
#define EXPECT_PLAYED_WITH(settings, script, line)                                                 \
  expect_played((settings), (script), (line), __LINE__)
void expect_played(const char *settings, const char *script, const char *line, int at);

#endif
