/* SPDX-License-Identifier: MIT
 *
 * doctor/setups.c: reports the entries of tidings in an agent's configuration, with one sentence
 * for each mistake.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/doctor/doctor.h"

void doctor_room(struct doctor *doctor, const struct host *host) {
  if (host->context_room)
    doctor_find(doctor, SEVERITY_OK, host->title, NULL,
                "one answer has at most %zu bytes, a reason to go on %zu: %s", host->context_room,
                host->room, host->room_measured);
  else
    doctor_find(doctor, SEVERITY_OK, host->title, NULL, "one answer has at most %zu bytes: %s",
                host->room, host->room_measured);
}

static void report_parts(struct doctor *doctor, const struct host *host, const char *path,
                         const struct setup_look *look, const char *remedy) {
  if (look->missing)
    doctor_find(doctor, look->is_deaf ? SEVERITY_PROBLEM : SEVERITY_WARNING, host->title, remedy,
                "%s lacks hooks of tidings: %s%s", path, look->missing,
                look->is_deaf ? "; without them its sessions do not receive everything" : "");
  if (look->other)
    doctor_find(doctor, SEVERITY_PROBLEM, host->title, remedy,
                "%s has hooks of two installations of tidings: %s and %s", path, look->program,
                look->other);
  else if (look->twice)
    doctor_find(doctor, SEVERITY_PROBLEM, host->title, remedy,
                "%s has hooks of tidings twice, and both run: %s", path, look->twice);
  if (look->edited && host->kind == HOST_HOOKS)
    doctor_find(doctor, SEVERITY_WARNING, host->title, remedy,
                "hooks of tidings in %s differ from those that this version writes: %s", path,
                look->edited);
  else if (look->edited)
    doctor_find(doctor, SEVERITY_PROBLEM, host->title, remedy,
                "%s is not as tidings wrote it, and names no module; its sessions receive nothing",
                path);
}

/* Reports that there are no hooks. Until --remove, setup keeps the file's old contents beside
 * it. */
static void report_none(struct doctor *doctor, const struct host *host, const char *path,
                        const char *remedy) {
  char *kept = NULL;
  if (!path || asprintf(&kept, "%s.before-tidings", path) < 0) kept = NULL;
  if (kept && access(kept, F_OK) == 0)
    doctor_find(doctor, SEVERITY_WARNING, host->title, remedy,
                "it was set up once, and %s has nothing of tidings now, though %s is still there: "
                "something else than 'tidings setup %s --remove' has changed the file",
                path, kept, host->name);
  else doctor_find(doctor, SEVERITY_NOTE, host->title, remedy, "it is not set up");
  free(kept);
}

void doctor_setup(struct doctor *doctor, const struct host *host, const char *path,
                  const struct setup_look *look) {
  char remedy[128];
  snprintf(remedy, sizeof remedy, "Run 'tidings setup %s'.", host->name);
  switch (look->state) {
  case SETUP_NONE: report_none(doctor, host, path, remedy); return;
  case SETUP_UNREADABLE:
    snprintf(remedy, sizeof remedy, "Fix the file; then run 'tidings setup %s'.", host->name);
    doctor_find(doctor, SEVERITY_WARNING, host->title, remedy, "%s cannot be read: %s", path,
                look->problem ? look->problem : "out of memory");
    return;
  case SETUP_GONE:
    doctor_find(doctor, SEVERITY_PROBLEM, host->title, remedy,
                "the installation that %s names has disappeared: %s; its sessions receive nothing",
                path, look->program);
    break;
  case SETUP_OTHER:
    if (!look->other)
      doctor_find(doctor, SEVERITY_WARNING, host->title, remedy,
                  "%s is set up for another installation of tidings, %s", path, look->program);
    break;
  case SETUP_DONE:
    doctor_find(doctor, SEVERITY_OK, host->title, NULL, "set up in %s", path);
    doctor_room(doctor, host);
    if (host->kind == HOST_HOOKS && !host_is_woken(host))
      doctor_find(doctor, SEVERITY_OK, host->title, NULL,
                  "it cannot be woken while it idles: messages and urgent notifications wait for "
                  "the next prompt");
    break;
  case SETUP_PARTLY: break;
  }
  report_parts(doctor, host, path, look, remedy);
  if (look->state != SETUP_GONE && look->program && setup_is_versioned(look->program))
    doctor_find(doctor, SEVERITY_NOTE, host->title,
                "Put a link to tidings into a folder of PATH, and run setup again.",
                "%s names %s, which an upgrade may move; its sessions would receive nothing then",
                path, look->program);
}
