/* SPDX-License-Identifier: MIT
 *
 * main.c: the command line, the stores, and the table.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "bench.h"
#include "command/cli.h"
#include "common/folder.h"
#include "raw.h"
#include "samples.h"
#include "target.h"

enum { FILL_THREADS = 64, FILL_EACH = 9000, RECORDS = 300 };

/* The folder to remove when a measurement dies. */
static char *to_remove;

static void remove_folder(void) { (void)folder_remove_all(to_remove); }

void bench_die(const char *format, ...) {
  va_list list;
  va_start(list, format);
  fprintf(stderr, "tidings-bench: ");
  vfprintf(stderr, format, list);
  va_end(list);
  fprintf(stderr, "\n");
  exit(1);
}

bool bench_is_selected(const struct bench *bench, const char *name) {
  return !bench->only || strcasestr(name, bench->only);
}

struct row *bench_row(struct bench *bench, const char *name) {
  if (bench->row_count == ROWS_MAX) bench_die("too many rows");
  struct row *row = &bench->rows[bench->row_count++];
  row->name = name;
  if (!bench->json) fprintf(stderr, "%s …\n", name);
  return row;
}

void bench_store_path(struct bench *bench, char path[PATH_BYTES]) {
  int length = snprintf(path, PATH_BYTES, "%s/%u", bench->folder, ++bench->folders);
  if (length < 0 || length >= PATH_BYTES) bench_die("the path of --dir is too long");
}

/* -- a store with many others ------------------------------------------------------------------ */

struct filler {
  struct target *target;
  _Atomic(uint64_t) next;
  uint64_t items;
};

/* Each session gets fewer items than its quota. */
static void *fill_others(void *context) {
  struct filler *filler = context;
  for (uint64_t n; (n = atomic_fetch_add(&filler->next, 1)) < filler->items;) {
    char session[SESSION_BYTES];
    snprintf(session, sizeof session, "other-%" PRIu64, n / FILL_EACH);
    if (target_push(filler->target, session, n) != 0) bench_die("session %s is full", session);
  }
  return NULL;
}

const char *bench_big_store(struct bench *bench) {
  pthread_t threads[FILL_THREADS];
  struct target target;
  if (bench->filled) return bench->big;
  struct filler filler = {.target = &target, .items = bench->quick ? 100000 : 1000000};
  bench_store_path(bench, bench->big);
  if (!bench->json) fprintf(stderr, "filling a store with %" PRIu64 " items …\n", filler.items);
  target_load(&target, bench->plugin);
  target_open(&target, bench->big, TIDINGS_ROLE_PRODUCER);
  for (int i = 0; i < FILL_THREADS; i++) {
    if (pthread_create(&threads[i], NULL, fill_others, &filler) != 0) bench_die("no thread");
  }
  for (int i = 0; i < FILL_THREADS; i++) pthread_join(threads[i], NULL);
  target_unload(&target);
  bench->big_items = filler.items;
  bench->filled = true;
  return bench->big;
}

/* Makes the floor write records of the same size as the plugin's. */
static void match_record_size(struct bench *bench) {
  struct target target;
  char store[PATH_BYTES];
  bench_store_path(bench, store);
  target_load(&target, bench->plugin);
  target_open(&target, store, TIDINGS_ROLE_PRODUCER);
  for (uint64_t n = 0; n < RECORDS; n++) target_push(&target, "sizes", n);
  target_unload(&target);
  raw_set_record_bytes((size_t)(raw_mean_value(store) + 0.5));
}

/* -- the table --------------------------------------------------------------------------------- */

static const char *const unit_names[] = {"ns", "µs", "/s", "KiB", ""};

static bool is_met(const struct row *row) {
  double value = row->budget_is_absolute ? row->measured : row->ratio;
  bool within =
      row->budget == 0 || (row->more_is_better ? value >= row->budget : value <= row->budget);
  return within && !row->failed;
}

static void describe_budget(const struct row *row, char *text, size_t size) {
  const char *sign = row->more_is_better ? "≥" : "≤";
  if (row->budget_is_absolute)
    snprintf(text, size, "%s %.0f %s", sign, row->budget, unit_names[row->unit]);
  else snprintf(text, size, "%s %.2f ×", sign, row->budget);
}

static void describe_verdict(const struct row *row, char *text, size_t size) {
  double value = row->budget_is_absolute ? row->measured : row->ratio;
  double factor = row->more_is_better ? row->budget / value : value / row->budget;
  if (is_met(row)) snprintf(text, size, "met");
  else if (factor > 1) snprintf(text, size, "missed by %.2f ×", factor);
  else snprintf(text, size, "missed: %s", row->note);
}

/* printf pads bytes, and some of these are not ASCII. */
static void print_padded(const char *text, int width) {
  int columns = 0;
  for (const char *c = text; *c; c++) columns += (*c & 0xc0) != 0x80;
  printf("%s%*s", text, width > 0 ? (width > columns ? width - columns : 0) + 2 : 0, "");
}

static void print_value(double value, enum unit unit) {
  char text[32];
  snprintf(text, sizeof text, value < 1000 ? "%.1f %s" : "%.0f %s", value, unit_names[unit]);
  print_padded(text, 12);
}

