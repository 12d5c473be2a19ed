/* SPDX-License-Identifier: MIT
 *
 * main.c: hostsim: a simulated agent host. This file lists its verbs, and has the texts of its help
 * and man page.
 */
#include <stddef.h>

#include "command/verbs.h"
#include "conformance/suite.h"
#include "demo/demo.h"
#include "demo/fleet.h"
#include "dev/dev.h"
#include "host/agent_child.h"
#include "sim/sim.h"
#include "verbs.h"

static const struct cli_verb verb_help = VERB_HELP("hostsim", "sim");
static const struct cli_verb verb_version = VERB_VERSION("hostsim", "");

static const struct cli_verb *const verbs[] = {
    &verb_run, &verb_conformance, &verb_sim, &verb_demo, &verb_dev, &verb_help, &verb_version, NULL,
};
static const struct cli_verb *const internal_verbs[] = {
    &verb_internal_agent,
    &verb_internal_case,
    &verb_internal_demo_host,
    &verb_internal_fleet_host,
    &verb_internal_push,
    &verb_internal_sim,
    NULL,
};

/* `sim` keeps SIGPIPE, so that the process that plays ends when nobody reads its output. */
static const struct cli_program hostsim = {
    .name = "hostsim",
    .version = TIDINGS_VERSION,
    .usage = "run|conformance|sim|demo|dev [OPTION]... [FILE.json]...",
    .summary = "A simulated agent host for tidings plugins.",
    .about = "a simulated agent host for tidings plugins",
    .description = "Plays scenario files, checks plugins against the contract, compares a "
                   "plugin with a model of it on random schedules,\n"
                   "shows an agent session, and swaps a plugin after each rebuild.",
    .examples =
        (const struct cli_example[]){
            {"hostsim demo", "Watch an agent session of about fifteen seconds."}, {NULL, NULL}},
    .verbs = verbs,
    .internal_verbs = internal_verbs,
    .keep_pipe_signal = true,
};

int main(int argc, char **argv) { return cli_main(&hostsim, argc, argv); }
