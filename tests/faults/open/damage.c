/* SPDX-License-Identifier: MIT
 *
 * open/damage.c: opens stores whose data.mdb was cut short or has wrong pages. Such a store is
 * refused, or the missing or damaged part does not matter, and exactly the pushed notifications are
 * delivered. Opening one never kills the process.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "open/damaging.h"

void damaging_begin(struct damaging *damaging, const struct arguments *arguments,
                    const char *folder, const char *name) {
  char data[FOLDER_PATH_MAX], copy[64];
  memset(damaging, 0, sizeof *damaging);
  damaging->seed = arguments->seed;
  folder_join(damaging->original, folder, name);
  snprintf(copy, sizeof copy, "%s-copy", name);
  folder_join(damaging->store, folder, copy);
  folder_join(damaging->data, damaging->store, "data.mdb");
  rig_load(&damaging->rig, arguments->plugin);
  fill_store(&damaging->rig, damaging->original);
  folder_join(data, damaging->original, "data.mdb");
  damaging->bytes = file_read(data, &damaging->length);
  folder_join(data, damaging->original, FILLED_EARLIER);
  damaging->earlier = file_read(data, &damaging->earlier_length);
  damaging->tally = mmap(NULL, sizeof *damaging->tally, PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (damaging->tally == MAP_FAILED) die("no shared memory");
}

void damaging_end(struct damaging *damaging, const char *what, uint64_t count) {
  struct tally *tally = damaging->tally;
  if (what)
    printf("%s: %" PRIu64 " stores: %" PRIu64 " refused, %" PRIu64 " opened whole, %" PRIu64
           " with something missing, %" PRIu64 " with something again, %" PRIu64
           " failed in a hook, %" PRIu64 " killed the process\n",
           what, count, atomic_load(&tally->refused), atomic_load(&tally->whole),
           atomic_load(&tally->partial), atomic_load(&tally->again), atomic_load(&tally->failing),
           damaging->killed);
  munmap(tally, sizeof *tally);
  free(damaging->bytes);
  free(damaging->earlier);
  rig_unload(&damaging->rig);
}

/* Opens the store as it is now, and counts the result. Returns how many tokens came, or -1 if the
 * store was refused. */
static int look(struct damaging *damaging, struct tidings_error *error) {
  uint8_t seen[FILLED_TOKENS + 1];
  int came = 0;
  int32_t code = read_store(&damaging->rig, damaging->store, seen, error);
  for (unsigned token = 1; token <= FILLED_TOKENS; token++) came += seen[token];
  if (code != 0 && came == 0) {
    atomic_fetch_add(&damaging->tally->refused, 1);
    return -1;
  }
  if (code != 0) atomic_fetch_add(&damaging->tally->failing, 1);
  else if (seen[0]) atomic_fetch_add(&damaging->tally->again, 1);
  else if (came == FILLED_TOKENS) atomic_fetch_add(&damaging->tally->whole, 1);
  else atomic_fetch_add(&damaging->tally->partial, 1);
  return came;
}

/* Opens all copies in children; a child that dies costs only one copy. */
void damaging_run(struct damaging *damaging, uint64_t count,
                  void (*one)(struct damaging *, uint64_t)) {
  struct tally *tally = damaging->tally;
  for (uint64_t at = 0; at < count; at = atomic_load(&tally->next)) {
    int status;
    fflush(NULL);
    pid_t child = fork();
    if (child < 0) die("fork failed");
    if (child == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      for (uint64_t i = at; i < count; atomic_store(&tally->next, ++i)) {
        unsigned before = failures();
        alarm(STORE_SECONDS);
        one(damaging, i);
        atomic_fetch_add(&tally->failed, failures() - before);
      }
      fflush(NULL);
      _exit(failures() ? 1 : 0);
    }
    if (waitpid(child, &status, 0) != child) die("waitpid failed");
    if (WIFEXITED(status)) {
      if (status != 0) fail("see above");
      return;
    }
    if (WTERMSIG(status) == SIGALRM)
      fail("store %" PRIu64 ": opening takes forever", atomic_load(&tally->next));
    damaging->killed++;
    atomic_fetch_add(&tally->next, 1);
  }
}

uint64_t damaging_violations(const struct damaging *damaging) {
  return damaging->killed + atomic_load(&damaging->tally->failed);
}

/* Counts the pages that are in use; the file may have more. */
size_t damaging_used_pages(const struct damaging *damaging) {
  size_t pages = damaging->length / PAGE;
  static const uint8_t zeros[PAGE];
  while (pages > 2 && memcmp(damaging->bytes + (pages - 1) * PAGE, zeros, PAGE) == 0) pages--;
  return pages;
}

