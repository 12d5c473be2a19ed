/* SPDX-License-Identifier: MIT
 *
 * bench_open.c: measures opening a store, and a whole hot swap.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tidings/hostkit.h>

#include "common/clock.h"
#include "duel.h"

static void open_row(struct bench *bench) {
  struct duel duel;
  struct target *target = &duel.target;
  if (!duel_begin(bench, "open", &duel)) return;
  duel_open(bench, &duel, false);
  for (uint64_t n = 0; n < 100; n++) target_push(target, "one", n);
  target_close(target);
  struct raw *raw = raw_open(duel.raw_path);
  raw_put_many(raw, 1, 1, 100);
  raw_close(raw);
  for (int round = 0; round < (bench->quick ? 30 : 300); round++) {
    uint64_t began = clock_mono_ns();
    raw = raw_open(duel.raw_path);
    samples_add(&duel.floor, (double)(clock_mono_ns() - began) / 1e3);
    raw_close(raw);
    began = clock_mono_ns();
    target_open(target, duel.store, TIDINGS_ROLE_HOST);
    samples_add(&duel.measured, (double)(clock_mono_ns() - began) / 1e3);
    target_close(target);
  }
  duel_end(&duel, UNIT_US, 1.5, "mdb_env_open, the tree's handle, a read transaction",
           "100 pending, nobody else has it open");
}

/* Measures the minimum of a swap: copy the file, load it, find the symbol, open a raw environment,
 * and undo all of it. */
static double swap_floor_us(const struct bench *bench, const char *raw_path, const char *copy) {
  struct stat status;
  uint64_t began = clock_mono_ns();
  int in = open(bench->plugin, O_RDONLY | O_CLOEXEC),
      out = open(copy, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);
  if (in < 0 || out < 0 || fstat(in, &status) != 0) bench_die("%s cannot be copied", bench->plugin);
  for (off_t left = status.st_size; left > 0;) {
    ssize_t sent = sendfile(out, in, NULL, (size_t)left);
    if (sent <= 0) bench_die("%s cannot be copied", bench->plugin);
    left -= sent;
  }
  close(in);
  close(out);
  void *image = dlopen(copy, RTLD_NOW | RTLD_LOCAL);
  if (!image || !dlsym(image, TIDINGS_ENTRY_SYMBOL)) bench_die("%s", dlerror());
  unlink(copy);
  struct raw *raw = raw_open(raw_path);
  raw_close(raw);
  dlclose(image);
  return (double)(clock_mono_ns() - began) / 1e3;
}

static double resident_kib(void) {
  char line[128];
  FILE *file = fopen("/proc/self/statm", "r");
  if (!file || !fgets(line, sizeof line, file)) bench_die("/proc/self/statm");
  (void)fclose(file);
  const char *resident = strchr(line, ' '); /* the second number, in pages */
  return resident ? (double)strtol(resident, NULL, 10) * (double)sysconf(_SC_PAGESIZE) / 1024 : 0;
}

static void swap_rows(struct bench *bench) {
  char copy[PATH_BYTES];
  struct duel duel;
  struct tidings_error error = {.size = sizeof error};
  struct hostkit *hostkit = NULL;
  int cycles = bench->quick ? 100 : 1000;
  double early = 0;
  if (!duel_begin(bench, "swap cycle", &duel)) return;
  bench_store_path(bench, copy);
  struct hostkit_options options = {.size = sizeof options,
                                    .flags = HOSTKIT_NO_PROBE,
                                    .plugin_path = bench->plugin,
                                    .store_dir = duel.store,
                                    .copy_dir = bench->folder};
  if (hostkit_open(&options, &hostkit, &error) != 0) bench_die("hostkit_open: %s", error.text);
  for (int cycle = 0; cycle < cycles; cycle++) {
    samples_add(&duel.floor, swap_floor_us(bench, duel.raw_path, copy));
    uint64_t began = clock_mono_ns();
    if (hostkit_swap(hostkit, NULL, 10000, &error) != 0) bench_die("hostkit_swap: %s", error.text);
    samples_add(&duel.measured, (double)(clock_mono_ns() - began) / 1e3);
    if (cycle == cycles / 10) early = resident_kib();
  }
  double late = resident_kib();
  if (hostkit_close(hostkit, 10000, &error) != 0) bench_die("hostkit_close: %s", error.text);
  snprintf(duel.row->note, sizeof duel.row->note, "p99 %.0f µs",
           samples_percentile(&duel.measured, 99));
  duel_end(&duel, UNIT_US, 1.5, "copy, dlopen, raw env open + close, dlclose",
           "empty; hostkit without the probe");

  struct duel memory = {.row = bench_row(bench, "swap cycle, resident memory")};
  samples_add(&memory.floor, early);
  samples_add(&memory.measured, late);
  duel_end(&memory, UNIT_KIB, 1.02, "after a tenth of them", "after %d cycles", cycles);
}

void bench_open(struct bench *bench) {
  open_row(bench);
  swap_rows(bench);
}
