/* SPDX-License-Identifier: MIT
 *
 * Ids may mean the current turn, a part of it, a turn that is over, or no turn. Also tests the
 * words for ids that do not fit.
 */
#include <criterion/criterion.h>

#include "turns_script.h"

#define COALESCING "{\"turns\":{\"discipline\":\"coalescing\"}}"
#define BATCH                                                                                      \
  "started; submit m1; submit m2; finished; " /* two that were queued while a turn ran, at its end \
                                               */

Test(turns_names, a_request_may_leave_out_some_of_an_offer) {
  EXPECT_PLAYED_WITH(COALESCING, BATCH "chat m2 @1", "busy(m2) m1=queued m2=leased");
  EXPECT_PLAYED_WITH(COALESCING, BATCH "chat m2 m1 @1", "busy(m1 m2) m1=leased m2=leased");
  EXPECT_PLAYED_WITH(COALESCING, BATCH "chat m2 m1 m2 @1", "busy(m1 m2) m1=leased m2=leased");
}

Test(turns_names, the_first_id_that_does_not_fit_decides) {
  EXPECT_PLAYED_WITH(COALESCING, BATCH "chat m1 m9 @1",
                     "starting(m1 m2) m1=offered m2=offered ! NOT_FOUND: message \"m9\" was never "
                     "submitted to this session");
  EXPECT_PLAYED("submit m1; submit m2; chat m9 m2 @1",
                "starting(m1) m1=offered m2=queued ! NOT_FOUND: message \"m9\" was never submitted "
                "to this session");
  EXPECT_PLAYED("submit m1; submit m2; chat m2 m9 @1",
                "starting(m1) m1=offered m2=queued ! STATE: message \"m2\" is queued, not on offer "
                "(the session is starting)");
  EXPECT_PLAYED("submit m1; submit m2; chat m1 @1; commit 1; finished; chat m1 @2",
                "starting(m2) m1=fired m2=offered ! FIRED: message \"m1\" has fired; it cannot be "
                "started any more");
  EXPECT_PLAYED("submit m1; submit m2; cancel m2; chat m2 @1",
                "starting(m1) m1=offered m2=cancelled ! NOT_FOUND: message \"m2\" was cancelled; "
                "it cannot be started");
  EXPECT_PLAYED("submit m1; submit m2; closed; chat m1 @1",
                "idle m1=closed m2=closed ! NOT_FOUND: message \"m1\" ended when its session was "
                "closed; it cannot be started");
  EXPECT_PLAYED("started; submit m1 steer; chat m1 @1",
                "busy m1=steering ! STATE: the session is busy with a turn of the host's own; "
                "message \"m1\" waits for a tool result, not part of a turn that could be meant");
}

Test(turns_names, an_event_names_all_of_its_turn) {
  EXPECT_PLAYED_WITH(COALESCING, BATCH "started m1 m2; finished m1",
                     "busy(m1 m2) m1=fired m2=fired ! STATE: the session is busy with \"m1\"; "
                     "expected all messages of that turn, not some");
  EXPECT_PLAYED_WITH(COALESCING, BATCH "started m1 m2; chat m1 @1",
                     "busy(m1 m2) m1=fired m2=fired ! STATE: the session is busy with \"m1\"; "
                     "expected all messages of that turn, not some");
  EXPECT_PLAYED_WITH(COALESCING, BATCH "finished m2",
                     "starting(m1 m2) m1=offered m2=offered ! STATE: the session is starting with "
                     "\"m1\"; expected all messages of that turn, not some");
  EXPECT_PLAYED_WITH(COALESCING, BATCH "started m1 m2; finished m2 m1", "idle m1=fired m2=fired");
}

Test(turns_names, what_is_said_of_a_turn_that_is_over_has_no_effect) {
  EXPECT_PLAYED("submit m1; submit m2; chat m1 @1; commit 1; finished; chat m2 @2; finished m1",
                "busy(m2) m1=fired m2=leased");
  EXPECT_PLAYED("submit m1; submit m2; chat m1 @1; finished; finished m1",
                "starting(m2) m1=leased m2=offered");
  EXPECT_PLAYED("submit m1; submit m2; chat m1 @1; finished; failed m1",
                "starting(m2) m1=leased m2=offered");
  EXPECT_PLAYED("submit m1; submit m2; chat m1 @1; finished; declined m1",
                "starting(m2) m1=leased m2=offered");
  EXPECT_PLAYED("submit m1; chat m1 @1; finished; retrying m1", "idle m1=leased");
  EXPECT_PLAYED("submit m1; submit m2; chat m1 @1; finished; chat m2 @2; waiting m1",
                "busy(m2) m1=leased m2=leased");
  EXPECT_PLAYED("submit m1; submit m2; chat m1 @1; finished; chat m2 @2; finished m1 m2",
                "busy(m2) m1=leased m2=leased ! STATE: the session is busy with \"m2\"; message "
                "\"m1\" is on a carrier, not part of a turn "
                "that could be meant");
}

