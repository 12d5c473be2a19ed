/* SPDX-License-Identifier: MIT
 */
#include "listen/counts.h"

#include <stdio.h>

/* Any other status counts as the last one. */
static const unsigned statuses[COUNTS_STATUSES] = {400, 401, 404, 405, 408, 411,
                                                   413, 415, 421, 429, 431, 503};

void counts_refused(struct counts *counts, unsigned status) {
  size_t at = 0;
  while (at + 1 < COUNTS_STATUSES && statuses[at] != status) at++;
  atomic_fetch_add(&counts->refused[at], 1);
}

static json_t *count_of(const atomic_ullong *count) {
  return json_integer((json_int_t)atomic_load(count));
}

json_t *counts_json(const struct counts *counts) {
  char name[16];
  json_t *refused = json_object();
  for (size_t i = 0; i < COUNTS_STATUSES; i++) {
    (void)snprintf(name, sizeof name, "%u", statuses[i]);
    if (atomic_load(&counts->refused[i]))
      json_object_set_new(refused, name, count_of(&counts->refused[i]));
  }
  return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "accepted", count_of(&counts->accepted),
                   "repeated", count_of(&counts->repeated), "overtaken",
                   count_of(&counts->overtaken), "ignored", count_of(&counts->ignored),
                   "unaddressed", count_of(&counts->unaddressed), "refused", refused);
}

void counts_copy(struct counts *counts, const struct counts *from) {
  atomic_store(&counts->accepted, atomic_load(&from->accepted));
  atomic_store(&counts->repeated, atomic_load(&from->repeated));
  atomic_store(&counts->overtaken, atomic_load(&from->overtaken));
  atomic_store(&counts->ignored, atomic_load(&from->ignored));
  atomic_store(&counts->unaddressed, atomic_load(&from->unaddressed));
  for (size_t i = 0; i < COUNTS_STATUSES; i++)
    atomic_store(&counts->refused[i], atomic_load(&from->refused[i]));
}
