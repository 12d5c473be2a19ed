/* SPDX-License-Identifier: MIT
 *
 * crowd/part.c: functions that hosts and submitters share.
 */
#include "crowd.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct tidings_error last_error = {.size = sizeof last_error};

_Noreturn void wrong(const char *format, ...) {
  char line[1024];
  va_list list;
  va_start(list, format);
  vsnprintf(line, sizeof line, format, list);
  va_end(list);
  printf("FAILED: %s\n", line);
  fflush(NULL);
  _exit(1);
}

void board_mark_newest(struct board *board) {
  const struct carrier *newest =
      board->carrier_count > 0 ? &board->carriers[board->carrier_count - 1] : NULL;
  for (unsigned i = 0; newest && i < newest->count; i++) {
    if (atomic_exchange(&newest->notes[i]->delivered, 1) == 0)
      atomic_fetch_add(&board->delivered, 1);
  }
}

void board_lock(struct board *board) {
  int code = pthread_mutex_lock(&board->lock);
  if (code == EOWNERDEAD) {
    code = pthread_mutex_consistent(&board->lock);
    board_mark_newest(board);
  }
  if (code != 0) wrong("the board's lock: %s", strerror(code));
}

void board_unlock(struct board *board) { pthread_mutex_unlock(&board->lock); }

void part_open(struct part *part, uint32_t role) {
  const struct hostkit_options options = {.size = sizeof options,
                                          .flags = HOSTKIT_NO_PROBE,
                                          .plugin_path = part->plugin,
                                          .store_dir = part->store,
                                          .role = role,
                                          .hook_budget_ms = 1000};
  int32_t code;
  while ((code = hostkit_open(&options, &part->hostkit, &last_error)) == TIDINGS_E_BUSY)
    usleep(1000);
  if (code != 0) wrong("open: %s", last_error.text);
}

_Noreturn void part_leave(struct part *part) {
  if (hostkit_close(part->hostkit, 60000, &last_error) != 0) wrong("close: %s", last_error.text);
  exit(0);
}

int32_t part_event(struct part *part, struct tidings_reply **ret_reply, const char *format, ...) {
  static char text[65536];
  va_list list;
  va_start(list, format);
  int len = vsnprintf(text, sizeof text, format, list);
  va_end(list);
  if (len < 0 || (size_t)len >= sizeof text) wrong("an event of %d bytes", len);
  const struct tidings_span event = {text, (size_t)len};
  *ret_reply = NULL;
  return hostkit_event(part->hostkit, &event, ret_reply, &last_error);
}
