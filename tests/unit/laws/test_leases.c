/* SPDX-License-Identifier: MIT
 *
 * The newest state stays valid across deliveries whose leases end in every way: 20,000 carriers, or
 * as many as TIDINGS_LEASES_CARRIERS says; TIDINGS_LEASES_ROUND plays one round and prints it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "leases.h"

enum { ROUNDS_OF_HOSTS = 40 };

static void begin_in_memory(void) {
  if (!getenv("TMPDIR") && access("/dev/shm", W_OK | X_OK) == 0)
    (void)setenv("TMPDIR", "/dev/shm", 1);
  kit_begin();
}

TestSuite(leases, .init = begin_in_memory, .fini = kit_end);

static long number_in(const char *variable, long otherwise) {
  const char *given = getenv(variable);
  return given ? strtol(given, NULL, 10) : otherwise;
}

/* The rounds of a set of hosts share a store and a configuration. */
static size_t play_set(long set, long alone, size_t *ways) {
  static struct story story;
  struct hosts hosts;
  struct random random = {(uint64_t)set};
  size_t carriers = 0;
  kit_end();
  kit_begin();
  hosts_begin(&hosts, &random);
  for (long r = 0; r < ROUNDS_OF_HOSTS; r++) {
    long number = set * ROUNDS_OF_HOSTS + r;
    if (alone >= 0 && number != alone) continue;
    story_play(&story, number, &hosts);
    carriers += story.carriers;
    for (size_t way = 0; way < WAYS; way++) ways[way] += story.ways[way];
  }
  hosts_end(&hosts);
  return carriers;
}

Test(leases, the_newest_state_stands_however_a_lease_ends, .timeout = 7200) {
  long alone = number_in("TIDINGS_LEASES_ROUND", -1);
  const char *sanitizer = getenv("TIDINGS_SANITIZE"); /* under which each costs ten times as much */
  long carriers_by_default = sanitizer && *sanitizer ? 4000 : 20000;
  size_t most = (size_t)number_in("TIDINGS_LEASES_CARRIERS", carriers_by_default), ways[WAYS] = {0};
  size_t carriers = 0;
  if (alone >= 0) {
    (void)play_set(alone / ROUNDS_OF_HOSTS, alone, ways);
    return;
  }
  for (long set = 0; carriers < most; set++) carriers += play_set(set, -1, ways);
  for (size_t way = 0; way < WAYS; way++) cr_expect(ways[way], "no lease ended in way %zu", way);
}
