/* SPDX-License-Identifier: MIT
 *
 * bench_node.c: the hook when nothing is pending, called from JavaScript through tidings.node,
 * beside the same hook called from C. The two take turns: a Node in a process of its own measures
 * a round whenever it is asked to.
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

static void node_start(struct node *node, const struct bench *bench, const char *store) {
  int orders[2], answers[2];
  signal(SIGPIPE, SIG_IGN);
  const char *named = getenv("TIDINGS_BENCH_NODE");
  const char *const argv[] = {named && *named ? named : "node",
                              BENCH_NODE_SCRIPT,
                              BENCH_NODE_ADDON,
                              bench->plugin,
                              store,
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

/* A round's nanoseconds a call; the first answer is the runtime's name. False: there is no Node
 * here, or it failed. */
static bool node_says(struct node *node, char line[LINE_BYTES]) {
  if (!fgets(line, LINE_BYTES, node->answers)) return false;
  line[strcspn(line, "\n")] = '\0';
  return true;
}

static bool node_measure(struct node *node, double *ret_ns) {
  char line[LINE_BYTES], *end = NULL;
  if (fprintf(node->orders, "%d\n", CALLS) < 0 || fflush(node->orders) || !node_says(node, line))
    return false;
  *ret_ns = strtod(line, &end);
  return end != line && *ret_ns > 0;
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
  return (double)(clock_mono_ns() - began) / CALLS;
}

static bool measure_node(const struct bench *bench, struct row *row, struct target *target,
                         struct node *node) {
  struct samples floor = {0}, hook = {0};
  double ns = 0;
  bool runs = node_measure(node, &ns); /* warm */
  for (int round = 0; runs && round < (bench->quick ? ROUNDS_QUICK : ROUNDS); round++) {
    samples_add(&floor, call_quiet_hook(target));
    runs = node_measure(node, &ns);
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
  if (!bench_wants(bench, "hook from Node")) return;
  bench_store_path(bench, store);
  node_start(&node, bench, store);
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
  bench_store_path(bench, store); /* a process opens a store once, and this one has its own */
  target_load(&target, bench->plugin);
  target_open(&target, store, TIDINGS_ROLE_HOST);
  target_push(&target, "quiet", 1);
  target_drain(&target, "quiet");
  if (!measure_node(bench, row, &target, &node)) bench_die("Node stopped answering");
  target_unload(&target);
  node_end(&node);
}
