/* SPDX-License-Identifier: MIT
 *
 * sim/sim.c: plays schedule after schedule, and reports one that differs.
 */
#include "sim/sim.h"
#include "command/cli.h"
#include "host/place.h"
#include "sim/schedule.h"

#include "command/interrupt.h"
#include "command/paths.h"
#include "common/file.h"
#include "sim/play.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* STORE_SCHEDULES: so many schedules use one store, which keeps ended items for a while. */
enum {
  STORE_SCHEDULES = 400,
  SHRINK_TRIALS = 3000,
  SCHEDULE_BYTES = SCHEDULE_HEAD + SCHEDULE_MAX_STEPS * SCHEDULE_STEP
};

struct process_group { /* the processes of one kind */
  struct processes processes;
  bool runs;
  unsigned played;
};

struct sim {
  const struct sim_options *options;
  const char *base;
  char *plugin;
  struct sim_progress *progress;
  struct process_group groups[4]; /* the index: 1 if separate, plus 2 if one phase */
  uint64_t session;
  struct tally tally, scratch;
  uint64_t failed;
};

/* -- one schedule ------------------------------------------------------------------------------ */

static bool stop_group(struct process_group *group, FILE *out) {
  bool well = !group->runs || processes_stop(&group->processes, out);
  group->runs = false;
  group->played = 0;
  return well;
}

static bool is_separate(const struct sim *sim, const struct schedule *schedule) {
  return sim->options->separate || schedule_is_separate(schedule->head);
}

static enum played play(struct sim *sim, const struct schedule *schedule, struct tally *tally,
                        FILE *story, FILE *out) {
  bool one_phase = schedule_is_one_phase(schedule->head);
  struct process_group *group =
      &sim->groups[(is_separate(sim, schedule) ? 1 : 0) + (one_phase ? 2 : 0)];
  enum played played = PLAYED_SAME;
  if (group->played >= STORE_SCHEDULES && !stop_group(group, out)) played = PLAYED_BROKEN;
  if (played == PLAYED_SAME && !group->runs) {
    group->processes.plugin = sim->plugin;
    group->processes.seed = sim->options->seed;
    group->processes.verbose = sim->options->verbose;
    group->processes.one_phase = one_phase;
    schedule_settings(schedule->head, &group->processes.settings);
    group->runs = true;
    if (!processes_start(&group->processes, sim->base, is_separate(sim, schedule), out))
      played = PLAYED_BROKEN;
  }
  if (played == PLAYED_SAME) {
    group->played++;
    played = schedule_play(&group->processes, schedule, ++sim->session, tally, story, out);
  }
  if (played == PLAYED_BROKEN) (void)stop_group(group, out);
  return played;
}

/* -- one that differs -------------------------------------------------------------------------- */

struct search {
  struct sim *sim;
  const char *difference;
};

/* Returns the length of a difference's place, with which its text begins. A difference at another
 * place is another finding. */
static size_t where(const char *difference) { return strcspn(difference, " \n"); }

static bool still_differs(struct search *search, const struct schedule *schedule) {
  char *text = NULL;
  size_t len = 0;
  FILE *out = open_memstream(&text, &len);
  if (!out || interrupt_seen()) return false;
  search->sim->progress->trials++;
  enum played played = play(search->sim, schedule, &search->sim->scratch, NULL, out);
  fclose(out);
  size_t place = where(search->difference);
  bool same_place = where(text) == place && strncmp(text, search->difference, place) == 0;
  free(text);
  return played != PLAYED_SAME && same_place;
}

/* -- shrinking --------------------------------------------------------------------------------- */

struct shrinking {
  struct schedule *schedule;
  struct search *search;
  unsigned done;
};

/* Takes the candidate if it still shows the difference. */
static bool attempt(struct shrinking *shrinking, const struct schedule *candidate) {
  if (shrinking->done >= SHRINK_TRIALS) return false;
  shrinking->done++;
  if (!still_differs(shrinking->search, candidate)) return false;
  *shrinking->schedule = *candidate;
  return true;
}

static void without(const struct schedule *schedule, size_t first, size_t count,
                    struct schedule *ret_candidate) {
  *ret_candidate = *schedule;
  size_t behind = schedule->step_count - first - count;
  memmove(ret_candidate->steps[first], schedule->steps[first + count], behind * SCHEDULE_STEP);
  ret_candidate->step_count -= count;
}

