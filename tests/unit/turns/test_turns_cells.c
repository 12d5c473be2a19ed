/* SPDX-License-Identifier: MIT
 *
 * What the scenarios of the table's cells (hostsim/conformance/scenarios/cells/) do not show of the
 * run-state machine, in every state: exact words, whose turn names mean, edit, move, the events of
 * the session, and that a phase ends. A message is offered or runs, and another one waits.
 */
#include <criterion/criterion.h>
#include <stdio.h>

#include "turns_script.h"

enum { STATES = 6 };

/* How each state comes about. */
static const char *const states[STATES][2] = {
    {"idle", "submit m1; submit m2; declined; "},
    {"starting", "submit m1; submit m2; "},
    {"busy", "submit m1; submit m2; chat m1 @1; "},
    {"retrying", "submit m1; submit m2; chat m1 @1; retrying; "},
    {"waiting", "submit m1; submit m2; chat m1 @1; waiting; "},
    {"error", "submit m1; submit m2; chat m1 @1; failed; "},
};

struct row {
  const char *event;
  const char *lines[STATES]; /* idle, starting, busy, retrying, waiting, error */
};

static void expect_rows(const struct row *rows, size_t count) {
  for (size_t i = 0; i < count; i++) {
    for (size_t j = 0; j < STATES; j++) {
      char script[256];
      (void)snprintf(script, sizeof script, "%s%s", states[j][1], rows[i].event);
      const char *got = played(script);
      cr_expect_str_eq(got, rows[i].lines[j], "%s, %s\n  expected %s\n  got      %s", rows[i].event,
                       states[j][0], rows[i].lines[j], got);
    }
  }
}

#define EXPECT_ROWS(rows) expect_rows((rows), sizeof(rows) / sizeof *(rows))

Test(turns_cells, submitting_with_resume) {
  static const struct row rows[] = {
      {"submit m3 resume",
       {"starting(m1) m1=offered m2=queued m3=queued > offer m1",
        "starting(m1) m1=offered m2=queued m3=queued", "busy(m1) m1=leased m2=queued m3=queued",
        "retrying(m1) m1=leased m2=queued m3=queued", "waiting(m1) m1=leased m2=queued m3=queued",
        "starting(m2) m1=leased m2=offered m3=queued > offer m2"}},
  };
  EXPECT_ROWS(rows);
}

Test(turns_cells, starting_by_name) {
  static const struct row rows[] = {
      {"chat m1 @2",
       {("idle m1=queued m2=queued ! STATE: message \"m1\" is queued, not on offer (the session is "
         "idle)"),
        "busy(m1) m1=leased m2=queued", "busy(m1) m1=leased m2=queued",
        "busy(m1) m1=leased m2=queued", "busy(m1) m1=leased m2=queued",
        ("error m1=leased m2=queued ! FIRED: message \"m1\" is on its way to the model; it cannot "
         "be started any more")}},
      {"chat m2 @2",
       {("idle m1=queued m2=queued ! STATE: message \"m2\" is queued, not on offer (the session is "
         "idle)"),
        ("starting(m1) m1=offered m2=queued ! STATE: message \"m2\" is queued, not on offer (the "
         "session is starting)"),
        ("busy(m1) m1=leased m2=queued ! STATE: the session is busy with \"m1\"; message \"m2\" is "
         "queued, not part of a turn that could be "
         "meant"),
        ("retrying(m1) m1=leased m2=queued ! STATE: the session is retrying with \"m1\"; message "
         "\"m2\" is queued, not part of a turn that "
         "could be meant"),
        ("waiting(m1) m1=leased m2=queued ! STATE: the session is waiting with \"m1\"; message "
         "\"m2\" is queued, not part of a turn that "
         "could be meant"),
        ("error m1=leased m2=queued ! STATE: message \"m2\" is queued, not on offer (the session "
         "is "
         "error)")}},
      {"chat m9 @2",
       {"idle m1=queued m2=queued ! NOT_FOUND: message \"m9\" was never submitted to this session",
        ("starting(m1) m1=offered m2=queued ! NOT_FOUND: message \"m9\" was never submitted to "
         "this "
         "session"),
        ("busy(m1) m1=leased m2=queued ! STATE: the session is busy with \"m1\"; message \"m9\" "
         "was "
         "never submitted to it, not part of a "
         "turn that could be meant"),
        ("retrying(m1) m1=leased m2=queued ! STATE: the session is retrying with \"m1\"; message "
         "\"m9\" was never submitted to it, not part "
         "of a turn that could be meant"),
        ("waiting(m1) m1=leased m2=queued ! STATE: the session is waiting with \"m1\"; message "
         "\"m9\" was never submitted to it, not part "
         "of a turn that could be meant"),
        ("error m1=leased m2=queued ! NOT_FOUND: message \"m9\" was never submitted to this "
         "session")}},
      {"started m1",
       {("idle m1=queued m2=queued ! STATE: message \"m1\" is queued, not on offer (the session is "
         "idle)"),
        "busy(m1) m1=fired m2=queued", "busy(m1) m1=leased m2=queued",
        "busy(m1) m1=leased m2=queued", "busy(m1) m1=leased m2=queued",
        ("error m1=leased m2=queued ! FIRED: message \"m1\" is on its way to the model; it cannot "
         "be started any more")}},
  };
  EXPECT_ROWS(rows);
}

