/* SPDX-License-Identifier: MIT
 *
 * swap_storm.c: four threads make calls while the plugin is swapped again and again. No call is
 * lost, doubled or answered with an error, and nothing stays mapped or open. It is a separate
 * program, so that it also runs under the thread sanitizer.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kit.h"

#define CALLERS 4
#define SWAPS 60

struct storm {
  struct hostkit *hostkit;
  atomic_bool over;
  atomic_uint sent; /* the number of the next event */
  atomic_uint failed;
};

static void *call_on(void *argument) {
  struct storm *storm = argument;
  while (!atomic_load(&storm->over)) {
    char text[32];
    unsigned number = atomic_fetch_add(&storm->sent, 1);
    (void)snprintf(text, sizeof text, "%u", number);
    struct tidings_error error = {.size = sizeof error};
    struct tidings_tool_result result = {
        .size = sizeof result, .session = kit_span("full"), .content = kit_span("ok")};
    struct tidings_reply *reply = NULL;
    struct hostkit_info info = {.size = sizeof info};
    if (kit_event(storm->hostkit, text, &error) ||
        hostkit_tool_result(storm->hostkit, &result, &reply, &error) ||
        hostkit_info(storm->hostkit, &info)) {
      (void)fprintf(stderr, "# event %u: %s\n", number, error.text);
      atomic_fetch_add(&storm->failed, 1);
    }
    if (reply && (reply->delivery_id != 17 ||
                  memcmp(reply->notifications[0]->text.ptr, "it failed", 10) != 0))
      atomic_fetch_add(&storm->failed, 1);
    hostkit_reply_free(reply);
  }
  return NULL;
}

/* Returns the number in a line "BUILD event NUMBER"; -1: it is another line. */
static long event_number(const char *line) {
  static const char word[] = " event ";
  const char *at = strstr(line, word);
  return at ? strtol(at + strlen(word), NULL, 10) : -1;
}

/* Is every event exactly once in the store's log, whichever build wrote it? */
static bool all_arrived(const struct kit *kit, unsigned sent) {
  unsigned char *seen = calloc((size_t)sent + 1, 1);
  char path[160];
  char line[512];
  unsigned wrong = 0;
  (void)snprintf(path, sizeof path, "%s/log", kit->store);
  FILE *log = fopen(path, "re");
  if (!log || !seen) {
    perror(path);
    exit(70);
  }
  while (fgets(line, sizeof line, log)) {
    long number = event_number(line);
    if (number >= 0 && (number >= (long)sent || seen[number]++)) wrong++;
  }
  (void)fclose(log);
  for (unsigned i = 0; i < sent; i++) wrong += seen[i] != 1;
  free(seen);
  printf("# %u events, %u lost or doubled\n", sent, wrong);
  return wrong == 0;
}

int main(void) {
  struct kit kit;
  struct storm storm = {.hostkit = NULL};
  pthread_t threads[CALLERS];
  unsigned failed = 0;
  kit_init(&kit);
  char other[512];
  (void)snprintf(other, sizeof other, "%s", kit_plugin(&kit, "good_b"));
  storm.hostkit = kit_open(&kit, "good_a");
  for (int i = 0; i < CALLERS; i++) threads[i] = kit_start(call_on, &storm);
  for (int i = 0; i < SWAPS; i++) {
    struct tidings_error error = {.size = sizeof error};
    if (hostkit_swap(storm.hostkit, i % 2 ? kit.plugin : other, 30000, &error)) {
      printf("# swap %d: %s\n", i, error.text);
      failed++;
    }
  }
  atomic_store(&storm.over, true);
  for (int i = 0; i < CALLERS; i++) pthread_join(threads[i], NULL);

  struct hostkit_info info = {.size = sizeof info};
  bool counted = hostkit_info(storm.hostkit, &info) == TIDINGS_OK && info.generation == SWAPS + 1;
  unsigned sent = atomic_load(&storm.sent);
  bool arrived = all_arrived(&kit, sent);
  int32_t closed = hostkit_close(storm.hostkit, 0, NULL);
  bool gone = (kit.options.flags & HOSTKIT_KEEP_MAPPED) ||
              !(kit_is_mapped("/good_a.so") || kit_is_mapped("/good_b.so"));
  bool warned = kit.warnings != 0;
  const char *left = kit_finish(&kit);
  printf("1..1\n%s 1 - %d swaps under %d callers\n",
         failed || !counted || !arrived || closed || atomic_load(&storm.failed) || !gone ||
                 warned || left
             ? "not ok"
             : "ok",
         SWAPS, CALLERS);
  printf("# swaps failed: %u, counted: %d, calls failed: %u, closed: %d, unmapped: %d, warned: %d, "
         "left: %s\n",
         failed, counted, atomic_load(&storm.failed), (int)closed, gone, warned,
         left ? left : "nothing");
  return failed || !counted || !arrived || closed || atomic_load(&storm.failed) || !gone ||
                 warned || left
             ? 1
             : 0;
}
