/* SPDX-License-Identifier: MIT
 */
#include "subscribe/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/state_file.h"
#include "command/subscriptions.h"
#include "common/clock.h"
#include "common/utf8.h"

enum { PAUSE_MS = 1000, LONGEST_PROBLEM = 1000 };

static const char *const mood_names[] = {"follows", "fails", "refused", "ended", "stopped"};

void report_begin(const struct cli *cli, const struct saved *saved, const struct sender *sender,
                  const struct subscribe_options *options, struct report *ret_report) {
  char *store = NULL, *folder = subscriptions_folder(cli, &store);
  int64_t now_ms = clock_wall_ms();
  free(folder);
  *ret_report = (struct report){.saved = store ? saved : NULL,
                                .sender = sender,
                                .token_file = options->token_file,
                                .webhook = options->webhook,
                                .store = store,
                                .problem = strdup("it has not answered yet"),
                                .begun_ms = now_ms,
                                .mood_ms = now_ms,
                                .written_ms = clock_mono_ms() - PAUSE_MS,
                                .changed = true};
}

void report_end(struct report *report) {
  free(report->store);
  free(report->problem);
  *report = (struct report){.saved = NULL};
}

void report_event(struct report *report) {
  report->event_ms = clock_wall_ms();
  report->changed = true;
}

void report_problem(struct report *report, struct tidings_span text) {
  struct buffer problem = BUFFER_EMPTY;
  utf8_repair(span_of(text.ptr, utf8_prefix(text, LONGEST_PROBLEM)), &problem);
  char *copy = buffer_take(&problem);
  if (!copy) return;
  free(report->problem);
  report->problem = copy;
  report->changed = true;
}

/* Writes the report. A failure is ignored, because the subscription does not need the report. */
static void write_report(struct report *report) {
  const struct sender *sender = report->sender;
  char *path = NULL;
  json_t *counts = json_pack("{s:I, s:I, s:I, s:I}", "pushed", (json_int_t)sender->pushed, "known",
                             (json_int_t)sender->known, "ignored", (json_int_t)sender->ignored,
                             "refused", (json_int_t)sender->refused);
  json_t *state = json_pack(
      "{s:s, s:s?, s:s, s:s, s:i, s:s, s:I, s:I, s:I, s:s?, s:s?, s:s?, s:o}", "server",
      report->saved->server, "event", report->saved->event, "to", report->saved->to, "store",
      report->store, "pid", (int)getpid(), "state", mood_names[report->mood], "begun_ms",
      (json_int_t)report->begun_ms, "state_ms", (json_int_t)report->mood_ms, "event_ms",
      (json_int_t)report->event_ms, "problem",
      report->mood == REPORT_FOLLOWS || report->mood == REPORT_STOPPED ? NULL : report->problem,
      "token_file", report->token_file, "webhook", report->webhook, "counts", counts);
  if (asprintf(&path, "%.*s.state", (int)(strlen(report->saved->path) - strlen(".json")),
               report->saved->path) < 0)
    path = NULL;
  if (path && state) (void)state_file_write(path, state);
  else json_decref(state);
  free(path);
  report->written_ms = clock_mono_ms();
  report->changed = false;
}

void report_mood(struct report *report, enum report_mood mood) {
  bool other = mood != report->mood;
  if (!report->saved) return;
  if (other) report->mood_ms = clock_wall_ms();
  report->mood = mood;
  if (other || (report->changed && clock_mono_ms() - report->written_ms >= PAUSE_MS))
    write_report(report);
}

int report_due(const struct report *report) {
  if (!report->saved || !report->changed) return -1;
  int64_t ms = report->written_ms + PAUSE_MS - clock_mono_ms();
  return ms > 0 ? (int)ms : 0;
}