/* -- cut off ----------------------------------------------------------------------------------- */

static void truncate_one(struct damaging *damaging, uint64_t number) {
  struct random random = random_seeded(damaging->seed, number);
  struct tidings_error error = RIG_ERROR;
  size_t used = damaging_used_pages(damaging) * PAGE;
  size_t length = random_below(&random, random_chance(&random, 80) ? used : damaging->length);
  if (number < used / PAGE) length = number * PAGE; /* first every whole page */
  else if (number % 4 == 0) length &= ~(size_t)511;
  file_write(damaging->data, damaging->bytes, length);
  int came = look(damaging, &error);
  if (atomic_load(&damaging->tally->again))
    fail("cut to %zu bytes it opens, and hands out again what had been settled", length);
  if (came >= 0 && came < FILLED_TOKENS)
    fail("cut to %zu bytes it opens, and only %d of %d come", length, came, FILLED_TOKENS);
  if (came < 0 && (error.code != TIDINGS_E_STORE || !strcasestr(error.text, "data.mdb")))
    fail("cut to %zu bytes: %s", length, rig_why(error.code, &error));
  if (came < 0 && number == 0) printf("cut to %zu bytes: %s\n", length, error.text);
}

void part_truncation(const struct arguments *arguments, const char *folder) {
  static struct damaging damaging;
  damaging_begin(&damaging, arguments, folder, "cut");
  folder_copy(damaging.original, damaging.store);
  damaging_run(&damaging, arguments->count, truncate_one);
  if (damaging.killed) fail("%" PRIu64 " processes were killed", damaging.killed);
  if (atomic_load(&damaging.tally->refused) == 0)
    fail("nothing was refused: the test does not cut where it matters");
  damaging_end(&damaging, "cut off", arguments->count);
}

/* -- wrong pages ------------------------------------------------------------------------------- */

static void make_stale(const struct damaging *damaging, uint8_t *bytes, size_t page) {
  if ((page + 1) * PAGE <= damaging->earlier_length)
    memcpy(bytes + page * PAGE, damaging->earlier + page * PAGE, PAGE);
}

void damaging_spoil(const struct damaging *damaging, uint8_t *bytes, size_t pages,
                    struct random *random) {
  size_t page = random_below(random, pages), other = random_below(random, pages);
  uint8_t *at = bytes + page * PAGE;
  uint8_t swapped[PAGE];
  switch (random_below(random, 7)) {
  case 0: memset(at, 0, PAGE); break;
  case 1:
    for (size_t i = 0; i < PAGE; i++) at[i] = (uint8_t)random_next(random);
    break;
  case 2:
    memcpy(swapped, at, PAGE);
    memmove(at, bytes + other * PAGE, PAGE);
    memcpy(bytes + other * PAGE, swapped, PAGE);
    break;
  case 3: at[random_below(random, PAGE)] ^= (uint8_t)(1u << random_below(random, 8)); break;
  case 4: make_stale(damaging, bytes, page); break;
  case 5: /* a number in the page's head, or in that of a node */
    at[random_below(random, 64)] = (uint8_t)random_next(random);
    break;
  default: memset(at + random_below(random, 8) * 512, 0, 512); break;
  }
}

static void damage_one(struct damaging *damaging, uint64_t number) {
  struct random random = random_seeded(damaging->seed, number);
  struct tidings_error error = RIG_ERROR;
  uint8_t *bytes = malloc(damaging->length);
  if (!bytes) die("out of memory");
  memcpy(bytes, damaging->bytes, damaging->length);
  for (uint64_t times = 1 + random_below(&random, 3); times; times--)
    damaging_spoil(damaging, bytes, damaging_used_pages(damaging), &random);
  file_write(damaging->data, bytes, damaging->length);
  free(bytes);
  look(damaging, &error);
}

void part_damage(const struct arguments *arguments, const char *folder) {
  static struct damaging damaging;
  damaging_begin(&damaging, arguments, folder, "damage");
  folder_copy(damaging.original, damaging.store);
  damaging_run(&damaging, arguments->count, damage_one);
  if (damaging.killed) fail("%" PRIu64 " processes were killed", damaging.killed);
  if (atomic_load(&damaging.tally->refused) == 0)
    fail("nothing was refused: the test does not damage where it matters");
  result(arguments, "damage", arguments->count, damaging_violations(&damaging),
         "\"killed\":%" PRIu64 ",\"refused\":%" PRIu64, damaging.killed,
         atomic_load(&damaging.tally->refused));
  damaging_end(&damaging, "wrong pages", arguments->count);
}
