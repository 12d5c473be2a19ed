/* SPDX-License-Identifier: MIT
 *
 * host/foreign.c: starts and prepares hosts in other languages.
 */
#include "host/foreign.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "command/paths.h"
#include "common/folder.h"
#include "common/spawn.h"
#include "host/clock_page.h"

/* "exec COMMAND", because without exec, killing one of the host and its shell would leave the
 * other. */
static char *used;
static char *folder;
static char *clock_plugin;
static struct clock_page *page;

static int map_new_page(const char *path) {
  int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return errno;
  void *mapped = MAP_FAILED;
  if (ftruncate(fd, sizeof *page) == 0)
    mapped = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  int reason = mapped == MAP_FAILED ? errno : 0;
  close(fd);
  if (!reason) page = mapped;
  return reason;
}

int foreign_use(const char *command) {
  folder = folder_make_temporary(NULL, "hostsim-foreign");
  if (!folder) return errno;
  char *path = paths_join(folder, "clock");
  clock_plugin = paths_beside_program("hostsim-clock.so", HOSTSIM_CLOCK_FROM_PROGRAM);
  if (asprintf(&used, "exec %s", command) < 0) used = NULL;
  int reason = !path || !clock_plugin || !used ? ENOMEM : map_new_page(path);
  if (!reason && setenv(CLOCK_PAGE_VARIABLE, path, 1) != 0) reason = errno;
  free(path);
  if (reason) foreign_finish();
  return reason;
}

bool foreign_in_use(void) { return used != NULL; }

void foreign_finish(void) {
  (void)folder_remove_all(folder);
  free(folder);
  free(clock_plugin);
  free(used);
  folder = clock_plugin = used = NULL;
}

int foreign_start(uint64_t seed, pid_t *ret_pid, int *ret_fd) {
  int pair[2];
  const char *const argv[] = {"sh", "-c", used, NULL};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return errno;
  page->seed = seed;
  const struct spawn spawn = {
      .program = "/bin/sh", .argv = argv, .in = SPAWN_NULL, .channel = pair[1]};
  int reason = spawn_start(&spawn, ret_pid);
  close(pair[1]);
  if (reason) close(pair[0]);
  else *ret_fd = pair[0];
  return reason;
}

void foreign_prepare(json_t *request) {
  const json_t *now = json_object_get(request, "now");
  const char *op = json_string_value(json_object_get(request, "op"));
  if (now) {
    page->now_ms = json_integer_value(now);
    page->mono_ns = (uint64_t)json_integer_value(json_object_get(request, "mono"));
  }
  if (!op || strcmp(op, "open") != 0) return;
  const char *plugin = json_string_value(json_object_get(request, "plugin"));
  snprintf(page->plugin, sizeof page->plugin, "%s", plugin ? plugin : "");
  json_object_set_new(request, "plugin", json_string(clock_plugin));
}
