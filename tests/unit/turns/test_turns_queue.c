/* SPDX-License-Identifier: MIT
 *
 * The queue: the next message, the messages that a drain takes, settle delays, offers that the host
 * knows, and messages that compacting holds back.
 */
#include <criterion/criterion.h>

#include "kit.h"
#include "rules/turns/turns.h"
#include "turns_script.h"

#define COALESCING "{\"turns\":{\"discipline\":\"coalescing\"}}"
#define SETTLE_DELAY "{\"turns\":{\"settle_delay_ms\":500}}"
#define BOTH "{\"turns\":{\"settle_delay_ms\":500,\"discipline\":\"coalescing\"}}"
#define BATCH                                                                                      \
  "started; submit m1; submit m2; finished; " /* two that were queued while a turn ran, at its end \
                                               */

Test(turns_queue, serial_takes_the_earliest) {
  EXPECT_PLAYED("submit m1; submit m2; submit m3; chat m1 @1; commit 1; finished",
                "starting(m2) m1=fired m2=offered m3=queued > offer m2");
  EXPECT_PLAYED("submit m1; submit m2; submit m3; chat m1 @1; commit 1; finished; chat m2 @2; "
                "commit 2; finished",
                "starting(m3) m1=fired m2=fired m3=offered > offer m3");
  EXPECT_PLAYED("other: submit m1; other: submit m2; submit m3; chat m1 @1; commit 1; finished",
                "starting(m2) m1=fired m2=offered m3=queued > offer m2");
}

Test(turns_queue, coalescing_takes_what_is_queued_at_that_instant) {
  EXPECT_PLAYED_WITH(COALESCING, BATCH, "starting(m1 m2) m1=offered m2=offered > offer m1 m2");
  EXPECT_PLAYED_WITH(COALESCING, BATCH "submit m3",
                     "starting(m1 m2) m1=offered m2=offered m3=queued");
  EXPECT_PLAYED_WITH(COALESCING, "submit m1; submit m2; submit m3; chat m1 @1; finished",
                     "starting(m2 m3) m1=leased m2=offered m3=offered > offer m2 m3");
}

Test(turns_queue, queued_at_grows_whatever_the_clock_does) {
  EXPECT_PLAYED("submit m1; submit m2; times", "starting(m1) m1=offered@- m2=queued@1");
  EXPECT_PLAYED("submit m1; clock -5000; submit m2; clock +1; submit m3; times",
                "starting(m1) m1=offered@- m2=queued@1 m3=queued@2");
  EXPECT_PLAYED("submit m1; declined; times", "idle m1=queued@0");
  EXPECT_PLAYED("started; submit m1; finished; times", "starting(m1) m1=offered@0 > offer m1");
  EXPECT_PLAYED("submit m1; submit m2 steer; submit m3; times",
                "starting(m1) m1=offered@- m2=steering@1 m3=queued@2");
  EXPECT_PLAYED_WITH(SETTLE_DELAY,
                     "started; submit m1; finished; cancel m1; item 1; submit m2; times",
                     "starting(m2) m1=cancelled@0 m2=offered@- > offer m2");
}

Test(turns_queue, a_settle_delay_holds_the_batch) {
  EXPECT_PLAYED_WITH(SETTLE_DELAY, BATCH, "idle settling m1=queued m2=queued");
  EXPECT_PLAYED_WITH(SETTLE_DELAY, BATCH "submit m3",
                     "idle settling m1=queued m2=queued m3=queued");
  EXPECT_PLAYED_WITH(SETTLE_DELAY, BATCH "clock +499; wake", "idle settling m1=queued m2=queued");
  EXPECT_PLAYED_WITH(SETTLE_DELAY, BATCH "clock +500; wake",
                     "starting(m1) m1=offered m2=queued > offer m1");
  EXPECT_PLAYED_WITH(SETTLE_DELAY, BATCH "opened", "idle settling m1=queued m2=queued");
  EXPECT_PLAYED_WITH(SETTLE_DELAY, "started; submit m1; submit m2; aborted",
                     "idle settling m1=queued m2=queued");
  EXPECT_PLAYED_WITH(SETTLE_DELAY, "started; submit m1; failed", "error m1=queued");
  EXPECT_PLAYED_WITH(SETTLE_DELAY, "started; finished; submit m1",
                     "starting(m1) m1=offered > offer m1");
}

