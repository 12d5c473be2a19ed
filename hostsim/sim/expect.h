/* SPDX-License-Identifier: MIT
 *
 * sim/expect.h: writes the model's answers and states as JSON, and converts the plugin's JSON to
 * the same form.
 */
#ifndef HOSTSIM_SIM_EXPECT_H
#define HOSTSIM_SIM_EXPECT_H

#include "sim/model/model.h"
#include "sim/request.h"

#include <jansson.h>

/* Writes the answer that the call should get from a process with these settings. */
json_t *expect_answer(const struct model *model, const struct answer *answer,
                      const struct sim_settings *settings);
/* Writes exactly what the answer's texts must contain: the lines of notifications in order, how
 * many wait, and the user's messages. */
json_t *expect_texts(const struct model *model, const struct answer *answer,
                     const struct sim_settings *settings);

/* Write the answers that the queries `status`, `pending`, `stats` and `history` should give. `pids`
 * are the pids of the processes. */
json_t *expect_status(const struct model *model, const int pids[PEERS]);
json_t *expect_pending(const struct model *model);
/* The same for a child that was just forked, or, if `resumed`, has resumed with all leases of the
 * parent. */
json_t *expect_child(const struct model *model, bool resumed);
json_t *expect_stats(const struct model *model);
json_t *expect_history(const struct model *model);

/* Convert the plugin's answer to a call or query to that form. Names that the plugin gives are
 * added to `names`. *ret_delivery is the delivery's id, or 0. Texts are read back from `format`. */
json_t *plain_answer(const json_t *answer, struct names *names, const char *format,
                     uint64_t *ret_delivery);
json_t *plain_texts(const json_t *messages, const char *format);
json_t *plain_status(const json_t *answer, struct names *names);
json_t *plain_pending(const json_t *answer, struct names *names);
json_t *plain_stats(const json_t *answer, struct names *names);
json_t *plain_history(const json_t *answer, struct names *names);

#endif
