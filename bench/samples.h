/* SPDX-License-Identifier: MIT
 *
 * samples.h: times and their medians.
 */
#ifndef SAMPLES_H
#define SAMPLES_H

#include <stddef.h>
#include <stdint.h>

/* A growing list; zero is an empty one. */
struct samples {
  double *at;
  size_t count, capacity;
};
void samples_add(struct samples *samples, double value);
double samples_percentile(struct samples *samples, double percent); /* sorts; 0 if there are none */
static inline double samples_median(struct samples *samples) {
  return samples_percentile(samples, 50);
}
void samples_free(struct samples *samples);

#endif
