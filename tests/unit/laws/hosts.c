/* SPDX-License-Identifier: MIT
 *
 * tests/unit/laws/hosts.c: the hosts of the stories about leases: one of this process, one that
 * says it is of another process, which can die, and one that settles on return.
 */
#include <stdio.h>

#include "leases.h"

static char configuration[512];

#define ANY_OF(random, list) (list)[random_below(random, sizeof(list) / sizeof *(list))]

static void configure(struct hosts *hosts, struct random *random) {
  static const char *const orders[] = {"level", "level", "time", "newest"};
  static const char *const overflows[] = {"defer", "defer", "drop_oldest", "drop_lowest"};
  static const int caps[] = {0, 0, 1, 2, 4}, windows[] = {0, 0, 0, 5000};
  const char *overflow = ANY_OF(random, overflows), *order = ANY_OF(random, orders);
  int cap = ANY_OF(random, caps);
  hosts->loses = cap && overflow[1] == 'r';
  (void)snprintf(configuration, sizeof configuration,
                 "{\"delivery\":{\"preset\":\"%s\",\"order\":\"%s\",\"overflow\":\"%s\","
                 "\"max_items\":%d,\"coalesce_window_ms\":%d,\"annihilate\":%s}}",
                 random_below(random, 2) ? "plain" : "grouped", order, overflow, cap,
                 ANY_OF(random, windows), random_below(random, 2) ? "true" : "false");
}

struct tidings_plugin *hosts_as(struct hosts *hosts, enum who who) {
  if (hosts->plugin && hosts->who == who) return hosts->plugin;
  if (hosts->plugin) plugin_end(hosts->plugin);
  hosts->who = who;
  hosts->plugin = plugin_at(
      kit_store,
      (struct plugin_words){.configuration = configuration,
                            .owner_pid = who == HOST_ELSEWHERE ? (uint32_t)hosts->elsewhere.pid : 0,
                            .settle_on_return = who == HOST_ON_RETURN});
  return hosts->plugin;
}

void hosts_begin(struct hosts *hosts, struct random *random) {
  *hosts = (struct hosts){.elsewhere = child_living()};
  configure(hosts, random);
}

void hosts_replace(struct hosts *hosts) {
  child_kill(&hosts->elsewhere);
  if (hosts->plugin) plugin_end(hosts->plugin);
  hosts->plugin = NULL;
  hosts->elsewhere = child_living(); /* it must not inherit what the plugin has open */
}

void hosts_end(struct hosts *hosts) {
  child_kill(&hosts->elsewhere);
  if (hosts->plugin) plugin_end(hosts->plugin);
}
