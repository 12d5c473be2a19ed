/* SPDX-License-Identifier: MIT
 *
 * host/agent.h: an agent host in a child process, seen from its parent, which starts it, makes it
 * call its plugin, and kills it. agent_child.c describes the requests and answers.
 */
#ifndef HOSTSIM_AGENT_H
#define HOSTSIM_AGENT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/* The default for how long an agent may take for one request. */
#define AGENT_TIMEOUT_MS 60000

enum agent_outcome {
  AGENT_OK,
  AGENT_DIED,        /* agent->status says how it died; it was reaped */
  AGENT_HUNG,        /* it did not answer in time and was killed */
  AGENT_TOO_LONG,    /* the request is too long, and was not sent; the agent was killed */
  AGENT_INTERRUPTED, /* this process was asked to stop; the agent was killed */
  AGENT_NOT_STARTED, /* no process could be started: agent->status is the errno */
};

struct agent {
  pid_t pid; /* 0: not running */
  int fd;
  int timeout_ms;
  int status;
};

/* Starts the process; a request opens its plugin. `verbose`: the plugin's log goes to stderr. */
enum agent_outcome agent_start(struct agent *agent, uint64_t seed, int timeout_ms, bool verbose);

/* Sends a request (whose reference this takes) and waits for the answer. */
enum agent_outcome agent_call(struct agent *agent, json_t *request, json_t **ret_answer);

/* Makes the process close its plugin and end. AGENT_OK: both succeeded. Otherwise *ret_error is the
 * plugin's error text, or NULL; free it. */
enum agent_outcome agent_stop(struct agent *agent, char **ret_error);

/* Kills the process, if it runs. */
void agent_kill(struct agent *agent);

/* Writes what happened: "the host process was killed by signal 11 (Segmentation fault)". */
void agent_describe(FILE *out, const struct agent *agent, enum agent_outcome outcome);

#endif
