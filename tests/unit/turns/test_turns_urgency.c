/* SPDX-License-Identifier: MIT
 *
 * The actions that an urgent notification causes, and those that it never causes.
 */
#include <criterion/criterion.h>

#include "turns_script.h"

#define SETTLE_DELAY "{\"turns\":{\"settle_delay_ms\":500}}"
#define ONE_ABORT "{\"critical\":{\"max_aborts\":1,\"abort_window_ms\":1000}}"
#define ONE_AUTO_TURN "{\"turns\":{\"max_auto_turns\":1}}"

Test(turns_urgency, idle_starts_a_turn) {
  EXPECT_PLAYED("item 1 urgent; wake", "starting(tidings:1) > offer tidings:1");
  EXPECT_PLAYED("item 1; wake", "starting(tidings:1) > offer tidings:1");
  EXPECT_PLAYED("started; failed; item 1 urgent; resume", "starting(tidings:1) > offer tidings:1");
}

Test(turns_urgency, the_queue_comes_first) {
  EXPECT_PLAYED("item 1 urgent; submit m1", "starting(m1) m1=offered > offer m1");
  EXPECT_PLAYED("submit m1; declined; item 1; wake", "starting(m1) m1=offered > offer m1");
  EXPECT_PLAYED("item 1 urgent; other: submit m1", "starting(m1) m1=offered");
  EXPECT_PLAYED("item 1 urgent; submit m1; finished m1",
                "starting(tidings:1) m1=fired > offer tidings:1");
  EXPECT_PLAYED("submit m1; submit m2; chat m1 @1; stream.started; item 1 urgent; wake; aborted m1",
                "starting(m2) m1=leased m2=offered > offer m2");
  EXPECT_PLAYED_WITH(SETTLE_DELAY, "started; submit m1; finished; item 1; wake",
                     "starting(m1) m1=offered > offer m1");
}

Test(turns_urgency, each_notification_asks_once) {
  EXPECT_PLAYED("item 1 urgent; wake; wake", "starting(tidings:1)");
  EXPECT_PLAYED("item 1 urgent; wake; declined", "idle");
  EXPECT_PLAYED("item 1 urgent; wake; declined; wake", "idle");
  EXPECT_PLAYED("item 1 urgent; wake; declined; item 2 urgent; wake",
                "starting(tidings:2) > offer tidings:2");
  EXPECT_PLAYED("item 1; wake; started tidings:1; finished", "idle");
  EXPECT_PLAYED("submit m1; declined; item 1 urgent; wake; cancel m1",
                "starting(tidings:1) m1=cancelled > offer tidings:1");
  EXPECT_PLAYED("submit m1; declined; item 1 urgent; wake; cancel m1; declined; wake",
                "idle m1=cancelled");
  EXPECT_PLAYED("item 1; wake; recovered; wake", "starting(tidings:2) > offer tidings:2");
}

Test(turns_urgency, a_stream_is_stopped_once_a_turn) {
  EXPECT_PLAYED("started; item 1 urgent; stream.started", "busy.streaming > abort");
  EXPECT_PLAYED("started; stream.started; item 1 urgent; wake", "busy.streaming > abort");
  EXPECT_PLAYED("started; stream.started; item 1 urgent; wake; wake", "busy.streaming");
  EXPECT_PLAYED("started; stream.started; item 1 urgent; wake; tools.started; stream.started",
                "busy.streaming");
  EXPECT_PLAYED("started; stream.started; item 1 urgent; wake; aborted",
                "starting(tidings:1) > offer tidings:1");
  EXPECT_PLAYED("other: submit m1; item 1 urgent; stream.started",
                "busy.streaming m1=queued > abort");
}

Test(turns_urgency, what_is_only_for_idle_sessions_stops_nothing) {
  EXPECT_PLAYED("started; stream.started; item 1; wake", "busy.streaming");
}

Test(turns_urgency, otherwise_the_next_carrier_has_it) {
  EXPECT_PLAYED("started; item 1 urgent; wake", "busy");
  EXPECT_PLAYED("started; tools.started; item 1 urgent; wake", "busy.tools");
  EXPECT_PLAYED("submit m1; item 1 urgent; wake", "starting(m1) m1=offered");
}

Test(turns_urgency, retrying_waiting_and_failed_hold_it) {
  EXPECT_PLAYED("started; retrying; item 1 urgent; wake", "retrying");
  EXPECT_PLAYED("started; waiting; item 1 urgent; wake", "waiting");
  EXPECT_PLAYED("started; failed; item 1 urgent; wake", "error");
}

Test(turns_urgency, compacting_holds_it) {
  EXPECT_PLAYED("started; compacting; stream.started; item 1 urgent; wake",
                "busy.streaming compacting");
  EXPECT_PLAYED("started; compacting; stream.started; item 1 urgent; wake; compacted",
                "busy.streaming > abort");
  EXPECT_PLAYED("compacting; item 1 urgent; wake", "idle compacting");
  EXPECT_PLAYED("compacting; item 1 urgent; wake; compacted",
                "starting(tidings:1) > offer tidings:1");
}

Test(turns_urgency, stopped_streams_are_counted) {
  EXPECT_PLAYED_WITH(ONE_ABORT,
                     "started; item 1 urgent; stream.started; aborted; started; stream.started",
                     "busy.streaming");
  EXPECT_PLAYED_WITH(
      ONE_ABORT,
      "started; item 1 urgent; stream.started; aborted; started; clock +999; stream.started",
      "busy.streaming");
  EXPECT_PLAYED_WITH(
      ONE_ABORT,
      "started; item 1 urgent; stream.started; aborted; started; clock +1000; stream.started",
      "busy.streaming > abort");
  EXPECT_PLAYED_WITH(
      ONE_ABORT,
      "started; item 1 urgent; stream.started; aborted; started; clock -1000; stream.started",
      "busy.streaming > abort");
  EXPECT_PLAYED_WITH("{\"critical\":{\"max_aborts\":0}}", "started; item 1 urgent; stream.started",
                     "busy.streaming");
}

Test(turns_urgency, turns_of_the_plugins_own_are_counted) {
  EXPECT_PLAYED_WITH(ONE_AUTO_TURN, "item 1; wake; started tidings:1; finished; item 2; wake",
                     "idle");
  EXPECT_PLAYED_WITH(ONE_AUTO_TURN, "item 1; wake; declined; item 2; wake",
                     "starting(tidings:2) > offer tidings:2");
  EXPECT_PLAYED_WITH(ONE_AUTO_TURN,
                     "item 1; wake; started tidings:1; finished; item 2; wake; submit m1",
                     "starting(m1) m1=offered > offer m1");
  EXPECT_PLAYED_WITH(
      ONE_AUTO_TURN,
      "item 1; wake; started tidings:1; finished; submit m1; item 2; started m1; finished",
      "starting(tidings:2) m1=fired > offer tidings:2");
  EXPECT_PLAYED_WITH(
      ONE_AUTO_TURN,
      "item 1; wake; started tidings:1; finished; stream.started; finished; item 2; wake", "idle");
  EXPECT_PLAYED_WITH(ONE_AUTO_TURN,
                     "item 1; wake; started tidings:1; finished; started; finished; item 2; wake",
                     "starting(tidings:2) > offer tidings:2");
  EXPECT_PLAYED_WITH("{\"turns\":{\"max_auto_turns\":0}}", "item 1 urgent; wake", "idle");
  EXPECT_PLAYED_WITH("{\"turns\":{\"max_auto_turns\":0}}",
                     "submit m1; declined; item 1 urgent; wake",
                     "starting(m1) m1=offered > offer m1");
}