Test(turns_queue, a_settle_delay_ends_early) {
  EXPECT_PLAYED_WITH(SETTLE_DELAY, BATCH "clock -1; wake",
                     "starting(m1) m1=offered m2=queued > offer m1");
  EXPECT_PLAYED_WITH(SETTLE_DELAY, BATCH "resume", "starting(m1) m1=offered m2=queued > offer m1");
  EXPECT_PLAYED_WITH(SETTLE_DELAY, BATCH "item 1; wake",
                     "starting(m1) m1=offered m2=queued > offer m1");
  EXPECT_PLAYED_WITH(SETTLE_DELAY, "started; submit m1; finished; started", "busy m1=queued");
}

Test(turns_queue, a_settle_delay_is_over_when_the_host_calls) {
  EXPECT_PLAYED_WITH(SETTLE_DELAY, BATCH "clock +500; other: submit m3",
                     "idle settling m1=queued m2=queued m3=queued");
  EXPECT_PLAYED_WITH(SETTLE_DELAY, BATCH "clock +500; other: submit m3; wake",
                     "starting(m1) m1=offered m2=queued m3=queued > offer m1");
}

Test(turns_queue, a_settle_delay_whose_batch_is_gone) {
  EXPECT_PLAYED_WITH(SETTLE_DELAY, "started; submit m1; finished; cancel m1",
                     "idle settling m1=cancelled");
  EXPECT_PLAYED_WITH(SETTLE_DELAY, "started; submit m1; finished; cancel m1; submit m2",
                     "idle settling m1=cancelled m2=queued");
  EXPECT_PLAYED_WITH(SETTLE_DELAY, "started; submit m1; finished; cancel m1; clock +500; wake",
                     "idle m1=cancelled");
  EXPECT_PLAYED_WITH(
      BOTH, "started; submit m1; finished; submit m2; submit m3; cancel m1; clock +500; wake",
      "starting(m2 m3) m1=cancelled m2=offered m3=offered > offer m2 m3");
}

Test(turns_queue, what_comes_in_a_settle_delay_is_of_the_next_batch) {
  EXPECT_PLAYED_WITH(BOTH, BATCH "submit m3; clock +500; wake",
                     "starting(m1 m2) m1=offered m2=offered m3=queued > offer m1 m2");
  EXPECT_PLAYED_WITH(BOTH, "started; submit m1; finished; submit m3; move m3 m1; clock +500; wake",
                     "starting(m1) m3=queued m1=offered > offer m1");
  EXPECT_PLAYED_WITH(SETTLE_DELAY,
                     "started; submit m1; finished; submit m2; move m2 m1; clock +500; wake",
                     "starting(m2) m2=offered m1=queued > offer m2");
}

Test(turns_queue, an_offer_is_told_once_to_the_host) {
  EXPECT_PLAYED("other: submit m1", "starting(m1) m1=offered");
  EXPECT_PLAYED("other: submit m1; wake", "starting(m1) m1=offered > offer m1");
  EXPECT_PLAYED("other: submit m1; wake; wake", "starting(m1) m1=offered");
  EXPECT_PLAYED("submit m1; submit m2; other: cancel m1; wake",
                "starting(m2) m1=cancelled m2=offered > offer m2");
}

Test(turns_queue, an_unknown_offer_is_not_what_the_host_runs) {
  EXPECT_PLAYED("other: submit m1; started", "busy m1=queued");
  EXPECT_PLAYED("other: submit m1; stream.started", "busy.streaming m1=queued");
  EXPECT_PLAYED("other: submit m1; result @1", "starting(m1) m1=offered");
  EXPECT_PLAYED("other: submit m1; finished", "starting(m1) m1=offered > offer m1");
  EXPECT_PLAYED("other: submit m1; finished m1", "idle m1=fired");
  EXPECT_PLAYED("other: submit m1; chat m1 @1", "busy(m1) m1=leased");
}

