/* SPDX-License-Identifier: MIT
 *
 * tests/model/model.c: explores every state that the run-state machine can reach, breadth-first, up
 * to a depth. In each state it checks the laws, and that everything that waits can still be
 * delivered. Prints TAP with the depth, the numbers of states and their sum.
 *
 * Usage: turns-model [DEPTH [NAME]]: explores to another depth, or one setup only.
 *        turns-model table DEPTH: prints the machine's table instead, as table.h says.
 */
#include <stdio.h>
#include <stdlib.h>

#include "endings.h"
#include "setups.h"
#include "table.h"

enum { MOST_STATES = 6000000, TABLE_BITS = 24 };

struct node {
  struct packed world;
  uint32_t parent;
  uint8_t move;
};

struct search {
  const struct setup *setup;
  struct move moves[MOST_MOVES];
  size_t move_count;
  struct node *nodes; /* in the order in which they were found */
  size_t count;
  uint32_t *table; /* index + 1 */
  size_t steps, longest_ending;
};

/* -- states seen ------------------------------------------------------------------------------- */

static uint64_t hash(const struct packed *packed) {
  uint64_t sum = 0;
  for (size_t i = 0; i < PACKED_BYTES; i += sizeof sum) {
    uint64_t word;
    memcpy(&word, &packed->bytes[i], sizeof word);
    sum = (sum ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    sum ^= sum >> 32;
  }
  return sum;
}

/* Keeps a state. True: it is new. */
static bool keep(struct search *search, const struct world *world, uint32_t parent, size_t move) {
  struct node node = {.parent = parent, .move = (uint8_t)move};
  world_pack(world, &node.world);
  size_t mask = ((size_t)1 << TABLE_BITS) - 1, at = hash(&node.world) & mask;
  for (; search->table[at]; at = (at + 1) & mask) {
    if (!memcmp(&search->nodes[search->table[at] - 1].world, &node.world, sizeof node.world))
      return false;
  }
  if (search->count == MOST_STATES) {
    printf("Bail out! more than %d states; the setup is too large\n", MOST_STATES);
    exit(1);
  }
  search->nodes[search->count] = node;
  search->table[at] = (uint32_t)++search->count;
  return true;
}

/* -- what went wrong --------------------------------------------------------------------------- */

static void print_path(const struct search *search, size_t index) {
  const struct node *node = &search->nodes[index];
  struct world world;
  if (index) {
    print_path(search, node->parent);
    move_print(&search->moves[node->move]);
  }
  world_unpack(&node->world, search->setup, &world);
  world_print(&world);
}

static bool broken(const struct search *search, size_t number, const char *law, size_t from,
                   const struct move *last, const struct world *after) {
  printf("not ok %zu - %s: %s\n", number, search->setup->name, law);
  print_path(search, from);
  if (last) move_print(last);
  if (last) world_print(after);
  return false;
}

/* -- the search -------------------------------------------------------------------------------- */

/* Makes every move from one state. False: a move has broken a law. */
static bool expand(struct search *search, size_t number, size_t index) {
  struct world from, to;
  world_unpack(&search->nodes[index].world, search->setup, &from);
  for (size_t i = 0; i < search->move_count; i++) {
    const struct move *move = &search->moves[i];
    if (!move_possible(move, &from, search->setup)) continue;
    to = from;
    search->steps++;
    const char *law = play(&to, search->setup, move);
    if (law) return broken(search, number, law, index, move, &to);
    world_canonical(&to, search->setup);
    if (!keep(search, &to, (uint32_t)index, i)) continue;
    size_t steps = 0;
    law = ending_reached(&to, search->setup, &steps);
    if (law) return broken(search, number, law, search->count - 1, NULL, NULL);
    if (steps > search->longest_ending) search->longest_ending = steps;
  }
  return true;
}

static bool explore(struct search *search, size_t number, unsigned depth) {
  struct world begin;
  size_t first = 0;
  unsigned reached = 0;
  world_begin(&begin, search->setup);
  (void)keep(search, &begin, 0, 0);
  while (reached < depth && first < search->count) {
    size_t end = search->count;
    for (; first < end; first++) {
      if (!expand(search, number, first)) return false;
    }
    if (search->count > end) reached++;
  }
  printf("ok %zu - %s: %zu states, depth %u%s, %zu steps; from each at most %zu to the end of the "
         "queue\n",
         number, search->setup->name, search->count, reached,
         first == search->count ? " (there are no more)" : "", search->steps,
         search->longest_ending);
  (void)fflush(stdout);
  return true;
}

static bool run(const struct setup *setup, size_t number, unsigned depth, size_t *states) {
  struct search *search = calloc(1, sizeof *search);
  bool ok = search && (search->nodes = malloc(MOST_STATES * sizeof *search->nodes)) &&
            (search->table = calloc((size_t)1 << TABLE_BITS, 4));
  if (ok) {
    search->setup = setup;
    search->move_count = moves_list(setup, search->moves);
    ok = explore(search, number, depth);
    *states += search->count;
  } else {
    printf("Bail out! no memory\n");
  }
  if (search) {
    free(search->nodes);
    free(search->table);
  }
  free(search);
  return ok;
}

/* Prints the table. False: a law was broken. */
static bool print_table(unsigned depth) {
  size_t count, states = 0;
  const struct setup *setups = setups_all(&count);
  bool ok = true;
  for (size_t i = 0; i < count; i++) ok = run(&setups[i], i + 1, depth, &states) && ok;
  table_print();
  return ok;
}

int main(int argc, char **argv) {
  unsigned depth = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 0;
  const char *only = argc > 2 ? argv[2] : NULL;
  size_t number = 0, failed = 0, states = 0, count;
  const struct setup *setups = setups_all(&count);
  if (argc == 3 && !strcmp(argv[1], "table"))
    return !print_table((unsigned)strtoul(argv[2], NULL, 10));
  for (size_t i = 0; i < count; i++) {
    if (only && strcmp(only, setups[i].name) != 0) continue;
    failed += !run(&setups[i], ++number, depth ? depth : setups[i].depth, &states);
  }
  printf("# sum: the turn queue's model: %zu states in %zu setups\n", states, number);
  printf("1..%zu\n", number);
  return failed || !number;
}
