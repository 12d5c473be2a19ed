/* SPDX-License-Identifier: MIT
 *
 * tests/mcp/news_away.c: a database cannot be reached while the wrapper opens its store, or settles
 * a delivery. The linker replaces those two calls by the functions below.
 */
#include <stdio.h>
#include <stdlib.h>

#include "mcp/news.h"

#define MUST(condition)                                                                            \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      printf("not ok - %s:%d: %s\n", __FILE__, __LINE__, #condition);                              \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)

static int32_t answered; /* by the store */
static int opens, settles;

/* NOLINTBEGIN(bugprone-reserved-identifier,cert-*): names that the linker gives */
int32_t __wrap_kit_open(const struct cli *cli, uint32_t role, uint32_t owner,
                        struct hostkit **ret_kit, struct tidings_error *error);
int32_t __wrap_kit_open(const struct cli *cli, uint32_t role, uint32_t owner,
                        struct hostkit **ret_kit, struct tidings_error *error) {
  (void)cli;
  (void)role;
  (void)owner;
  (void)ret_kit;
  (void)error;
  opens++;
  return answered;
}

int32_t __wrap_kit_settle(struct hostkit *kit, uint64_t delivery, uint32_t outcome,
                          uint32_t patience_ms, struct tidings_reply **ret_reply,
                          struct tidings_error *error);
int32_t __wrap_kit_settle(struct hostkit *kit, uint64_t delivery, uint32_t outcome,
                          uint32_t patience_ms, struct tidings_reply **ret_reply,
                          struct tidings_error *error) {
  (void)kit;
  (void)patience_ms;
  (void)ret_reply;
  (void)error;
  MUST(delivery == 7 && outcome == TIDINGS_COMMITTED);
  settles++;
  return answered;
}
/* NOLINTEND(bugprone-reserved-identifier,cert-*) */

static void make(const struct cli *cli, struct mcp_news *news) {
  *news = (struct mcp_news){.cli = cli,
                            .owner = 1,
                            .store_lock = PTHREAD_MUTEX_INITIALIZER,
                            .lock = PTHREAD_MUTEX_INITIALIZER,
                            .leases = {{.delivery = 7, .was_read = true}}};
}

int main(void) {
  static struct mcp_news news;
  static const struct cli_program own = {.name = "test"};
  static const struct cli_verb verb = {.name = "test"};
  const struct cli remote = {.program = &own, .verb = &verb, .store = "postgresql://away/x"},
                   folder = {.program = &own, .verb = &verb, .store = "/nowhere"};
  const int32_t away[] = {TIDINGS_E_STORE, TIDINGS_E_OUTCOME_UNKNOWN};
  for (size_t i = 0; i < sizeof away / sizeof *away; i++) {
    answered = away[i];
    make(&remote, &news);
    mcp_news_open(&news, "");
    MUST(mcp_news_is_to_open(&news, ""));
    mcp_news_settle(&news);
    MUST(mcp_news_is_to_settle(&news));
  }
  MUST(opens == 2 && settles == 2);
  printf("ok 1 - what a database that is away did not take is tried again\n");
  make(&folder, &news);
  mcp_news_open(&news, "");
  mcp_news_open(&news, "");
  MUST(!mcp_news_is_to_open(&news, "") && opens == 3);
  printf("ok 2 - a folder that cannot be opened is not\n1..2\n");
  return 0;
}
