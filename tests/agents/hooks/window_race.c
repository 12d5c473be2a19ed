/* SPDX-License-Identifier: MIT
 *
 * tests/agents/hooks/window_race.c: a process that looks for resumed sessions notes that a session
 * is loaded, while a hook of that session records its window. The linker replaces link and rename
 * by __wrap_link and __wrap_rename, so that the hook always writes just before that process.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agents/wait/place.h"
#include "agents/wait/window.h"
#include "command/paths.h"
#include "common/file.h"
#include "tests/agents/hooks/race.h"

static const struct cli cli = {.store = "/store"};
static const struct hook_call call = {.session = "s"};
static const char of_hook[] = "4194303 77\n";
enum { DAEMON = 1, MOST_RECORD = 64 };

static char record[4200];
static bool hook_comes;

static void put(const char *text) { MUST(!file_write_whole(record, text, strlen(text))); }

static void let_hook_write(void) {
  bool comes = hook_comes;
  hook_comes = false;
  if (comes) put(of_hook);
}

int __real_link(const char *from, const char *to);
int __wrap_link(const char *from, const char *to);
int __wrap_link(const char *from, const char *to) {
  let_hook_write();
  return __real_link(from, to);
}

int __real_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to) {
  let_hook_write();
  return __real_rename(from, to);
}

static void expect(const char *wanted) {
  char *text = NULL;
  size_t len = 0;
  hook_window_loaded(&cli, &call, DAEMON);
  MUST(!file_read_whole(record, MOST_RECORD, &text, &len));
  MUST(len == strlen(wanted) && memcmp(text, wanted, len) == 0);
  MUST(hook_window_is_loaded(&cli, &call, DAEMON));
  free(text);
}

int main(void) {
  race_make_folder("window-race");
  MUST(setenv("XDG_STATE_HOME", race_folder, 1) == 0);
  char *folder = hook_place_folder(), *place = hook_place_path(&cli, &call, DAEMON);
  MUST(folder && place && !paths_make_folders(folder));
  (void)snprintf(record, sizeof record, "%s.window", place);
  MUST(!hook_window_is_loaded(&cli, &call, DAEMON));
  expect("0 0\n");
  printf("ok 1 - a session without a record is noted as loaded\n");
  put(of_hook);
  expect(of_hook);
  printf("ok 2 - the record of a window stays\n");
  put("4194303 77 ended\n");
  MUST(!hook_window_is_loaded(&cli, &call, DAEMON));
  expect(of_hook);
  printf("ok 3 - the record of a window that had ended says so no longer\n");
  MUST(!remove(record));
  hook_comes = true;
  expect(of_hook);
  MUST(!hook_comes);
  printf("ok 4 - the record that a hook writes at the same moment stays\n1..4\n");
  free(folder);
  free(place);
  return 0;
}
