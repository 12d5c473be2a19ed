/* SPDX-License-Identifier: MIT
 *
 * Cancel, edit and move: a waiting message can be changed. A message that was sent answers FIRED;
 * an unknown or forgotten one answers NOT_FOUND.
 */
#include <criterion/criterion.h>

#include "turns_script.h"

#define COALESCING "{\"turns\":{\"discipline\":\"coalescing\"}}"
#define BATCH                                                                                      \
  "started; submit m1; submit m2; finished; " /* two that were queued while a turn ran, at its end \
                                               */

Test(turns_messages, a_move_changes_the_order_and_nothing_else) {
  EXPECT_PLAYED("submit m1; submit m2; submit m3; chat m1 @1; move m3 m2",
                "busy(m1) m1=leased m3=queued m2=queued");
  EXPECT_PLAYED("submit m1; submit m2; submit m3; chat m1 @1; move m2",
                "busy(m1) m1=leased m3=queued m2=queued");
  EXPECT_PLAYED("submit m1; submit m2; submit m3; chat m1 @1; move m2 m2",
                "busy(m1) m1=leased m2=queued m3=queued");
  EXPECT_PLAYED("submit m1; submit m2; submit m3; chat m1 @1; move m3 m2; finished; times",
                "starting(m3) m1=leased@- m3=offered@2 m2=queued@1 > offer m3");
  EXPECT_PLAYED("submit m1; submit m2 steer; submit m3 steer; move m3 m2; chat m1 @1; result @2",
                "busy.tools(m1) m1=leased m3=leased m2=leased");
}

Test(turns_messages, what_cannot_be_moved_or_moved_before) {
  EXPECT_PLAYED("submit m1; submit m2; move m2 m9",
                "starting(m1) m1=offered m2=queued ! NOT_FOUND: message \"m9\" was never submitted "
                "to this session");
  EXPECT_PLAYED("submit m1; submit m2; move m9 m2",
                "starting(m1) m1=offered m2=queued ! NOT_FOUND: message \"m9\" was never submitted "
                "to this session");
  EXPECT_PLAYED("submit m1; submit m2; move m1 m2",
                "starting(m1) m1=offered m2=queued ! FIRED: message \"m1\" is offered to the host; "
                "it cannot be moved any more");
  EXPECT_PLAYED("submit m1; submit m2; submit m3; cancel m2; move m3 m2",
                "starting(m1) m1=offered m2=cancelled m3=queued ! NOT_FOUND: message \"m2\" was "
                "cancelled; it cannot be moved before");
  EXPECT_PLAYED("submit m1; submit m2; submit m3; cancel m2; move m2 m3",
                "starting(m1) m1=offered m2=cancelled m3=queued ! NOT_FOUND: message \"m2\" was "
                "cancelled; it cannot be moved");
  EXPECT_PLAYED("submit m1; submit m2; finished m1; move m2 m1",
                "starting(m2) m1=fired m2=offered ! FIRED: message \"m2\" is offered to the host; "
                "it cannot be moved any more");
  EXPECT_PLAYED("submit m1; submit m2; submit m3; finished m1; chat m2 @1; commit 1; move m3 m1",
                "busy(m2) m1=fired m2=fired m3=queued ! FIRED: message \"m1\" has fired; it cannot "
                "be moved before any more");
  EXPECT_PLAYED("submit m1; submit m2; submit m3; closed; move m2 m3",
                "idle m1=closed m2=closed m3=closed ! NOT_FOUND: message \"m2\" ended when its "
                "session was closed; it cannot be moved");
}

