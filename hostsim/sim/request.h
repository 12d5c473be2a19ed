/* SPDX-License-Identifier: MIT
 *
 * sim/request.h: an act as the request that makes a process do it, and in words. Knows the
 * contract's JSON; no model, no process.
 */
#ifndef HOSTSIM_SIM_REQUEST_H
#define HOSTSIM_SIM_REQUEST_H

#include "sim/model/act.h"

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

enum { SYSTEM_NAMES = 512 };

/* The session's name, and the plugin's names of its own turns, in the order in which they came up.
 */
struct names {
  char session[NAME_SIZE];
  unsigned system_count;
  char system[SYSTEM_NAMES][NAME_SIZE];
};

/* The number for the text of a message's id: a new one for a name that the plugin has not used yet.
 */
int request_id_of_name(struct names *names, const char *name);

/* The description that the run gives of itself: also what is to come back. */
void request_text_of_words(uint32_t serial, char buffer[NAME_SIZE]);

/* The request for internal-agent, see agent_child.c; NULL for what is not sent (clock, swap,
 * restart, crash). */
json_t *request_of_act(const struct act *act, const struct names *names);

/* The configuration, as `configure` takes it. */
json_t *request_config_of_settings(const struct sim_settings *settings);

/* A line without a line break, in fresh memory. */
char *request_words_of_act(const struct act *act, const struct names *names);

#endif
