/* SPDX-License-Identifier: MIT
 *
 * verbs.c: see the header.
 */
#include "cli/verbs.h"

const struct cli_verb *const cli_verbs[] = {
    &verb_push,   &verb_run,    &verb_watch,   &verb_deliver, &verb_submit,
    &verb_event,  &verb_wait,   &verb_pending, &verb_history, &verb_explain,
    &verb_status, &verb_stats,  &verb_export,  &verb_setup,   &verb_hook,
    &verb_config, &verb_doctor, &verb_help,    &verb_version,
};
const size_t cli_verb_count = sizeof cli_verbs / sizeof cli_verbs[0];