static void print_table(const struct bench *bench) {
  static const char *const heads[] = {
      "row", "state of the store", "floor", "measured", "ratio", "budget", "verdict"};
  static const int widths[] = {31, 38, 12, 12, 8, 10, 0};
  for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) print_padded(heads[i], widths[i]);
  printf("\n");
  for (size_t i = 0; i < bench->row_count; i++) {
    const struct row *row = &bench->rows[i];
    char ratio[32], budget[32], verdict[256];
    describe_budget(row, budget, sizeof budget);
    describe_verdict(row, verdict, sizeof verdict);
    snprintf(ratio, sizeof ratio, "%.2f ×", row->ratio);
    print_padded(row->name, widths[0]);
    print_padded(row->state, widths[1]);
    print_value(row->floor, row->unit);
    print_value(row->measured, row->unit);
    print_padded(ratio, widths[4]);
    print_padded(budget, widths[5]);
    print_padded(verdict, widths[6]);
    printf("\n%*sfloor: %s%s%s\n", 4, "", row->floor_is, row->note[0] ? "; " : "", row->note);
  }
}

static void print_json(const struct bench *bench) {
  printf("[");
  for (size_t i = 0; i < bench->row_count; i++) {
    const struct row *row = &bench->rows[i];
    char budget[32];
    describe_budget(row, budget, sizeof budget);
    printf("%s\n {\"row\": \"%s\", \"state\": \"%s\", \"floor_is\": \"%s\", \"unit\": \"%s\", "
           "\"floor\": %.2f, \"measured\": %.2f, "
           "\"ratio\": %.3f, "
           "\"budget\": \"%s\", \"met\": %s, \"note\": \"%s\"}",
           i ? "," : "", row->name, row->state, row->floor_is, unit_names[row->unit], row->floor,
           row->measured, row->ratio, budget, is_met(row) ? "true" : "false", row->note);
  }
  printf("\n]\n");
}

static void print_machine(const struct bench *bench) {
  struct utsname name;
  struct statfs system;
  if (uname(&name) != 0 || statfs(bench->folder, &system) != 0)
    bench_die("this machine cannot be described");
  printf("%s %s, %ld processors, stores in %s (file system type 0x%lx)%s\n\n", name.sysname,
         name.release, sysconf(_SC_NPROCESSORS_ONLN), bench->base, (unsigned long)system.f_type,
         bench->quick ? ", --quick" : "");
}

/* -- the command line -------------------------------------------------------------------------- */

enum { OPTION_PLUGIN = CLI_LONG_ONLY, OPTION_QUICK, OPTION_ROWS, OPTION_DIR };

/* Returns 0 or the exit code; *ret_stop: help was printed. */
static int read_bench_options(struct cli *cli, struct bench *bench, bool *ret_stop) {
  for (int key; (key = cli_next(cli)) != CLI_END;) {
    switch (key) {
    case OPTION_PLUGIN: bench->plugin = cli->value; break;
    case OPTION_QUICK: bench->quick = true; break;
    case OPTION_ROWS: bench->only = cli->value; break;
    case OPTION_DIR: bench->base = cli->value; break;
    default: *ret_stop = true; return cli->exit_code;
    }
  }
  bench->json = cli->json;
  return cli_take_words(cli, 0, 0, "");
}

static void measure(struct bench *bench) {
  match_record_size(bench);
  bench_hook(bench);
  bench_node(bench);
  bench_agents(bench);
  bench_command(bench);
  bench_push(bench);
  bench_wake(bench);
  bench_deliver(bench);
  bench_open(bench);
  for (size_t i = 0; i < bench->row_count; i++) {
    struct row *row = &bench->rows[i];
    row->ratio = row->floor > 0 ? row->measured / row->floor : 0;
  }
}

static int bench_verb(struct cli *cli) {
  static struct bench bench = {.plugin = BENCH_PLUGIN};
  const char *temporary = getenv("TMPDIR");
  bool stop = false;
  bench.base = temporary && *temporary ? temporary : "/tmp";
  int code = read_bench_options(cli, &bench, &stop);
  if (code || stop) return code;
  to_remove = folder_make_temporary(bench.base, "tidings-bench");
  if (!to_remove) return cli_fail(cli, "no folder can be made: %s", strerror(errno));
  atexit(remove_folder);
  if (snprintf(bench.folder, sizeof bench.folder, "%s", to_remove) >= PATH_BYTES - 16)
    return cli_fail(cli, "the path of --dir is too long");
  measure(&bench);
  if (bench.json) {
    print_json(&bench);
  } else {
    print_machine(&bench);
    print_table(&bench);
    bench_tokens(&bench);
  }
  return 0;
}

static const struct cli_verb verb_bench = {
    .usage = "[--plugin PATH] [--quick] [--rows SUBSTRING] [--json] [--dir DIR]",
    .help = "Measures the plugin and prints each row next to the floor that it is "
            "compared with.",
    .with = WITH_JSON,
    .options =
        (const struct cli_option[]){
            {.key = OPTION_PLUGIN,
             .name = "plugin",
             .argument = "PATH",
             .help = "The tidings.so to measure. Default: the one of this build."},
            {.key = OPTION_QUICK,
             .name = "quick",
             .help = "Run for a shorter time, with 100,000 other items instead of a million."},
            {.key = OPTION_ROWS,
             .name = "rows",
             .argument = "SUBSTRING",
             .help = "Measure only rows whose name contains this."},
            {.key = OPTION_DIR,
             .name = "dir",
             .argument = "DIR",
             .help = "The folder for the stores. Default: $TMPDIR or /tmp. Syncs "
                     "cost what they do in use only on a real disk."},
            {.name = NULL},
        },
    .run = bench_verb,
};

static const struct cli_verb *const verbs[] = {&verb_bench, NULL};
static const struct cli_program tidings_bench = {
    .name = "tidings-bench", .version = TIDINGS_VERSION, .verbs = verbs, .keep_pipe_signal = true};

int main(int argc, char **argv) { return cli_main(&tidings_bench, argc, argv); }
