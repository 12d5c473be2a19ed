/* SPDX-License-Identifier: MIT
 *
 * sim/request.h: writes an act as a request for a process, and in words.
 */
#ifndef HOSTSIM_SIM_REQUEST_H
#define HOSTSIM_SIM_REQUEST_H

#include "sim/model/act.h"

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

enum { SYSTEM_NAMES = 512 };

/* The session's name, and the plugin's names of its own turns, in the order in which they
 * appeared. */
struct names {
  char session[NAME_SIZE];
  unsigned system_count;
  char system[SYSTEM_NAMES][NAME_SIZE];
};

/* Returns the number for a message's id. A new name gets a new number. */
int request_id_of_name(struct names *names, const char *name);

/* Writes the host's words about a turn, which the plugin must return unchanged. */
void request_text_of_words(uint32_t serial, char buffer[NAME_SIZE]);

/* Returns the request for internal-agent (agent_child.c); NULL for acts that are not sent (clock,
 * swap, restart, crash). */
json_t *request_of_act(const struct act *act, const struct names *names);

/* Returns the configuration in the form that `configure` takes. */
json_t *request_config_of_settings(const struct sim_settings *settings);

/* Describes an act in one line, without a line break. Free it. */
char *request_words_of_act(const struct act *act, const struct names *names);

#endif
