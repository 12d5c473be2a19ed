/* SPDX-License-Identifier: MIT
 *
 * Ctrl-C and SIGTERM: noted, so that loops end and clean up behind themselves.
 */
#include "interrupt.h"

#include <signal.h>
#include <string.h>
#include <time.h>

static volatile sig_atomic_t seen;

static void note(int number) { seen = number; }

void interrupt_catch(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = note;
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
}

bool interrupt_seen(void) { return seen != 0; }

int interrupt_exit_code(void) { return 128 + (int)seen; }

void interrupt_pause_ms(unsigned milliseconds) {
  struct timespec pause = {.tv_sec = milliseconds / 1000,
                           .tv_nsec = (long)(milliseconds % 1000) * 1000000L};
  if (!interrupt_seen()) nanosleep(&pause, NULL);
}
