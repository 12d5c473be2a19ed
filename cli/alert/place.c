/* SPDX-License-Identifier: MIT
 */
#include "cli/alert/place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "command/kit.h"
#include "command/paths.h"
#include "common/fnv.h"

static uint64_t mix(uint64_t hash, const char *text) {
  return fnv_byte(fnv_span(hash, span_text(text)), 0xff);
}

/* The places of all sessions are bytes of one file, which nobody reads or writes: there is nothing
 * to remove. */
static struct flock place_of(const struct cli *cli, const char *session, uint32_t owner) {
  char *store = kit_store_path(cli);
  uint64_t hash = mix(mix(FNV_START ^ owner, store ? store : ""), session);
  free(store);
  return (struct flock){
      .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = (off_t)(hash >> 2), .l_len = 1};
}

/* Other users cannot open it. Returns a descriptor; -1: it cannot be made. */
static int open_places(void) {
  char *folder = paths_in_home("XDG_STATE_HOME", ".local/state", "tidings/logs");
  char *path = folder && !paths_make_folders(folder) ? paths_join(folder, "alerts.lock") : NULL;
  int fd = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600) : -1;
  free(path);
  free(folder);
  return fd;
}

bool alert_take_place(const struct cli *cli, const char *session, uint32_t owner, int *ret_fd) {
  struct flock place = place_of(cli, session, owner);
  int fd = open_places();
  bool free_or_unknown = fd < 0 || !fcntl(fd, F_OFD_SETLK, &place) || errno != EWOULDBLOCK;
  if (free_or_unknown) *ret_fd = fd;
  else close(fd);
  return free_or_unknown;
}
