/* SPDX-License-Identifier: MIT
 *
 * sim/processes.h: the processes that use the plugin: the host, its rival and the producer, on one
 * store. The rival and the producer are separate processes. The host may be this process, which is
 * faster, or a separate one, which can be killed.
 */
#ifndef HOSTSIM_SIM_PROCESSES_H
#define HOSTSIM_SIM_PROCESSES_H

#include "host/agent.h"
#include "host/agent_child.h"
#include "sim/model/act.h"

struct process {
  bool inside; /* it is this process */
  bool runs;
  struct agent agent;
  struct agent_child child;
  int pid;
  struct sim_settings settings; /* the settings in force */
};

struct processes {
  const char *plugin;
  char *dir, *store; /* the folder for all files of the store */
  uint64_t seed, started;
  bool verbose, one_phase;
  int64_t now_ms;
  uint64_t mono_ns;
  struct sim_settings settings; /* given at open */
  struct process all[PEERS];
};

/* The outcome of a call. */
enum call_outcome { CALL_ANSWERED, CALL_DIED, CALL_FAILED };

/* Makes a store below `base` and starts everybody. False: a sentence was written to `out`. */
bool processes_start(struct processes *processes, const char *base, bool separate, FILE *out);

/* Ends all processes and removes the store. False: a process did not end well. */
bool processes_stop(struct processes *processes, FILE *out);

/* Sends a request, whose reference it takes. `dies_in` > 0: the process must die in that commit.
 * CALL_ANSWERED: *ret_answer is the answer. CALL_DIED: the process died as intended. CALL_FAILED:
 * anything else; a sentence was written. */
enum call_outcome processes_call(struct processes *processes, enum peer peer, json_t *request,
                                 unsigned dies_in, json_t **ret_answer, FILE *out);

/* Kill a process; end it properly; start a new one with processes->settings. For this process
 * itself, its instance is closed and opened instead. */
void processes_kill(struct processes *processes, enum peer peer);
bool processes_end(struct processes *processes, enum peer peer, FILE *out);
bool processes_begin(struct processes *processes, enum peer peer, FILE *out);

#endif
