/* SPDX-License-Identifier: MIT
 *
 * host/agent_child.h: an agent host inside its process: it takes requests and returns answers,
 * which agent_child.c describes. Other code can use it directly, without messages between
 * processes.
 */
#ifndef HOSTSIM_AGENT_CHILD_H
#define HOSTSIM_AGENT_CHILD_H

#include "command/cli.h"
#include "host/simhost.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum { KNOWN_ANSWERS = 4 };

struct agent_child {
  struct simhost simhost;
  struct hostkit *hostkit; /* NULL: not open */
  /* The last distinct answers to queries, as text and parsed. */
  struct {
    char *text; /* hostkit_free */
    json_t *value;
  } known[KNOWN_ANSWERS];
  unsigned oldest; /* the oldest of `known` */
};

void agent_child_init(struct agent_child *child, uint64_t seed, bool verbose);

/* Does what the request says; the request stays the caller's. Never returns NULL. Equal "answer"s
 * of queries are one shared object: do not change it. */
json_t *agent_child_serve(struct agent_child *child, const json_t *request);

/* Closes what is open. */
void agent_child_finish(struct agent_child *child);

extern const struct cli_verb verb_internal_agent;

#endif