/* Drops chunks, the last ones first: steps after the difference go first, and needed ones are
 * usually just before it. */
static bool drop_chunks(struct shrinking *shrinking, size_t size) {
  static struct schedule candidate;
  bool dropped = false;
  for (size_t end = shrinking->schedule->step_count; end > 0;) {
    size_t first = end > size ? end - size : 0;
    without(shrinking->schedule, first, end - first, &candidate);
    dropped = attempt(shrinking, &candidate) || dropped;
    end = first;
  }
  return dropped;
}

/* Drops two steps that make sense only together, such as a fault and its repair. */
static bool drop_pairs(struct shrinking *shrinking) {
  enum { FEW_STEPS = 32 };
  static struct schedule one, both;
  for (size_t second = shrinking->schedule->step_count;
       second-- > 1 && shrinking->schedule->step_count <= FEW_STEPS;) {
    for (size_t first = second; first-- > 0;) {
      without(shrinking->schedule, second, 1, &one);
      without(&one, first, 1, &both);
      if (attempt(shrinking, &both)) return true;
    }
  }
  return false;
}

static bool clear(struct shrinking *shrinking, size_t step, size_t byte, bool head) {
  static struct schedule candidate;
  candidate = *shrinking->schedule;
  uint8_t *at = head ? &candidate.head[byte] : &candidate.steps[step][byte];
  if (*at == 0) return false;
  *at = 0;
  return attempt(shrinking, &candidate);
}

/* Removes ever smaller chunks of steps, then sets bytes to zero, as long as the schedule still
 * differs. Returns how many trials it made, SHRINK_TRIALS at most. */
static unsigned shrink(struct schedule *schedule, struct search *search) {
  struct shrinking shrinking = {.schedule = schedule, .search = search};
  for (size_t size = schedule->step_count; size > 1; size = (size + 1) / 2)
    (void)drop_chunks(&shrinking, size / 2 > 0 ? size / 2 : 1);
  while (drop_chunks(&shrinking, 1)) {}
  for (size_t byte = 0; byte < SCHEDULE_HEAD; byte++) (void)clear(&shrinking, 0, byte, true);
  for (size_t step = 0; step < schedule->step_count; step++)
    for (size_t byte = 1; byte < SCHEDULE_STEP; byte++) (void)clear(&shrinking, step, byte, false);
  while (drop_chunks(&shrinking, 1) || drop_pairs(&shrinking)) {}
  return shrinking.done;
}

/* -- the report -------------------------------------------------------------------------------- */

static void save(const struct sim *sim, const struct schedule *schedule) {
  uint8_t bytes[SCHEDULE_BYTES];
  size_t len = schedule_to_bytes(schedule, bytes);
  if (sim->options->save_file) {
    int reason = file_write_whole(sim->options->save_file, (const char *)bytes, len);
    if (reason) printf("%s: %s\n", sim->options->save_file, strerror(reason));
    else printf("saved; play it again with: hostsim sim --schedule %s\n", sim->options->save_file);
  }
  printf("as bytes: ");
  for (size_t i = 0; i < len; i++) printf("%02x", bytes[i]);
  putchar('\n');
}

/* Shrinks the schedule, and prints its steps and the difference at its end. */
static void report(struct sim *sim, struct schedule *schedule, const char *difference) {
  struct search search = {.sim = sim, .difference = difference};
  size_t steps = schedule->step_count;
  printf("%s", difference);
  fflush(stdout); /* shrinking may take long */
  if (sim->options->shrink) {
    unsigned trials = shrink(schedule, &search);
    printf("shrunk from %zu steps to %zu in %u trials\n", steps, schedule->step_count, trials);
  }
  printf("%s%s:\n", is_separate(sim, schedule) ? "all processes apart" : "the host in this process",
         schedule_is_one_phase(schedule->head) ? ", settle_on_return" : "");
  if (play(sim, schedule, &sim->scratch, stdout, stdout) == PLAYED_SAME)
    printf("this time there was no difference: it does not depend on the schedule alone\n");
  save(sim, schedule);
  fflush(stdout);
}

static void fail(struct sim *sim, struct schedule *schedule, uint64_t n, const char *difference) {
  sim->failed++;
  printf("\nseed %" PRIu64 ", schedule %" PRIu64 ": a difference\n", sim->options->seed, n);
  report(sim, schedule, difference);
}

/* -- many -------------------------------------------------------------------------------------- */