Test(turns_queue, nothing_is_offered_while_nobody_is_attached) {
  EXPECT_PLAYED("nobody: submit m1", "idle m1=queued");
  EXPECT_PLAYED("nobody: submit m1; wake", "idle m1=queued");
  EXPECT_PLAYED("nobody: submit m1; opened", "starting(m1) m1=offered > offer m1");
  EXPECT_PLAYED("nobody: submit m1; submit m2", "starting(m1) m1=offered m2=queued > offer m1");
  EXPECT_PLAYED("nobody: submit m1; nobody: submit m2; nobody: cancel m1",
                "idle m1=cancelled m2=queued");
}

Test(turns_queue, compacting_holds_back) {
  EXPECT_PLAYED("compacting; submit m1", "idle compacting m1=queued");
  EXPECT_PLAYED("compacting; submit m1; compacted", "starting(m1) m1=offered > offer m1");
  EXPECT_PLAYED("compacting; submit m1; resume", "idle compacting m1=queued");
  EXPECT_PLAYED("started; failed; compacting; submit m1 resume", "idle compacting m1=queued");
  EXPECT_PLAYED("started; failed; compacting; submit m1 resume; compacted",
                "starting(m1) m1=offered > offer m1");
  EXPECT_PLAYED("started; failed; compacting; submit m1; compacted", "error m1=queued");
  EXPECT_PLAYED("compacting; submit m1; opened", "idle compacting m1=queued");
  EXPECT_PLAYED("other: submit m1; compacting", "starting(m1) compacting m1=offered");
  EXPECT_PLAYED("other: submit m1; compacting; wake", "starting(m1) compacting m1=offered");
  EXPECT_PLAYED("other: submit m1; compacting; compacted", "starting(m1) m1=offered > offer m1");
  EXPECT_PLAYED("started; submit m1 steer; compacting; result @1",
                "busy.tools compacting m1=steering");
  EXPECT_PLAYED("started; submit m1 steer; compacting; result @1; compacted; result @1",
                "busy.tools m1=leased");
  EXPECT_PLAYED("submit m1; submit m2; compacting; cancel m1",
                "idle compacting m1=cancelled m2=queued");
  EXPECT_PLAYED("submit m1; submit m2; compacting; cancel m1; compacted",
                "starting(m2) m1=cancelled m2=offered > offer m2");
  EXPECT_PLAYED("started; submit m1; compacting; finished", "idle compacting m1=queued");
  EXPECT_PLAYED("started; submit m1; compacting; finished; compacted",
                "starting(m1) m1=offered > offer m1");
  EXPECT_PLAYED_WITH(SETTLE_DELAY, "started; submit m1; finished; compacting; clock +600; wake",
                     "idle settling compacting m1=queued");
  EXPECT_PLAYED_WITH(SETTLE_DELAY,
                     "started; submit m1; finished; compacting; clock +600; wake; compacted",
                     "starting(m1) m1=offered > offer m1");
}

/* Each move halves the gap between two places. When no gap is left, all places are spread again. */
Test(turns_queue, there_is_always_a_place_in_between) {
  struct buffer script = BUFFER_EMPTY;
  buffer_text(&script, "started; submit m1; submit m2; submit m3; submit m4");
  for (int i = 1; i <= 100; i++) {
    buffer_text(&script, i % 2 ? "; move m3 m2" : "; move m2 m3");
    EXPECT_PLAYED(text_of(buffer_view(&script)),
                  i % 2 ? "busy m1=queued m3=queued m2=queued m4=queued"
                        : "busy m1=queued m2=queued m3=queued m4=queued");
  }
  buffer_free(&script);
}

/* -- what the hooks and timers ask of a run ---------------------------------------------------- */

