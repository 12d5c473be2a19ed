/* SPDX-License-Identifier: MIT
 *
 * doctor/doctor.h: the findings of `tidings doctor`, each with its remedy. An examiner checks one
 * thing and changes nothing.
 */
#ifndef TIDINGS_CLI_DOCTOR_H
#define TIDINGS_CLI_DOCTOR_H

#include <jansson.h>

#include "agents/setup/setup.h"
#include "command/cli.h"

enum severity { SEVERITY_OK, SEVERITY_NOTE, SEVERITY_WARNING, SEVERITY_PROBLEM };

struct doctor {
  const struct cli *cli;
  json_t *findings;
  unsigned problems;
  bool no_memory;
  bool plugin_works; /* found by examine_plugin */
};

/* `topic`: one or two words; `remedy`: a sentence that says what to do; NULL: nothing is to be
 * done. */
void doctor_find(struct doctor *doctor, enum severity severity, const char *topic,
                 const char *remedy, const char *format, ...) __attribute__((format(printf, 5, 6)));

/* system.c */
bool doctor_is_in_path(const char *program);

/* log.c: looks for errors of these sessions, which are given in the form of the query `sessions`.
 */
void doctor_log(struct doctor *doctor, const json_t *sessions);

/* setups.c: reports the hooks of tidings in an agent's configuration at `path`, and how long an
 * answer may be. */
void doctor_setup(struct doctor *doctor, const struct host *host, const char *path,
                  const struct setup_look *look);
void doctor_room(struct doctor *doctor, const struct host *host);

/* The examiners, in the order of doctor.c's table. */
void doctor_plugin(struct doctor *doctor);
void doctor_config(struct doctor *doctor);
void doctor_store(struct doctor *doctor);
void doctor_sessions(struct doctor *doctor);
void doctor_hosts(struct doctor *doctor);
void doctor_callers(struct doctor *doctor);
void doctor_listen(struct doctor *doctor);
void doctor_subscriptions(struct doctor *doctor);
void doctor_system(struct doctor *doctor);

extern const struct cli_verb verb_doctor;

#endif
