/* SPDX-License-Identifier: MIT
 *
 * An agent host as its own process sees it: requests in, answers out; agent_child.c says what they
 * look like. For those who want one in their own process, where a call costs no message.
 */
#ifndef HOSTSIM_AGENT_CHILD_H
#define HOSTSIM_AGENT_CHILD_H

#include "command/cli.h"
#include "host/simhost.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct agent_child {
  struct simhost simhost;
  struct hostkit *hostkit; /* NULL: not open */
};

void agent_child_init(struct agent_child *child, uint64_t seed, bool verbose);

/* Does what is asked; the request stays the caller's. Never NULL. */
json_t *agent_child_serve(struct agent_child *child, const json_t *request);

/* Closes what is open. */
void agent_child_finish(struct agent_child *child);

extern const struct cli_verb verb_internal_agent;

#endif
