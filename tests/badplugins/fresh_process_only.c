/* SPDX-License-Identifier: MIT
 *
 * fresh_process_only.c: its open refuses a process that has descriptor 77, ignores SIGPIPE or
 * blocks a signal: it shows what the probe inherits from a host that does all this.
 */
#include <fcntl.h>
#include <signal.h>

#include "bad.h"

static int32_t open_watchful(OPEN_ARGUMENTS) {
  struct sigaction pipe_action;
  sigset_t blocked;
  UNUSED_ARGUMENTS;
  const char *found = NULL;
  if (fcntl(77, F_GETFD) != -1) found = "descriptor 77 is open";
  else if (sigaction(SIGPIPE, NULL, &pipe_action) || pipe_action.sa_handler != SIG_DFL)
    found = "SIGPIPE is ignored";
  else if (sigprocmask(SIG_BLOCK, NULL, &blocked) || sigismember(&blocked, SIGUSR1))
    found = "SIGUSR1 is blocked";
  (void)snprintf(error->text, sizeof error->text, "%s",
                 found ? found : "all is well, but it refuses anyway");
  return TIDINGS_E_STATE;
}

EXPORT_ENTRY(open_watchful);
