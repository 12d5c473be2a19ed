/* SPDX-License-Identifier: MIT
 */
#include "samples.h"

#include <stdlib.h>

#include "bench.h"

void samples_add(struct samples *samples, double value) {
  if (samples->count == samples->capacity) {
    samples->capacity = samples->capacity ? samples->capacity * 2 : 256;
    samples->at = realloc(samples->at, samples->capacity * sizeof(samples->at[0]));
    if (!samples->at) bench_die("out of memory");
  }
  samples->at[samples->count++] = value;
}

static int by_value(const void *left, const void *right) {
  const double *a = left, *b = right;
  return *a < *b ? -1 : *a > *b;
}

double samples_percentile(struct samples *samples, double percent) {
  if (samples->count == 0) return 0;
  qsort(samples->at, samples->count, sizeof(samples->at[0]), by_value);
  size_t i = (size_t)(percent / 100 * (double)(samples->count - 1) + 0.5);
  return samples->at[i];
}

void samples_free(struct samples *samples) {
  free(samples->at);
  *samples = (struct samples){0};
}
