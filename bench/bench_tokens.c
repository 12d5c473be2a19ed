/* SPDX-License-Identifier: MIT
 *
 * bench_tokens.c: counts the tokens (of four bytes) that each preset's blocks cost the model for 1,
 * 5 and 40 notifications. A preset with a cap needs several blocks; `flat` drops the notifications
 * above its cap.
 */
#include <stdio.h>

#include "bench.h"
#include "reports.h"
#include "target.h"

static const char *const presets[] = {"grouped", "flat", "xml", "xml-batch", "balanced", "plain"};
static const size_t counts[] = {1, 5, 40};

struct cost {
  size_t tokens, blocks;
};

static void push_reports(struct target *target, size_t count) {
  for (size_t i = 0; i < count; i++) {
    struct sample_report report = sample_report_at(i);
    target_push_report(target, "cost", &report);
  }
}

static struct cost deliver_all(struct target *target) {
  struct cost cost = {0, 0};
  size_t bytes = 0;
  for (uint64_t delivery; (delivery = target_deliver_text(target, "cost", &bytes)) != 0;) {
    target_commit(target, delivery);
    cost.tokens += (bytes + 3) / 4;
    cost.blocks++;
  }
  return cost;
}

/* `again`: measures in a session that has had a block. */
static struct cost measure_blocks(struct bench *bench, const char *preset, size_t count,
                                  bool again) {
  char store[PATH_BYTES], configuration[128];
  struct target target;
  bench_store_path(bench, store);
  (void)snprintf(configuration, sizeof configuration, "{\"delivery\":{\"preset\":\"%s\"}}", preset);
  target_load(&target, bench->plugin);
  target_open(&target, store, TIDINGS_ROLE_HOST);
  target_configure(&target, configuration);
  if (again) {
    push_reports(&target, 1);
    (void)deliver_all(&target);
  }
  push_reports(&target, count);
  struct cost cost = deliver_all(&target);
  target_unload(&target);
  return cost;
}

static void print_costs(struct bench *bench, bool again) {
  printf("\n%-16s", again ? "later blocks" : "first block");
  for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) printf("%8zu", counts[c]);
  printf("\n");
  for (size_t p = 0; p < sizeof presets / sizeof *presets; p++) {
    printf("%-16s", presets[p]);
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
      struct cost cost = measure_blocks(bench, presets[p], counts[c], again);
      printf("%8zu", cost.tokens);
      if (cost.blocks > 1) printf(" in %zu blocks", cost.blocks);
    }
    printf("\n");
  }
}

void bench_tokens(struct bench *bench) {
  if (bench->json || !bench_is_selected(bench, "tokens")) return;
  printf("\ntokens (bytes / 4) of all blocks for so many notifications\n");
  print_costs(bench, false);
  print_costs(bench, true);
}