Test(turns_messages, an_edit_needs_a_message_that_waits) {
  EXPECT_PLAYED("submit m1; submit m2 steer; edit m2", "starting(m1) m1=offered m2=steering");
  EXPECT_PLAYED("submit m1; edit m1", "starting(m1) m1=offered ! FIRED: message \"m1\" is offered "
                                      "to the host; it cannot be edited any more");
  EXPECT_PLAYED("submit m1; chat m1 @1; edit m1",
                "busy(m1) m1=leased ! FIRED: message \"m1\" is on its way to the model; it cannot "
                "be edited any more");
  EXPECT_PLAYED(
      "submit m1; chat m1 @1; commit 1; edit m1",
      "busy(m1) m1=fired ! FIRED: message \"m1\" has fired; it cannot be edited any more");
  EXPECT_PLAYED("submit m1; submit m2; cancel m2; edit m2",
                "starting(m1) m1=offered m2=cancelled ! NOT_FOUND: message \"m2\" was cancelled; "
                "it cannot be edited");
  EXPECT_PLAYED("submit m1; closed; edit m1", "idle m1=closed ! NOT_FOUND: message \"m1\" ended "
                                              "when its session was closed; it cannot be edited");
  EXPECT_PLAYED(
      "submit m1; chat m1 @1; rollback 1; edit m1",
      "busy(m1) m1=queued ! FIRED: message \"m1\" belongs to the running turn; it cannot be "
      "edited before the turn has ended");
  EXPECT_PLAYED("submit m1; chat m1 @1; rollback 1; failed; edit m1", "error m1=queued");
  EXPECT_PLAYED("edit m9", "idle ! NOT_FOUND: message \"m9\" was never submitted to this session");
}

Test(turns_messages, a_cancel_takes_what_waits_or_is_offered) {
  EXPECT_PLAYED("submit m1; submit m2 steer; cancel m2", "starting(m1) m1=offered m2=cancelled");
  EXPECT_PLAYED("started; submit m1 steer; cancel m1; result @1", "busy.tools m1=cancelled");
  EXPECT_PLAYED("submit m1; other: cancel m1", "idle m1=cancelled");
  EXPECT_PLAYED("submit m1; submit m2; other: cancel m1", "starting(m2) m1=cancelled m2=offered");
  EXPECT_PLAYED_WITH(COALESCING, BATCH "cancel m1", "starting(m2) m1=cancelled m2=offered");
  EXPECT_PLAYED_WITH(COALESCING, BATCH "cancel m1; cancel m2", "idle m1=cancelled m2=cancelled");
}

Test(turns_messages, what_cannot_be_cancelled) {
  EXPECT_PLAYED("submit m1; chat m1 @1; cancel m1",
                "busy(m1) m1=leased ! FIRED: message \"m1\" is on its way to the model; it cannot "
                "be cancelled any more");
  EXPECT_PLAYED(
      "submit m1; chat m1 @1; commit 1; cancel m1",
      "busy(m1) m1=fired ! FIRED: message \"m1\" has fired; it cannot be cancelled any more");
  EXPECT_PLAYED("submit m1; submit m2; cancel m2; cancel m2",
                "starting(m1) m1=offered m2=cancelled ! NOT_FOUND: message \"m2\" was cancelled; "
                "it cannot be cancelled");
  EXPECT_PLAYED("submit m1; closed; cancel m1",
                "idle m1=closed ! NOT_FOUND: message \"m1\" ended when its session was closed; it "
                "cannot be cancelled");
  EXPECT_PLAYED("cancel m9",
                "idle ! NOT_FOUND: message \"m9\" was never submitted to this session");
  EXPECT_PLAYED(
      "item 1; wake; cancel tidings:1",
      "starting(tidings:1) ! NOT_FOUND: message \"tidings:1\" was never submitted to this session");
}

Test(turns_messages, a_turn_keeps_the_ids_that_it_started_with) {
  EXPECT_PLAYED("submit m1; chat m1 @1; rollback 1; cancel m1", "busy(m1) m1=cancelled");
  EXPECT_PLAYED("submit m1; chat m1 @1; rollback 1; cancel m1; finished m1", "idle m1=cancelled");
  EXPECT_PLAYED_WITH(COALESCING, BATCH "chat m1 m2 @1; rollback 1; cancel m1; chat m1 m2 @2",
                     "busy(m1 m2) m1=cancelled m2=queued ! NOT_FOUND: message \"m1\" was "
                     "cancelled; it cannot be sent again");
  EXPECT_PLAYED_WITH(COALESCING, BATCH "chat m1 m2 @1; rollback 1; cancel m1; started m1 m2",
                     "busy(m1 m2) m1=cancelled m2=queued");
  EXPECT_PLAYED_WITH(COALESCING, BATCH "chat m1 m2 @1; rollback 1; cancel m1; finished m1 m2",
                     "starting(m2) m1=cancelled m2=offered > offer m2");
}
