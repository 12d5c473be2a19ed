/* SPDX-License-Identifier: MIT
 *
 * doctor/callers.c: lists unknown programs that call an agent's hooks.
 */
#include <stdio.h>
#include <stdlib.h>

#include "agents/call/strangers.h"
#include "cli/doctor/doctor.h"
#include "command/json_value.h"

/* Joins names as "a, b". Free it; NULL: out of memory. */
static char *joined_names(const json_t *fields) {
  char *text = NULL;
  size_t len = 0, i;
  FILE *out = open_memstream(&text, &len);
  const json_t *name;
  if (!out) return NULL;
  json_array_foreach(fields, i, name) fprintf(out, "%s%s", i ? ", " : "", json_string_value(name));
  if (fclose(out) == 0) return text;
  free(text);
  return NULL;
}

static void report_caller(struct doctor *doctor, const json_t *one, const char *remedy) {
  const struct host *host = host_find(json_value_text(one, "host"));
  char *names = joined_names(json_object_get(one, "fields"));
  const char *program = json_value_text(one, "program"),
             *transcript = json_value_text(one, "transcript");
  if (host)
    doctor_find(doctor, SEVERITY_NOTE, host->title, remedy,
                "its hooks are also called by a program that tidings does not know, and that "
                "receives nothing: %s (%s with the fields %s%s%s)",
                program[0] ? program : "a program that has ended", json_value_text(one, "event"),
                names ? names : "", transcript[0] ? "; its transcript: " : "", transcript);
  free(names);
}

void doctor_callers(struct doctor *doctor) {
  char *path = NULL, *remedy = NULL;
  json_t *all = hook_strangers(&path);
  const json_t *one;
  size_t i;
  if (!all) return;
  if (asprintf(&remedy,
               "If that is an agent which should receive notifications, report this line; "
               "removing %s forgets it.",
               path) < 0)
    remedy = NULL;
  json_array_foreach(all, i, one) report_caller(doctor, one, remedy);
  free(remedy);
  json_decref(all);
  free(path);
}
