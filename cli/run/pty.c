/* SPDX-License-Identifier: MIT
 */
#include "cli/run/pty.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

void pty_resize(int like, int master) {
  struct winsize size;
  if (ioctl(like, TIOCGWINSZ, &size) == 0) (void)ioctl(master, TIOCSWINSZ, &size);
}

/* The real terminal translates line feeds itself. */
static int make_raw(int slave) {
  struct termios settings;
  if (tcgetattr(slave, &settings)) return errno;
  cfmakeraw(&settings);
  return tcsetattr(slave, TCSANOW, &settings) ? errno : 0;
}

int pty_open(int like, int *ret_master, int *ret_slave) {
  char name[64];
  int slave = -1, master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (master < 0) return errno;
  int reason = unlockpt(master) ? errno : ptsname_r(master, name, sizeof name);
  if (!reason && (slave = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC)) < 0) reason = errno;
  if (!reason) reason = make_raw(slave);
  if (!reason) {
    pty_resize(like, master);
    *ret_master = master;
    *ret_slave = slave;
    return 0;
  }
  if (slave >= 0) close(slave);
  close(master);
  return reason;
}