Test(turns_names, turns_of_the_plugins_own_have_ids_too) {
  EXPECT_PLAYED("item 1; wake; chat tidings:1 @1", "busy(tidings:1)");
  EXPECT_PLAYED("item 1; wake; started tidings:1", "busy(tidings:1)");
  EXPECT_PLAYED("item 1; wake; started tidings:1; finished tidings:1", "idle");
  EXPECT_PLAYED("item 1; wake; declined tidings:1", "idle");
  EXPECT_PLAYED("item 1; wake; finished tidings:1", "idle");
  EXPECT_PLAYED("item 1; wake; started tidings:1; finished; chat tidings:1 @1",
                "idle ! FIRED: turn \"tidings:1\" is over; it is not on offer");
  EXPECT_PLAYED("item 1; wake; started tidings:1; finished; finished tidings:1", "idle");
  EXPECT_PLAYED("item 1; wake; started; finished tidings:1", "busy");
  EXPECT_PLAYED("item 1; wake; submit m1; chat m1 @1",
                "starting(tidings:1) m1=queued ! STATE: message \"m1\" is queued, not on offer "
                "(the session is starting)");
  EXPECT_PLAYED("item 1; wake; submit m1; chat tidings:1 m1 @1",
                "starting(tidings:1) m1=queued ! STATE: message \"m1\" is queued, not on offer "
                "(the session is starting)");
  EXPECT_PLAYED("item 1; wake; submit m1; started tidings:1; finished m1",
                "busy(tidings:1) m1=queued ! STATE: the session is busy with \"tidings:1\"; "
                "message \"m1\" is queued, not part of a turn "
                "that could be meant");
}

Test(turns_names, ids_that_only_look_like_the_plugins_own) {
  EXPECT_PLAYED(
      "item 1; wake; chat tidings:2 @1",
      "starting(tidings:1) ! NOT_FOUND: message \"tidings:2\" was never submitted to this session");
  EXPECT_PLAYED("item 1; wake; chat tidings:01 @1",
                "starting(tidings:1) ! NOT_FOUND: message \"tidings:01\" was never submitted to "
                "this session");
  EXPECT_PLAYED(
      "item 1; wake; chat tidings:0 @1",
      "starting(tidings:1) ! NOT_FOUND: message \"tidings:0\" was never submitted to this session");
  EXPECT_PLAYED(
      "item 1; wake; chat tidings: @1",
      "starting(tidings:1) ! NOT_FOUND: message \"tidings:\" was never submitted to this session");
  EXPECT_PLAYED("item 1; wake; chat tidings:1x @1",
                "starting(tidings:1) ! NOT_FOUND: message \"tidings:1x\" was never submitted to "
                "this session");
  EXPECT_PLAYED("item 1; wake; chat tidings:18446744073709551617 @1",
                "starting(tidings:1) ! NOT_FOUND: message \"tidings:18446744073709551617\" was "
                "never submitted to this session");
}

#define TWO "submit m1; submit m2; "
#define RUNS TWO "chat m1 @1; "

Test(turns_names, a_refusal_says_how_the_session_stands_and_what_was_expected) {
  EXPECT_PLAYED(TWO "declined; chat m1 @2",
                "idle m1=queued m2=queued ! STATE: message \"m1\" is queued, not on offer (the "
                "session is idle)");
  EXPECT_PLAYED(TWO "declined; finished m1",
                "idle m1=queued m2=queued ! STATE: the session is idle; message \"m1\" is queued, "
                "not part of a turn that could be meant");
  EXPECT_PLAYED(TWO "finished",
                "starting(m1) m1=offered m2=queued ! STATE: the session is starting with \"m1\"; "
                "expected the ids of the messages offered, if that turn is meant");
  EXPECT_PLAYED(RUNS "declined",
                "busy(m1) m1=leased m2=queued ! STATE: the session is busy with \"m1\"; expected "
                "an offer that has not started");
  EXPECT_PLAYED(TWO "retrying", "starting(m1) m1=offered m2=queued ! STATE: the session is "
                                "starting with \"m1\"; expected a turn that runs");
  EXPECT_PLAYED(RUNS "failed; chat m1 @2",
                "error m1=leased m2=queued ! FIRED: message \"m1\" is on its way to the model; it "
                "cannot be started any more");
}

Test(turns_names, a_refusal_says_why_a_message_cannot_be_changed) {
  EXPECT_PLAYED(RUNS "cancel m1", "busy(m1) m1=leased m2=queued ! FIRED: message \"m1\" is on its "
                                  "way to the model; it cannot be cancelled any more");
  EXPECT_PLAYED(TWO "move m2 m1", "starting(m1) m1=offered m2=queued ! FIRED: message \"m1\" is "
                                  "offered to the host; it cannot be moved before any more");
}

Test(turns_names, what_the_host_says_with_a_pause_is_kept) {
  EXPECT_PLAYED(RUNS "retrying attempt=2 words=again",
                "retrying(m1) attempt 2 \"again\" m1=leased m2=queued");
  EXPECT_PLAYED(RUNS "waiting words=approval", "waiting(m1) \"approval\" m1=leased m2=queued");
  EXPECT_PLAYED(RUNS "retrying attempt=2 words=again; waiting words=approval",
                "waiting(m1) \"approval\" m1=leased m2=queued");
}
