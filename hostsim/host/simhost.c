/* SPDX-License-Identifier: MIT
 *
 * host/simhost.c: the functions that a simulated host gives its plugin. The plugin may call from
 * several threads.
 */
#include "host/simhost.h"

#include <stdio.h>
#include <string.h>

static const char *const severity_names[] = {"error", "warning", "info", "debug"};

static void log_line(void *context, uint32_t severity, const struct tidings_span *message) {
  const struct simhost *simhost = context;
  if (simhost->log_to_stderr) {
    fprintf(stderr, "plugin: %s: %.*s\n",
            severity <= TIDINGS_LOG_DEBUG ? severity_names[severity] : "?", (int)message->len,
            message->ptr);
  }
}

static int64_t now_ms(void *context) {
  struct simhost *simhost = context;
  pthread_mutex_lock(&simhost->lock);
  int64_t now = simhost->now_ms;
  pthread_mutex_unlock(&simhost->lock);
  return now;
}

static uint64_t mono_ns(void *context) {
  struct simhost *simhost = context;
  pthread_mutex_lock(&simhost->lock);
  uint64_t now = simhost->mono_ns;
  pthread_mutex_unlock(&simhost->lock);
  return now;
}

uint64_t simhost_random(uint64_t *state) {
  *state += UINT64_C(0x9E3779B97F4A7C15);
  uint64_t mixed = *state;
  mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
  mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94D049BB133111EB);
  return mixed ^ (mixed >> 31);
}

static int32_t fill_random(void *context, void *buffer, size_t len) {
  struct simhost *simhost = context;
  unsigned char *bytes = buffer;
  if (simhost->counts && len == sizeof(uint32_t)) {
    memset(buffer, 0, len);
    return 0;
  }
  pthread_mutex_lock(&simhost->lock);
  for (size_t at = 0; at < len; at += sizeof(uint64_t)) {
    uint64_t word = simhost_random(&simhost->random_state);
    memcpy(bytes + at, &word, len - at < sizeof word ? len - at : sizeof word);
  }
  pthread_mutex_unlock(&simhost->lock);
  return 0;
}

void simhost_init(struct simhost *simhost, uint64_t seed, bool log_to_stderr) {
  memset(simhost, 0, sizeof *simhost);
  (void)pthread_mutex_init(&simhost->lock, NULL);
  simhost->now_ms = SIMHOST_EPOCH_MS;
  simhost->mono_ns = SIMHOST_START_NS;
  simhost->random_state = seed & ~SIMHOST_DRAWS_IDS;
  simhost->counts = !(seed & SIMHOST_DRAWS_IDS);
  simhost->log_to_stderr = log_to_stderr;
  simhost->host.size = sizeof simhost->host;
  simhost->host.context = simhost;
  simhost->host.log = log_line;
  simhost->host.now_ms = now_ms;
  simhost->host.mono_ns = mono_ns;
  simhost->host.random = fill_random;
}

void simhost_finish(struct simhost *simhost) { pthread_mutex_destroy(&simhost->lock); }

void simhost_set_clock(struct simhost *simhost, int64_t now, uint64_t mono) {
  pthread_mutex_lock(&simhost->lock);
  simhost->now_ms = now;
  if (mono > simhost->mono_ns) simhost->mono_ns = mono;
  pthread_mutex_unlock(&simhost->lock);
}
