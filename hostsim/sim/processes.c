/* SPDX-License-Identifier: MIT
 *
 * sim/processes.c: starts, calls and kills the processes.
 */
#include "sim/processes.h"

#include "command/paths.h"
#include "common/folder.h"
#include "host/place.h"
#include "host/simhost.h"
#include "sim/request.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* -- calls ------------------------------------------------------------------------------------- */

static enum call_outcome ask(struct processes *processes, enum peer peer, json_t *request,
                             json_t **ret_answer, FILE *out) {
  struct process *process = &processes->all[peer];
  json_object_set_new(request, "now", json_integer(processes->now_ms));
  json_object_set_new(request, "mono", json_integer((json_int_t)processes->mono_ns));
  if (process->inside) {
    *ret_answer = agent_child_serve(&process->child, request);
    json_decref(request);
    return CALL_ANSWERED;
  }
  enum agent_outcome outcome = agent_call(&process->agent, request, ret_answer);
  if (outcome == AGENT_OK) return CALL_ANSWERED;
  process->runs = false;
  if (outcome == AGENT_DIED && WIFSIGNALED(process->agent.status) &&
      WTERMSIG(process->agent.status) == SIGKILL)
    return CALL_DIED;
  fprintf(out, "%s: ", act_peer_names[peer]);
  agent_describe(out, &process->agent, outcome);
  fputc('\n', out);
  return CALL_FAILED;
}

/* Sends a request whose answer is empty. */
static bool order(struct processes *processes, enum peer peer, json_t *request, FILE *out) {
  json_t *answer = NULL;
  enum call_outcome outcome = ask(processes, peer, request, &answer, out);
  if (outcome != CALL_ANSWERED) {
    if (outcome == CALL_DIED)
      fprintf(out, "%s: was killed by another process\n", act_peer_names[peer]);
    return false;
  }
  const json_t *error = json_object_get(answer, "error");
  if (error) {
    fprintf(out, "%s: %s: %s\n", act_peer_names[peer],
            json_string_value(json_object_get(error, "code")),
            json_string_value(json_object_get(error, "text")));
  }
  bool done = error == NULL;
  json_decref(answer);
  return done;
}

enum call_outcome processes_call(struct processes *processes, enum peer peer, json_t *request,
                                 unsigned dies_in, json_t **ret_answer, FILE *out) {
  if (dies_in > 0 &&
      !order(processes, peer, json_pack("{s:s, s:i}", "op", "arm", "n", (int)dies_in), out)) {
    json_decref(request);
    return CALL_FAILED;
  }
  enum call_outcome outcome = ask(processes, peer, request, ret_answer, out);
  if (outcome == CALL_DIED && dies_in == 0) {
    fprintf(out, "%s: was killed by another process\n", act_peer_names[peer]);
    return CALL_FAILED;
  }
  if (outcome == CALL_ANSWERED && dies_in > 0 &&
      !order(processes, peer, json_pack("{s:s}", "op", "disarm"), out)) {
    json_decref(*ret_answer);
    return CALL_FAILED;
  }
  return outcome;
}

/* -- lives ------------------------------------------------------------------------------------- */

static json_t *open_request(const struct processes *processes, enum peer peer) {
  json_t *config = request_config_of_settings(&processes->settings);
  char *text = json_dumps(config, JSON_COMPACT);
  json_t *request =
      json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:b, s:b}", "op", "open", "plugin",
                processes->plugin, "store", processes->store, "copies", processes->dir, "config",
                text, "role", peer == PEER_PRODUCER ? "producer" : "host", "unsynced", 1,
                "settle_on_return", processes->one_phase && peer != PEER_PRODUCER);
  free(text);
  json_decref(config);
  return request;
}

bool processes_begin(struct processes *processes, enum peer peer, FILE *out) {
  struct process *process = &processes->all[peer];
  uint64_t seed = processes->seed * UINT64_C(1000003) + ++processes->started;
  seed |= SIMHOST_DRAWS_IDS;
  if (!process->inside) {
    enum agent_outcome outcome =
        agent_start(&process->agent, seed, AGENT_TIMEOUT_MS, processes->verbose);
    if (outcome != AGENT_OK) {
      fprintf(out, "%s: ", act_peer_names[peer]);
      agent_describe(out, &process->agent, outcome);
      fputc('\n', out);
      return false;
    }
    process->pid = process->agent.pid;
  } else if (!process->runs) {
    agent_child_init(&process->child, seed, processes->verbose);
    process->pid = getpid();
  }
  process->runs = true;
  process->settings = processes->settings;
  return order(processes, peer, open_request(processes, peer), out);
}

bool processes_end(struct processes *processes, enum peer peer, FILE *out) {
  struct process *process = &processes->all[peer];
  if (!process->runs) return true;
  if (process->inside) return order(processes, peer, json_pack("{s:s}", "op", "close"), out);
  char *error = NULL;
  enum agent_outcome outcome = agent_stop(&process->agent, &error);
  process->runs = false;
  if (outcome != AGENT_OK) {
    fprintf(out, "%s: close: %s: ", act_peer_names[peer], error ? error : "");
    agent_describe(out, &process->agent, outcome);
    fputc('\n', out);
  }
  free(error);
  return outcome == AGENT_OK;
}

void processes_kill(struct processes *processes, enum peer peer) {
  agent_kill(&processes->all[peer].agent);
  processes->all[peer].runs = false;
}

bool processes_start(struct processes *processes, const char *base, bool separate, FILE *out) {
  memset(processes->all, 0, sizeof processes->all);
  processes->store = NULL;
  processes->dir = folder_make_temporary(base, "store");
  if (!processes->dir) {
    fprintf(out, "%s: a folder cannot be made: %s\n", base, strerror(errno));
    return false;
  }
  char why[256] = "";
  processes->store = place_make(processes->dir, processes->plugin, why, sizeof why);
  if (!processes->store) {
    fprintf(out, "no store: %s\n", why);
    return false;
  }
  processes->all[PEER_HOST].inside = !separate;
  for (int peer = 0; peer < PEERS; peer++)
    if (!processes_begin(processes, (enum peer)peer, out)) return false;
  return true;
}

bool processes_stop(struct processes *processes, FILE *out) {
  bool well = true;
  for (int peer = 0; peer < PEERS; peer++) {
    struct process *process = &processes->all[peer];
    well = processes_end(processes, (enum peer)peer, out) && well;
    if (process->inside && process->runs) {
      agent_child_finish(&process->child);
      process->runs = false;
    }
  }
  (void)folder_remove_all(processes->dir);
  place_remove(processes->store, processes->plugin);
  free(processes->store);
  free(processes->dir);
  processes->dir = processes->store = NULL;
  return well;
}
