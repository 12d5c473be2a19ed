/* SPDX-License-Identifier: MIT
 */
#include <sys/syscall.h>
#include <unistd.h>

#include "common/libc.h"
#include "common/open_files.h"

static int close_one(int fd, void *context) {
  (void)context;
  close(fd);
  return 0;
}

/* Kernels before 5.9 do not have the call, and some sandboxes refuse calls that they do not
 * know. */
void libc_close_range(unsigned first, unsigned last) {
  if (first <= last && syscall(__NR_close_range, first, last, 0u))
    (void)visit_open(first, last, close_one, NULL);
}
