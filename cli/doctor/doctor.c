/* SPDX-License-Identifier: MIT
 *
 * doctor/doctor.c: `tidings doctor`.
 */
#include "cli/doctor/doctor.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "command/print.h"
#include "command/terminal.h"

static void (*const examiners[])(struct doctor *doctor) = {
    doctor_plugin,  doctor_config, doctor_store,         doctor_sessions, doctor_hosts,
    doctor_callers, doctor_listen, doctor_subscriptions, doctor_system};
static const char *const severity_names[] = {"ok", "note", "warning", "problem"};

static void print_finding(const json_t *finding) {
  printf("%-8s ", json_value_text(finding, "severity"));
  terminal_text(stdout, json_value_text(finding, "topic"));
  fputs(": ", stdout);
  terminal_text(stdout, json_value_text(finding, "text"));
  putchar('\n');
  if (!json_value_text(finding, "remedy")[0]) return;
  fputs("         -> ", stdout);
  terminal_text(stdout, json_value_text(finding, "remedy"));
  putchar('\n');
}

void doctor_find(struct doctor *doctor, enum severity severity, const char *topic,
                 const char *remedy, const char *format, ...) {
  va_list arguments;
  char *text = NULL;
  va_start(arguments, format);
  if (vasprintf(&text, format, arguments) < 0) text = NULL;
  va_end(arguments);
  json_t *finding = json_pack("{s:s, s:s, s:s?, s:s?}", "severity", severity_names[severity],
                              "topic", topic, "text", text, "remedy", remedy);
  if (!finding && text)
    finding = json_pack("{s:s, s:s, s:s}", "severity", severity_names[severity], "topic", topic,
                        "text", "(it is not UTF-8)");
  if (finding && !doctor->cli->json) { /* now, because examining a store can take seconds */
    print_finding(finding);
    (void)fflush(stdout);
  }
  if (json_array_append_new(doctor->findings, finding)) doctor->no_memory = true;
  if (severity == SEVERITY_PROBLEM) doctor->problems++;
  free(text);
}

static int doctor_verb(struct cli *cli) {
  struct doctor doctor = {.cli = cli};
  if (cli_next(cli) != CLI_END) return cli->exit_code;
  int code = cli_take_words(cli, 0, 0, "");
  if (code) return code;
  doctor.findings = json_array();
  for (size_t k = 0; k < sizeof examiners / sizeof examiners[0]; k++) examiners[k](&doctor);
  if (doctor.no_memory || !doctor.findings) code = cli_fail(cli, "out of memory");
  else if (cli->json) code = print_json(cli, doctor.findings);
  json_decref(doctor.findings);
  return code ? code : doctor.problems ? EXIT_REFUSED : EXIT_DONE;
}

const struct cli_verb verb_doctor = {
    .name = "doctor",
    .usage = "[OPTION]...",
    .summary = "check the installation and print how to fix each problem",
    .help = "Checks the plugin, the configuration, the store and its permissions, "
            "the sessions, webhooks and subscriptions, the system's limits, which agents are set "
            "up, and whether "
            "they trust their hooks. Each problem is printed with its fix. This "
            "command changes nothing and starts no agent. The exit code is 1 if there is a "
            "problem.",
    .with = WITH_STORE | WITH_CONFIG | WITH_JSON,
    .run = doctor_verb,
    .examples =
        (const struct cli_example[]){
            {"tidings doctor", "Find out why the agent does not receive notifications."},
            {NULL, NULL}},
};
