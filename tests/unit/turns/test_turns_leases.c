/* SPDX-License-Identifier: MIT
 *
 * Messages on carriers, steering, recovery and the end of a session.
 */
#include <criterion/criterion.h>

#include "turns_script.h"

#define SETTLE_DELAY "{\"turns\":{\"settle_delay_ms\":500}}"
#define HOLD "{\"turns\":{\"restart\":\"hold\"}}"

Test(turns_leases, a_settled_carrier_fires_or_brings_back) {
  EXPECT_PLAYED("submit m1; chat m1 @1; commit 1", "busy(m1) m1=fired");
  EXPECT_PLAYED("submit m1; chat m1 @1; rollback 1", "busy(m1) m1=queued");
  EXPECT_PLAYED("submit m1; submit m2; chat m1 @1; rollback 1; finished",
                "starting(m1) m1=offered m2=queued > offer m1");
  EXPECT_PLAYED("submit m1; chat m1 @1; rollback 1; failed", "error m1=queued");
  EXPECT_PLAYED("submit m1; chat m1 @1; rollback 1; chat m1 @2; commit 2; finished",
                "idle m1=fired");
  EXPECT_PLAYED("submit m1; chat m1 @1; rollback 1; rollback 1", "busy(m1) m1=queued");
}

Test(turns_leases, a_carrier_that_fails_after_its_turn) {
  EXPECT_PLAYED("submit m1; chat m1 @1; finished; rollback 1",
                "starting(m1) m1=offered > offer m1");
  EXPECT_PLAYED("submit m1; chat m1 @1; finished; rollback 1 silent", "starting(m1) m1=offered");
  EXPECT_PLAYED("submit m1; chat m1 @1; finished; rollback 1 silent; wake",
                "starting(m1) m1=offered > offer m1");
  EXPECT_PLAYED("submit m1; submit m2; chat m1 @1; finished; rollback 1",
                "starting(m2) m1=queued m2=offered");
  EXPECT_PLAYED("submit m1; submit m2; chat m1 @1; finished; declined; rollback 1",
                "starting(m1) m1=offered m2=queued > offer m1");
  EXPECT_PLAYED("submit m1; chat m1 @1; failed; rollback 1", "error m1=queued");
  EXPECT_PLAYED_WITH(SETTLE_DELAY, "submit m1; submit m2; chat m1 @1; finished; rollback 1",
                     "idle settling m1=queued m2=queued");
}

Test(turns_leases, several_carriers_of_a_message) {
  EXPECT_PLAYED("submit m1; chat m1 @1; chat m1 @2; rollback 1; commit 2", "busy(m1) m1=fired");
  EXPECT_PLAYED("submit m1; chat m1 @1; chat m1 @2; commit 1; rollback 2", "busy(m1) m1=fired");
  EXPECT_PLAYED("submit m1; chat m1 @1; chat m1 @2; rollback 2; rollback 1", "busy(m1) m1=queued");
  EXPECT_PLAYED("submit m1; chat m1 @1; chat m1 @2; rollback 2; commit 1", "busy(m1) m1=fired");
  EXPECT_PLAYED("submit m1; chat m1 @1; chat m1 @2; rollback 1; finished", "idle m1=leased");
  EXPECT_PLAYED("submit m1; chat m1 @1; chat m1 @2; rollback 1; finished; rollback 2",
                "starting(m1) m1=offered > offer m1");
}

Test(turns_leases, a_turn_that_started_gets_its_carrier_later) {
  EXPECT_PLAYED("submit m1; started m1; chat m1 @1", "busy(m1) m1=leased");
  EXPECT_PLAYED("submit m1; started m1; chat m1 @1; rollback 1", "busy(m1) m1=queued");
  EXPECT_PLAYED("submit m1; started m1; finished; rollback 1", "idle m1=fired");
}

Test(turns_leases, what_is_never_settled_fires_at_once) {
  EXPECT_PLAYED("submit m1; chat m1 @1 fires", "busy(m1) m1=fired");
  EXPECT_PLAYED("submit m1; chat m1 @1 fires; chat m1 @2 fires", "busy(m1) m1=fired");
  EXPECT_PLAYED("started; submit m1 steer; result @1 fires", "busy.tools m1=fired");
}

Test(turns_leases, a_steered_message_takes_the_next_tool_result) {
  EXPECT_PLAYED("started; submit m1 steer; submit m2 steer; submit m3; result @1",
                "busy.tools m1=leased m2=leased m3=queued");
  EXPECT_PLAYED(
      "started; submit m1 steer; submit m2 steer; submit m3; result @1; commit 1; finished",
      "starting(m3) m1=fired m2=fired m3=offered > offer m3");
  EXPECT_PLAYED("started; submit m1 steer; retrying; result @1", "busy.tools m1=leased");
  EXPECT_PLAYED("submit m1; submit m2 steer; result @1", "busy.tools(m1) m1=fired m2=leased");
  EXPECT_PLAYED("other: submit m1; other: submit m2 steer; result @1",
                "starting(m1) m1=offered m2=steering");
  EXPECT_PLAYED("submit m1; submit m2 steer; started", "busy m1=queued m2=steering");
}

Test(turns_leases, a_steered_message_falls_back_to_the_queue) {
  EXPECT_PLAYED("started; submit m1 steer; submit m2 steer; submit m3; finished; times",
                "starting(m1) m1=offered@0 m2=queued@1 m3=queued@2 > offer m1");
  EXPECT_PLAYED("started; submit m1 steer; clock +5; submit m2; finished; times",
                "starting(m1) m1=offered@0 m2=queued@5 > offer m1");
  EXPECT_PLAYED("started; submit m2; submit m1 steer; finished",
                "starting(m2) m2=offered m1=queued > offer m2");
  EXPECT_PLAYED("started; submit m1 steer; failed", "error m1=queued");
  EXPECT_PLAYED("started; submit m1 steer; failed; resume", "starting(m1) m1=offered > offer m1");
  EXPECT_PLAYED("submit m1; submit m2 steer; declined", "idle m1=queued m2=queued");
}

