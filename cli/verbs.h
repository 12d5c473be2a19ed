/* SPDX-License-Identifier: MIT
 *
 * verbs.h: the verbs of this folder. A new verb needs its own file, a line here and a row in
 * main.c.
 */
#ifndef TIDINGS_CLI_VERBS_H
#define TIDINGS_CLI_VERBS_H

#include "command/cli.h"

extern const struct cli_verb verb_push;
extern const struct cli_verb verb_log;
extern const struct cli_verb verb_deliver;
extern const struct cli_verb verb_submit;
extern const struct cli_verb verb_queue;
extern const struct cli_verb verb_remind;
extern const struct cli_verb verb_box;
extern const struct cli_verb verb_listen;
extern const struct cli_verb verb_subscribe;
extern const struct cli_verb verb_stop;
extern const struct cli_verb verb_event;
extern const struct cli_verb verb_wait;
extern const struct cli_verb verb_pending;
extern const struct cli_verb verb_history;
extern const struct cli_verb verb_explain;
extern const struct cli_verb verb_top;
extern const struct cli_verb verb_status;
extern const struct cli_verb verb_sessions;
extern const struct cli_verb verb_stats;
extern const struct cli_verb verb_export;
extern const struct cli_verb verb_config;
extern const struct cli_verb verb_store;

extern const struct cli_verb verb_overview; /* what `tidings` prints without a verb */

#endif
