/* SPDX-License-Identifier: MIT
 *
 * run/report.c: see the header.
 */
#include "cli/run/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "cli/run/progress.h"
#include "command/kit.h"
#include "common/clock.h"
#include "common/utf8.h"

enum { SHOWN_LINES = 20, SHOWN_BYTES = 4000, HASTY_ATTEMPTS = 2, PATIENT_ATTEMPTS = 8 };

int report_exit_code(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* -- what is said ------------------------------------------------------------------------------ */

static char *content(const struct report *report, const char *what) {
  char *last = tail_text(report->tail, SHOWN_LINES, SHOWN_BYTES), *text = NULL;
  const char *kept = report->log->failed ? strerror(report->log->failed) : NULL;
  int len =
      asprintf(&text, "%s\nOutput: %s%s%s%s%s%s", what, report->log->path,
               kept ? " (incomplete: " : "", kept ? kept : "", kept ? ")" : "",
               last && last[0] ? "\nThe last lines:\n" : "\nIt printed nothing.", last ? last : "");
  free(last);
  return len < 0 ? NULL : text;
}

/* As JSON wants it. */
static char *repaired(const char *text) {
  struct buffer buffer = BUFFER_EMPTY;
  utf8_repair(span_text(text), &buffer);
  return buffer_take(&buffer);
}

static json_t *state(const struct report *report, const char *name, const char *what) {
  char *told = content(report, what), *text = told ? repaired(told) : NULL,
       *tool = repaired(report->tool);
  json_t *data = NULL;
  if (text && tool)
    data = json_pack("{s:s, s:s, s:s, s:s}", "handle", report->log->handle, "tool", tool, "state",
                     name, "content", text);
  free(told);
  free(text);
  free(tool);
  return data;
}

/* -- how it gets there ------------------------------------------------------------------------- */

static int32_t try_once(const struct report *report, json_t *event, struct tidings_error *error) {
  struct hostkit *kit = NULL;
  int32_t code = kit_open(report->cli, TIDINGS_ROLE_PRODUCER, 0, &kit, error);
  if (!code) code = kit_event(kit, json_incref(event), NULL, error);
  kit_close(kit);
  return code;
}

static bool may_pass(int32_t code) {
  return code == TIDINGS_E_BUSY || code == TIDINGS_E_STORE || code == TIDINGS_E_FULL ||
         code == TIDINGS_E_NOMEM;
}

/* The same id each time: if an attempt was stored after all, the next has no effect. */
static int deliver(struct report *report, json_t *data) {
  struct tidings_error error = {.size = sizeof error};
  json_t *event = kit_new_event("handle.state", report->session, data);
  char id[96];
  snprintf(id, sizeof id, "%s-%u", report->log->handle, ++report->count);
  if (!event || json_object_set_new(event, "id", json_string(id))) {
    json_decref(event);
    return cli_fail(report->cli, "cannot notify the session: out of memory");
  }
  int attempts = report->patient ? PATIENT_ATTEMPTS : HASTY_ATTEMPTS;
  int32_t code = try_once(report, event, &error);
  for (int i = 1; may_pass(code) && i < attempts; i++) {
    clock_sleep_ms(1000u << (i - 1));
    code = try_once(report, event, &error);
  }
  json_decref(event);
  if (!code) return 0;
  (void)cli_fail_with(report->cli, code, &error);
  return cli_fail(report->cli, "the session was not notified; the output is in %s",
                  report->log->path);
}

int report_waiting(struct report *report, bool waits) {
  json_t *data = state(report, waits ? "waiting" : "running",
                       waits ? "It waits for input at its terminal." : "It goes on.");
  return data ? deliver(report, data)
              : cli_fail(report->cli, "cannot notify the session: out of memory");
}

int report_end(struct report *report, int status, uint64_t elapsed_ms) {
  char what[256], elapsed[32];
  int exit_code = report_exit_code(status);
  progress_duration(elapsed_ms, elapsed);
  if (WIFSIGNALED(status))
    snprintf(what, sizeof what, "Killed by signal %d (%s) after %s.", WTERMSIG(status),
             strsignal(WTERMSIG(status)), elapsed);
  else snprintf(what, sizeof what, "Exit code %d after %s.", exit_code, elapsed);
  json_t *data = state(report, exit_code ? "failed" : "stopped", what);
  if (!data || json_object_set_new(data, "exit_code", json_integer(exit_code))) {
    json_decref(data);
    return cli_fail(report->cli, "cannot notify the session: out of memory");
  }
  return deliver(report, data);
}
