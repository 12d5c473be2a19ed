/* SPDX-License-Identifier: MIT
 *
 * bench_node.c: measures the hook when nothing is pending, called from JavaScript through
 * tidings.node, beside the same hook called from C. The two alternate: Node runs in its own process
 * and measures one round for each request.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "common/clock.h"
#include "common/spawn.h"
#include "samples.h"
#include "target.h"

enum { CALLS = 20000, ROUNDS = 31, ROUNDS_QUICK = 9, LINE_BYTES = 128 };

#define BEYOND_NS 1000.0

struct node {
  pid_t pid;
  FILE *orders, *answers;
};

static void node_start(struct node *node, const char *script, const struct bench *bench,
                       const char *store) {
  int orders[2], answers[2];
  signal(SIGPIPE, SIG_IGN);
  const char *named = getenv("TIDINGS_BENCH_NODE");
  const char *const argv[] = {named && *named ? named : "node",
                              script,
                              BENCH_NODE_ADDON,
                              bench->plugin,
                              store,
                              BENCH_NODE_MODULES,
                              NULL};
  if (pipe2(orders, O_CLOEXEC) || pipe2(answers, O_CLOEXEC)) bench_die("pipe: %s", strerror(errno));
  const struct spawn spawn = {
      .argv = argv, .in = orders[0], .out = answers[1], .pipe_signal = true};
  int reason = spawn_start(&spawn, &node->pid);
  if (reason) node->pid = 0;
  close(orders[0]);
  close(answers[1]);
  node->orders = fdopen(orders[1], "w");
  node->answers = fdopen(answers[0], "r");
  if (!node->orders || !node->answers) bench_die("fdopen: %s", strerror(errno));
}

static void node_end(struct node *node) {
  fclose(node->orders);
  fclose(node->answers);
  int status = 0;
  if (node->pid) spawn_wait(node->pid, -1, &status);
}

/* Reads an answer: the nanoseconds of a call, or, the first time, the name of the runtime. False:
 * Node is missing or has failed. */
static bool node_says(struct node *node, char line[LINE_BYTES]) {
  if (!fgets(line, LINE_BYTES, node->answers)) return false;
  line[strcspn(line, "\n")] = '\0';
  return true;
}

/* Measures a round. *ret_other: the second number of the answer, or 0. */
static bool node_measure(struct node *node, int calls, double *ret_ns, double *ret_other) {
  char line[LINE_BYTES], *end = NULL;
  if (fprintf(node->orders, "%d\n", calls) < 0 || fflush(node->orders) || !node_says(node, line))
    return false;
  *ret_ns = strtod(line, &end);
  bool says = end != line && *ret_ns > 0;
  *ret_other = says ? strtod(end, NULL) : 0;
  return says;
}

static double call_quiet_hook(struct target *target) {
  static const char session[] = "quiet";
  struct tidings_tool_result result = {.size = sizeof result,
                                       .session = {session, sizeof session - 1},
                                       .call_id = {"call_1", 6},
                                       .tool = {"bash", 4}};
  uint64_t began = clock_mono_ns();
  for (int i = 0; i < CALLS; i++) {
    const struct tidings_reply *reply = NULL;
    if (target->plugin->on_tool_result(target->plugin, &result, &reply, NULL) != 0 || reply)
      bench_die("a hook with nothing pending delivered something");
  }
  return (double)(clock_mono_ns() - began) / (double)CALLS;
}

static bool measure_node(const struct bench *bench, struct row *row, struct target *target,
                         struct node *node) {
  struct samples floor = {0}, hook = {0};
  double ns = 0, other;
  bool runs = node_measure(node, CALLS, &ns, &other); /* warm */
  for (int round = 0; runs && round < (bench->quick ? ROUNDS_QUICK : ROUNDS); round++) {
    samples_add(&floor, call_quiet_hook(target));
    runs = node_measure(node, CALLS, &ns, &other);
    samples_add(&hook, ns);
  }
  row->unit = UNIT_NS;
  row->floor = samples_median(&floor);
  row->measured = samples_median(&hook);
  row->budget = row->floor + BEYOND_NS;
  row->budget_is_absolute = true;
  samples_free(&floor);
  samples_free(&hook);
  return runs;
}