Test(turns_queue, when_a_batch_is_due) {
  struct settings settings = {.settle_delay_ms = 500};
  cr_expect_eq(
      turns_due_ms(&(struct turns){.run = {.settling = true, .settle_since_ms = 1000}}, &settings),
      1500);
  const struct turns compacting = {
      .run = {.settling = true, .settle_since_ms = 1000, .compacting = true}};
  cr_expect_eq(turns_due_ms(&compacting, &settings), 0);
  cr_expect_eq(turns_due_ms(&(struct turns){.run = {.state = RUN_IDLE}}, &settings), 0);
}

Test(turns_queue, whether_a_tool_result_with_nothing_on_it_matters) {
  cr_expect_not(turns_reacts_to_tool_result(&(struct run){.state = RUN_IDLE}));
  cr_expect_not(turns_reacts_to_tool_result(&(struct run){.state = RUN_ERROR}));
  cr_expect_not(turns_reacts_to_tool_result(&(struct run){.state = RUN_STARTING}));
  cr_expect(turns_reacts_to_tool_result(&(struct run){.state = RUN_STARTING, .offer_known = true}));
  cr_expect(
      turns_reacts_to_tool_result(&(struct run){.state = RUN_BUSY, .phase = PHASE_STREAMING}));
  cr_expect(turns_reacts_to_tool_result(&(struct run){.state = RUN_BUSY}));
  cr_expect_not(
      turns_reacts_to_tool_result(&(struct run){.state = RUN_BUSY, .phase = PHASE_TOOLS}));
  cr_expect(turns_reacts_to_tool_result(
      &(struct run){.state = RUN_BUSY, .phase = PHASE_TOOLS, .steering = true}));
  cr_expect_not(turns_reacts_to_tool_result(&(struct run){
      .state = RUN_BUSY, .phase = PHASE_TOOLS, .steering = true, .compacting = true}));
  cr_expect(turns_reacts_to_tool_result(&(struct run){.state = RUN_RETRYING}));
  cr_expect(turns_reacts_to_tool_result(&(struct run){.state = RUN_WAITING}));
}

Test(turns_queue, whether_urgency_and_unknown_offers_matter) {
  cr_expect(turns_reacts_to_urgency(&(struct run){.state = RUN_IDLE}));
  cr_expect_not(turns_reacts_to_urgency(&(struct run){.state = RUN_IDLE, .compacting = true}));
  cr_expect(turns_reacts_to_urgency(&(struct run){.state = RUN_BUSY, .phase = PHASE_STREAMING}));
  cr_expect_not(turns_reacts_to_urgency(
      &(struct run){.state = RUN_BUSY, .phase = PHASE_STREAMING, .aborted = true}));
  cr_expect_not(turns_reacts_to_urgency(&(struct run){.state = RUN_BUSY, .phase = PHASE_TOOLS}));
  cr_expect_not(turns_reacts_to_urgency(&(struct run){.state = RUN_ERROR}));
  cr_expect(turns_has_unknown_offer(&(struct run){.state = RUN_STARTING}));
  cr_expect_not(turns_has_unknown_offer(&(struct run){.state = RUN_STARTING, .offer_known = true}));
  cr_expect_not(turns_has_unknown_offer(&(struct run){.state = RUN_STARTING, .compacting = true}));
  cr_expect_not(turns_has_unknown_offer(&(struct run){.state = RUN_BUSY}));
}

Test(turns_queue, words_for_states) {
  cr_expect_str_eq(run_state_name(RUN_ERROR), "error");
  cr_expect_str_eq(run_state_name(RUN_STATE_COUNT), "?");
  cr_expect_str_eq(message_state_name(MESSAGE_STEERING), "steering");
  cr_expect_str_eq(message_state_name(MESSAGE_STATE_COUNT), "?");
  cr_expect_str_eq(message_state_name(0), "?");
  cr_expect_str_eq(system_turn_id(UINT64_MAX).text, "tidings:18446744073709551615");
}