Test(turns_cells, ends_of_a_turn) {
  static const struct row rows[] = {
      {"declined",
       {"idle m1=queued m2=queued", "idle m1=queued m2=queued",
        ("busy(m1) m1=leased m2=queued ! STATE: the session is busy with \"m1\"; expected an offer "
         "that has not started"),
        ("retrying(m1) m1=leased m2=queued ! STATE: the session is retrying with \"m1\"; expected "
         "an offer that has not started"),
        ("waiting(m1) m1=leased m2=queued ! STATE: the session is waiting with \"m1\"; expected an "
         "offer that has not started"),
        "error m1=leased m2=queued"}},
      {"finished",
       {"idle m1=queued m2=queued",
        ("starting(m1) m1=offered m2=queued ! STATE: the session is starting with \"m1\"; expected "
         "the ids of the messages offered, "
         "if that turn is meant"),
        "starting(m2) m1=leased m2=offered > offer m2",
        "starting(m2) m1=leased m2=offered > offer m2",
        "starting(m2) m1=leased m2=offered > offer m2", "error m1=leased m2=queued"}},
      {"finished m1",
       {("idle m1=queued m2=queued ! STATE: the session is idle; message \"m1\" is queued, not "
         "part "
         "of a turn that could be meant"),
        "starting(m2) m1=fired m2=offered > offer m2",
        "starting(m2) m1=leased m2=offered > offer m2",
        "starting(m2) m1=leased m2=offered > offer m2",
        "starting(m2) m1=leased m2=offered > offer m2", "error m1=leased m2=queued"}},
      {"finished m2",
       {("idle m1=queued m2=queued ! STATE: the session is idle; message \"m2\" is queued, not "
         "part "
         "of a turn that could be meant"),
        ("starting(m1) m1=offered m2=queued ! STATE: the session is starting with \"m1\"; message "
         "\"m2\" is queued, not part of a turn that "
         "could be meant"),
        ("busy(m1) m1=leased m2=queued ! STATE: the session is busy with \"m1\"; message \"m2\" is "
         "queued, not part of a turn that could be "
         "meant"),
        ("retrying(m1) m1=leased m2=queued ! STATE: the session is retrying with \"m1\"; message "
         "\"m2\" is queued, not part of a turn that "
         "could be meant"),
        ("waiting(m1) m1=leased m2=queued ! STATE: the session is waiting with \"m1\"; message "
         "\"m2\" is queued, not part of a turn that "
         "could be meant"),
        ("error m1=leased m2=queued ! STATE: the session is error; message \"m2\" is queued, not "
         "part of a turn that could be meant")}},
      {"failed m1",
       {("idle m1=queued m2=queued ! STATE: the session is idle; message \"m1\" is queued, not "
         "part "
         "of a turn that could be meant"),
        "error m1=queued m2=queued", "error m1=leased m2=queued", "error m1=leased m2=queued",
        "error m1=leased m2=queued", "error m1=leased m2=queued"}},
  };
  EXPECT_ROWS(rows);
}

Test(turns_cells, pauses) {
  static const struct row rows[] = {
      {"retrying attempt=2 words=again",
       {"idle m1=queued m2=queued ! STATE: the session is idle; expected a turn that runs",
        ("starting(m1) m1=offered m2=queued ! STATE: the session is starting with \"m1\"; expected "
         "a turn that runs"),
        "retrying(m1) attempt 2 \"again\" m1=leased m2=queued",
        "retrying(m1) attempt 2 \"again\" m1=leased m2=queued",
        "retrying(m1) attempt 2 \"again\" m1=leased m2=queued",
        "error m1=leased m2=queued ! STATE: the session is error; expected a turn that runs"}},
      {"waiting words=approval",
       {"idle m1=queued m2=queued ! STATE: the session is idle; expected a turn that runs",
        ("starting(m1) m1=offered m2=queued ! STATE: the session is starting with \"m1\"; expected "
         "a turn that runs"),
        "waiting(m1) \"approval\" m1=leased m2=queued",
        "waiting(m1) \"approval\" m1=leased m2=queued",
        "waiting(m1) \"approval\" m1=leased m2=queued",
        "error m1=leased m2=queued ! STATE: the session is error; expected a turn that runs"}},
  };
  EXPECT_ROWS(rows);
}