void bench_node(struct bench *bench) {
  char store[PATH_BYTES], runtime[LINE_BYTES] = "";
  struct target target;
  struct node node;
  if (!bench_is_selected(bench, "hook from Node")) return;
  bench_store_path(bench, store);
  node_start(&node, BENCH_NODE_SCRIPT, bench, store);
  if (!node_says(&node, runtime)) {
    fprintf(stderr, "hook from Node: skipped, because no Node was found; set TIDINGS_BENCH_NODE "
                    "to one\n");
    node_end(&node);
    return;
  }
  struct row *row = bench_row(bench, "hook from Node, nothing pending");
  snprintf(row->state, sizeof row->state, "empty");
  snprintf(row->floor_is, sizeof row->floor_is, "the same hook called from C");
  snprintf(row->note, sizeof row->note, "%.100s", runtime);
  bench_store_path(bench,
                   store); /* a process can open a store only once, so this one has its own */
  target_load(&target, bench->plugin);
  target_open(&target, store, TIDINGS_ROLE_HOST);
  target_push(&target, "quiet", 1);
  target_drain(&target, "quiet");
  if (!measure_node(bench, row, &target, &node)) bench_die("Node stopped answering");
  target_unload(&target);
  node_end(&node);
}

/* -- a call of a tool in opencode and pi ------------------------------------------------------- */

/* A round has few calls, so that most rounds are not interrupted. */
enum { AGENT_CALLS = 50, AGENT_ROUNDS = 101, AGENT_WARM = 2000 };

/* The time of a tool call in each agent, including the request to the model. */
#define OPENCODE_CALL_US 65000.0
#define PI_CALL_US 15500.0
#define CALL_SHARE 0.001

static struct row *agent_row(struct bench *bench, const char *name, double call_us,
                             const char *floor_is, const char *runtime) {
  struct row *row = bench_row(bench, name);
  snprintf(row->state, sizeof row->state, "nothing pending");
  snprintf(row->floor_is, sizeof row->floor_is, "%s", floor_is);
  snprintf(row->note, sizeof row->note, "the dearer of a tool and a shell; %.60s", runtime);
  row->unit = UNIT_US;
  row->floor = call_us;
  row->budget = call_us * CALL_SHARE;
  row->budget_is_absolute = true;
  return row;
}

static bool measure_agents(struct node *node, struct row *opencode, struct row *pi) {
  struct samples first = {0}, second = {0};
  double ns = 0, other_ns = 0;
  bool runs = node_measure(node, AGENT_WARM, &ns, &other_ns);
  for (int round = 0; runs && round < AGENT_ROUNDS; round++) {
    runs = node_measure(node, AGENT_CALLS, &ns, &other_ns);
    samples_add(&first, ns / 1000);
    samples_add(&second, other_ns / 1000);
  }
  if (runs) {
    opencode->measured = samples_median(&first);
    pi->measured = samples_median(&second);
  }
  samples_free(&first);
  samples_free(&second);
  return runs;
}

void bench_agents(struct bench *bench) {
  char store[PATH_BYTES], runtime[LINE_BYTES] = "";
  struct node node;
  if (!bench_is_selected(bench, "tool call in opencode and pi")) return;
  bench_store_path(bench, store);
  node_start(&node, BENCH_AGENT_SCRIPT, bench, store);
  if (node_says(&node, runtime)) {
    struct row *opencode = agent_row(bench, "tool call in opencode", OPENCODE_CALL_US,
                                     "a call of 65 ms, a thousandth of which is ours", runtime);
    struct row *pi = agent_row(bench, "tool call in pi", PI_CALL_US,
                               "a call of 15.5 ms, a thousandth of which is ours", runtime);
    if (!measure_agents(&node, opencode, pi)) bench_die("the modules of the agents stopped");
  } else {
    fprintf(stderr, "tool call in opencode and pi: skipped, because no Node was found that reads "
                    "TypeScript; set TIDINGS_BENCH_NODE to one\n");
  }
  node_end(&node);
}
