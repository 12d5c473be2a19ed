/* SPDX-License-Identifier: MIT
 */
#include "command/patience.h"

#include "command/kit.h"
#include "common/clock.h"

enum { FIRST_PAUSE_MS = 500, LONGEST_STORE_PAUSE_MS = 5000 };

void patience_later(struct patience *patience, unsigned longest_ms) {
  unsigned pause_ms = patience->pause_ms ? patience->pause_ms * 2 : FIRST_PAUSE_MS;
  patience->pause_ms = pause_ms < longest_ms ? pause_ms : longest_ms;
  patience->due_ms = clock_mono_ms() + patience->pause_ms;
}

/* A server may come back; a failing folder is damaged and stays so. */
bool patience_may_return(const struct cli *cli, int32_t code) {
  if (code == TIDINGS_E_STORE || code == TIDINGS_E_OUTCOME_UNKNOWN) return kit_store_is_url(cli);
  return code == TIDINGS_E_BUSY;
}

int patience_store(const struct cli *cli, struct patience *patience, int32_t code,
                   const struct tidings_error *error) {
  if (!code) *patience = (struct patience){.pause_ms = 0};
  else if (!patience_may_return(cli, code)) return cli_fail_with(cli, code, error);
  else {
    if (!patience->pause_ms) cli_warn(cli, "tries again with growing pauses: %s", error->text);
    patience_later(patience, LONGEST_STORE_PAUSE_MS);
  }
  return 0;
}