Test(turns_cells, the_end_of_a_phase) {
  static const struct row rows[] = {
      {"tools.finished",
       {"busy m1=queued m2=queued", "busy(m1) m1=fired m2=queued", "busy(m1) m1=leased m2=queued",
        "busy(m1) m1=leased m2=queued", "busy(m1) m1=leased m2=queued",
        "busy m1=leased m2=queued"}},
  };
  EXPECT_ROWS(rows);
}

Test(turns_cells, changing_messages) {
  static const struct row rows[] = {
      {"cancel m1",
       {"idle m1=cancelled m2=queued", "starting(m2) m1=cancelled m2=offered > offer m2",
        ("busy(m1) m1=leased m2=queued ! FIRED: message \"m1\" is on its way to the model; it "
         "cannot be cancelled any more"),
        ("retrying(m1) m1=leased m2=queued ! FIRED: message \"m1\" is on its way to the model; it "
         "cannot be cancelled any more"),
        ("waiting(m1) m1=leased m2=queued ! FIRED: message \"m1\" is on its way to the model; it "
         "cannot be cancelled any more"),
        ("error m1=leased m2=queued ! FIRED: message \"m1\" is on its way to the model; it cannot "
         "be cancelled any more")}},
      {"cancel m2",
       {"idle m1=queued m2=cancelled", "starting(m1) m1=offered m2=cancelled",
        "busy(m1) m1=leased m2=cancelled", "retrying(m1) m1=leased m2=cancelled",
        "waiting(m1) m1=leased m2=cancelled", "error m1=leased m2=cancelled"}},
      {"edit m2",
       {"idle m1=queued m2=queued", "starting(m1) m1=offered m2=queued",
        "busy(m1) m1=leased m2=queued", "retrying(m1) m1=leased m2=queued",
        "waiting(m1) m1=leased m2=queued", "error m1=leased m2=queued"}},
      {"move m2 m1",
       {"idle m2=queued m1=queued",
        ("starting(m1) m1=offered m2=queued ! FIRED: message \"m1\" is offered to the host; it "
         "cannot be moved before any more"),
        ("busy(m1) m1=leased m2=queued ! FIRED: message \"m1\" is on its way to the model; it "
         "cannot be moved before any more"),
        ("retrying(m1) m1=leased m2=queued ! FIRED: message \"m1\" is on its way to the model; it "
         "cannot be moved before any more"),
        ("waiting(m1) m1=leased m2=queued ! FIRED: message \"m1\" is on its way to the model; it "
         "cannot be moved before any more"),
        ("error m1=leased m2=queued ! FIRED: message \"m1\" is on its way to the model; it cannot "
         "be moved before any more")}},
  };
  EXPECT_ROWS(rows);
}

Test(turns_cells, the_session) {
  static const struct row rows[] = {
      {"opened",
       {"starting(m1) m1=offered m2=queued > offer m1", "starting(m1) m1=offered m2=queued",
        "busy(m1) m1=leased m2=queued", "retrying(m1) m1=leased m2=queued",
        "waiting(m1) m1=leased m2=queued", "error m1=leased m2=queued"}},
      {"wake",
       {"idle m1=queued m2=queued", "starting(m1) m1=offered m2=queued",
        "busy(m1) m1=leased m2=queued", "retrying(m1) m1=leased m2=queued",
        "waiting(m1) m1=leased m2=queued", "error m1=leased m2=queued"}},
      {"compacting",
       {"idle compacting m1=queued m2=queued", "starting(m1) compacting m1=offered m2=queued",
        "busy(m1) compacting m1=leased m2=queued", "retrying(m1) compacting m1=leased m2=queued",
        "waiting(m1) compacting m1=leased m2=queued", "error compacting m1=leased m2=queued"}},
      {"compacted",
       {"starting(m1) m1=offered m2=queued > offer m1", "starting(m1) m1=offered m2=queued",
        "busy(m1) m1=leased m2=queued", "retrying(m1) m1=leased m2=queued",
        "waiting(m1) m1=leased m2=queued", "error m1=leased m2=queued"}},
      {"closed",
       {"idle m1=closed m2=closed", "idle m1=closed m2=closed", "idle m1=closed m2=closed",
        "idle m1=closed m2=closed", "idle m1=closed m2=closed", "idle m1=closed m2=closed"}},
  };
  EXPECT_ROWS(rows);
}
