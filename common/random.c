/* SPDX-License-Identifier: MIT
 */
#include "common/random.h"

#include <errno.h>
#include <sys/random.h>
#include <sys/types.h>

int random_fill(void *buffer, size_t len) {
  for (size_t done = 0; done < len;) {
    ssize_t got = getrandom((char *)buffer + done, len - done, 0);
    if (got < 0 && errno != EINTR) return errno;
    done += got < 0 ? 0 : (size_t)got;
  }
  return 0;
}
