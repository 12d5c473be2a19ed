/* SPDX-License-Identifier: MIT
 */
#include "command/mailbox_retry.h"

#include <stdlib.h>

#include "command/mailbox.h"
#include "common/clock.h"

enum { LONGEST_PAUSE_MS = 30000 };

void mailbox_retry_want(struct mailbox_retry *retry) {
  retry->wanted = true;
  retry->patience.due_ms = 0;
}

void mailbox_retry_try(const struct cli *cli, const struct destination *destination,
                       struct mailbox_retry *retry, bool last) {
  struct tidings_error error = {.size = sizeof error};
  struct mailbox_moved moved = {0};
  char *session = NULL;
  if (!retry->wanted || !destination->address.name) return;
  if (!last && clock_mono_ms() < retry->patience.due_ms) return;
  int32_t code = mailbox_forward(destination->kit, &destination->address, &session, &moved, &error);
  free(session);
  if (!code && !moved.full) {
    *retry = (struct mailbox_retry){.wanted = false};
    return;
  }
  if (code && (!retry->patience.pause_ms || last))
    cli_warn(cli, "it waits in %s%s: %s", destination->session, last ? "" : ", and is tried again",
             error.text);
  patience_later(&retry->patience, LONGEST_PAUSE_MS);
}

int mailbox_retry_wait_ms(const struct mailbox_retry *retry, int other_ms) {
  if (!retry->wanted || !retry->patience.pause_ms) return other_ms;
  int ms = clock_ms_until(retry->patience.due_ms);
  return other_ms < 0 || ms < other_ms ? ms : other_ms;
}