Test(turns_leases, a_steered_message_whose_carrier_fails) {
  EXPECT_PLAYED("started; submit m1 steer; result @1; rollback 1", "busy.tools m1=steering");
  EXPECT_PLAYED("started; submit m1 steer; result @1; rollback 1; result @2; commit 2",
                "busy.tools m1=fired");
  EXPECT_PLAYED("started; submit m1 steer; result @1; finished; rollback 1; times",
                "starting(m1) m1=offered@0 > offer m1");
  EXPECT_PLAYED("started; submit m1 steer; submit m2; result @1; finished; rollback 1",
                "starting(m2) m1=queued m2=offered");
  EXPECT_PLAYED("started; submit m1 steer; submit m2; result @1; finished; declined; rollback 1",
                "starting(m1) m1=offered m2=queued > offer m1");
  EXPECT_PLAYED("started; submit m1 steer; result @1; failed; rollback 1", "error m1=queued");
}

Test(turns_leases, a_dead_hosts_session_is_recovered) {
  EXPECT_PLAYED("submit m1; submit m2; recovered", "idle m1=queued m2=queued");
  EXPECT_PLAYED("submit m1; submit m2; chat m1 @1; commit 1; recovered",
                "idle orphaned(m1) m1=fired m2=queued");
  EXPECT_PLAYED("submit m1; submit m2; chat m1 @1; nobody: rollback 1; recovered",
                "idle m1=queued m2=queued");
  EXPECT_PLAYED("submit m1; submit m2; chat m1 @1; nobody: rollback 1; recovered; opened",
                "starting(m1) m1=offered m2=queued > offer m1");
  EXPECT_PLAYED("submit m1; submit m2; chat m1 @1; commit 1; recovered; opened; chat m2 @2",
                "busy(m2) m1=fired m2=leased");
  EXPECT_PLAYED("submit m1; submit m2 steer; chat m1 @1; commit 1; recovered",
                "idle orphaned(m1) m1=fired m2=queued");
  EXPECT_PLAYED("submit m1; started m1; recovered; recovered", "idle orphaned(m1) m1=fired");
  EXPECT_PLAYED("item 1; wake; recovered", "idle");
  EXPECT_PLAYED("item 1; wake; started tidings:1; recovered; recovered",
                "idle orphaned(tidings:1)");
  EXPECT_PLAYED("item 1; wake; started tidings:1; recovered; wake",
                "starting(tidings:2) orphaned(tidings:1) > offer tidings:2");
  EXPECT_PLAYED("item 1; wake; started tidings:1; recovered; started", "busy");
  EXPECT_PLAYED("item 1; wake; started tidings:1; recovered; submit m1; started m1; recovered",
                "idle orphaned(m1) m1=fired");
  EXPECT_PLAYED("item 1; wake; started tidings:1; recovered; started; recovered", "idle");
  EXPECT_PLAYED("submit m1; started m1; recovered; started", "busy m1=fired");
  EXPECT_PLAYED("started; compacting; recovered", "idle");
  EXPECT_PLAYED_WITH(SETTLE_DELAY, "started; submit m1; finished; recovered", "idle m1=queued");
}

Test(turns_leases, a_recovered_queue_may_be_held) {
  EXPECT_PLAYED_WITH(HOLD, "submit m1; submit m2; recovered", "error m1=queued m2=queued");
  EXPECT_PLAYED_WITH(HOLD, "submit m1; chat m1 @1; commit 1; recovered",
                     "error orphaned(m1) m1=fired");
  EXPECT_PLAYED_WITH(HOLD, "submit m1; finished m1; recovered", "idle m1=fired");
  EXPECT_PLAYED_WITH(HOLD, "started; recovered", "error");
  EXPECT_PLAYED_WITH(HOLD, "submit m1; submit m2; recovered; opened", "error m1=queued m2=queued");
  EXPECT_PLAYED_WITH(HOLD, "submit m1; submit m2; recovered; resume",
                     "starting(m1) m1=offered m2=queued > offer m1");
}

Test(turns_leases, closing_ends_all) {
  EXPECT_PLAYED("submit m1; submit m2 steer; chat m1 @1; closed", "idle m1=closed m2=closed");
  EXPECT_PLAYED("started; submit m1; compacting; closed", "idle m1=closed");
  EXPECT_PLAYED("item 1; wake; started tidings:1; closed; item 2; wake",
                "starting(tidings:2) > offer tidings:2");
  EXPECT_PLAYED("submit m1; finished m1; closed", "idle m1=fired");
}

Test(turns_leases, what_the_store_has_lost_stops_nothing) {
  EXPECT_PLAYED("submit m1; submit m2; lose m1; wake", "starting(m2) m2=offered > offer m2");
  EXPECT_PLAYED("submit m1; lose m1; wake", "idle");
  EXPECT_PLAYED("other: submit m1; lose m1; submit m2", "starting(m2) m2=offered > offer m2");
  EXPECT_PLAYED("submit m1; submit m2; chat m1 @1; lose m1; finished",
                "starting(m2) m2=offered > offer m2");
  EXPECT_PLAYED("submit m1; chat m1 @1; recovered", "idle m1=queued");
}