static void play_one(struct sim *sim, struct schedule *schedule, uint64_t n) {
  char *difference = NULL;
  size_t len = 0;
  FILE *out = open_memstream(&difference, &len);
  if (!out) {
    sim->failed++;
    return;
  }
  enum played played = play(sim, schedule, &sim->tally, sim->options->story ? stdout : NULL, out);
  fclose(out);
  if (played != PLAYED_SAME && !interrupt_seen()) fail(sim, schedule, n, difference);
  free(difference);
}

static void play_random(struct sim *sim) {
  const struct sim_options *options = sim->options;
  static struct schedule schedule;
  for (uint64_t n = options->first; sim->failed < options->failures && !interrupt_seen(); n++) {
    bool enough = options->schedules > 0 ? n - options->first >= options->schedules
                                         : sim->tally.steps >= options->steps;
    if (enough) break;
    sim->progress->schedule = n;
    schedule_random(&schedule, options->seed, n);
    play_one(sim, &schedule, n);
  }
}

static bool play_file(struct sim *sim) {
  static struct schedule schedule;
  char *bytes = NULL;
  size_t len = 0;
  int reason = file_read_whole(sim->options->schedule_file, SIZE_MAX / 2, &bytes, &len);
  if (reason) {
    fprintf(stderr, "hostsim sim: %s: %s\n", sim->options->schedule_file, strerror(reason));
    return false;
  }
  int wrong = schedule_from_bytes(&schedule, (const uint8_t *)bytes, len);
  free(bytes);
  if (wrong != 0) {
    fprintf(stderr,
            "hostsim sim: %s: %zu bytes are not a schedule; expected %d and a "
            "multiple of %d, at most %d in all\n",
            sim->options->schedule_file, len, SCHEDULE_HEAD, SCHEDULE_STEP, SCHEDULE_BYTES);
    return false;
  }
  play_one(sim, &schedule, 0);
  return true;
}

static void sum_up(const struct sim *sim) {
  const uint64_t *kinds = sim->tally.kinds;
  uint64_t notifications = 0, messages = 0, turns = 0;
  for (int kind = 0; kind <= ACT_WAKE; kind++) {
    notifications += act_is_notification((enum act_kind)kind) ? kinds[kind] : 0;
    messages += act_is_message((enum act_kind)kind) ? kinds[kind] : 0;
    turns += kind >= ACT_STARTED && kind <= ACT_TOOLS_FINISHED ? kinds[kind] : 0;
  }
  printf("seed %" PRIu64 ": %" PRIu64 " schedules, %" PRIu64 " steps, %" PRIu64 " differences\n",
         sim->options->seed, sim->tally.schedules, sim->tally.steps, sim->failed);
  printf("  %" PRIu64 " notifications, %" PRIu64 " of messages, %" PRIu64 " of turns, %" PRIu64
         " carriers, %" PRIu64 " settles, %" PRIu64 " clock jumps; %" PRIu64 " kills, %" PRIu64
         " of them inside a commit, %" PRIu64 " restarts, %" PRIu64 " swaps\n",
         notifications, messages, turns, kinds[ACT_TOOL_RESULT] + kinds[ACT_CHAT_REQUEST],
         kinds[ACT_SETTLE], kinds[ACT_CLOCK], kinds[ACT_CRASH] + sim->tally.commits_died,
         sim->tally.commits_died, kinds[ACT_RESTART], kinds[ACT_SWAP]);
}

int sim_play(const struct sim_options *options, const char *base, struct sim_progress *progress) {
  static struct sim sim;
  bool done = true;
  sim.options = options;
  sim.base = base;
  sim.progress = progress;
  sim.plugin = options->plugin ? strdup(options->plugin)
                               : paths_beside_program("tidings.so", CLI_PLUGIN_FROM_PROGRAM);
  char *chosen = sim.plugin ? place_plugin(sim.plugin) : NULL;
  if (chosen) {
    free(sim.plugin);
    sim.plugin = chosen;
  }
  if (options->schedule_file) done = play_file(&sim);
  else play_random(&sim);
  for (unsigned i = 0; i < sizeof sim.groups / sizeof sim.groups[0]; i++)
    sim.failed += !stop_group(&sim.groups[i], stdout);
  place_finish(sim.plugin);
  free(sim.plugin);
  if (interrupt_seen()) return interrupt_exit_code();
  if (done) sum_up(&sim);
  return !done ? EXIT_USAGE : sim.failed > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
