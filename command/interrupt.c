/* SPDX-License-Identifier: MIT
 */
#include "command/interrupt.h"

#include <stddef.h>
#include <string.h>
#include <time.h>

#include "common/clock.h"

static const int stopping[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
static volatile sig_atomic_t noted;
static bool begun;
static sigset_t outside; /* the mask that lets these signals in */

static void note_signal(int number) { noted = number; }

/* nohup and background jobs ignore a signal on purpose. */
static void catch_unless_ignored(int number) {
  struct sigaction action, was;
  memset(&action, 0, sizeof action);
  action.sa_handler = note_signal;
  if (!sigaction(number, NULL, &was) && was.sa_handler != SIG_IGN) sigaction(number, &action, NULL);
}

void interrupt_catch(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = note_signal;
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
  catch_unless_ignored(SIGHUP);
}

void interrupt_catch_pipe(void) { catch_unless_ignored(SIGPIPE); }

void interrupt_begin(void) {
  struct sigaction action, was;
  sigset_t blocked;
  if (begun) return; /* a second call would take a mask that blocks these signals */
  begun = true;
  memset(&action, 0, sizeof action);
  action.sa_handler = note_signal;
  sigemptyset(&blocked);
  for (size_t i = 0; i < sizeof stopping / sizeof stopping[0]; i++) {
    if (sigaction(stopping[i], NULL, &was) || was.sa_handler == SIG_IGN)
      continue; /* nohup and background jobs ignore a signal on purpose */
    sigaddset(&blocked, stopping[i]);
    sigaction(stopping[i], &action, NULL);
  }
  sigprocmask(SIG_BLOCK, &blocked, &outside);
}

bool interrupt_has_begun(void) { return begun; }

int interrupt_poll(struct pollfd *fds, nfds_t count, int timeout_ms) {
  struct timespec timeout = {.tv_sec = timeout_ms / 1000,
                             .tv_nsec = (long)(timeout_ms % 1000) * 1000000};
  return ppoll(fds, count, timeout_ms < 0 ? NULL : &timeout, &outside);
}

bool interrupt_came(void) {
  (void)interrupt_poll(NULL, 0, 0);
  return interrupt_seen() != 0;
}

int interrupt_seen(void) { return noted; }

int interrupt_exit_code(void) { return 128 + (int)noted; }

void interrupt_pause_ms(unsigned milliseconds) {
  if (noted) return;
  if (begun) (void)interrupt_poll(NULL, 0, (int)milliseconds); /* signals are blocked outside it */
  else clock_sleep_ms(milliseconds);
}
