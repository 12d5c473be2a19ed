/* SPDX-License-Identifier: MIT
 *
 * wake.c: the extension `tidings.wake/1` for hosts that swap. A host gets a duplicate of the
 * descriptor, which works after a swap too: the FIFO belongs to the process, not to the image,
 * and the new image knows that the host waits.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "errors.h"
#include "kit.h"

static int32_t no_extension(struct tidings_error *error) {
  return hk_error(error, TIDINGS_E_UNSUPPORTED,
                  "this plugin has no extension %s: use the replies' wake_at", TIDINGS_EXT_WAKE);
}

static int32_t duplicate(const struct hk_instance *instance, int32_t *ret_fd,
                         struct tidings_error *error) {
  int32_t theirs = -1;
  int32_t code = instance->wake.descriptor(instance->plugin, &theirs, error);
  if (code) return code;
  int fd = fcntl(theirs, F_DUPFD_CLOEXEC, 0);
  if (fd < 0)
    return hk_error(error, TIDINGS_E_NOMEM, "the wake descriptor cannot be duplicated: %s",
                    strerror(errno));
  *ret_fd = fd;
  return TIDINGS_OK;
}

int32_t hostkit_wake_descriptor(struct hostkit *kit, int32_t *ret_fd, struct tidings_error *error) {
  if (!ret_fd) return hk_error(error, TIDINGS_E_INVAL, "ret_fd is a null pointer");
  int32_t code = hk_begin(kit, error);
  if (code) return code;
  code = kit->now.wake.descriptor ? duplicate(&kit->now, ret_fd, error) : no_extension(error);
  if (!code) atomic_store(&kit->waits, true);
  hk_end(kit);
  return code;
}

int32_t hostkit_next_session(struct hostkit *kit, char *buffer, size_t buffer_size, size_t *ret_len,
                             struct tidings_error *error) {
  if (!buffer || !ret_len)
    return hk_error(error, TIDINGS_E_INVAL, "%s is a null pointer", buffer ? "ret_len" : "buffer");
  int32_t code = hk_begin(kit, error);
  if (code) return code;
  code = kit->now.wake.next_session
             ? kit->now.wake.next_session(kit->now.plugin, buffer, buffer_size, ret_len, error)
             : no_extension(error);
  hk_end(kit);
  return code;
}

void hk_wait_again(struct hostkit *kit) {
  struct tidings_error why = {.size = sizeof why};
  int32_t fd = -1;
  if (!atomic_load(&kit->waits)) return;
  int32_t code = kit->now.wake.descriptor ? kit->now.wake.descriptor(kit->now.plugin, &fd, &why)
                                          : no_extension(&why);
  if (!code) return;
  hk_log(&kit->settings, TIDINGS_LOG_WARNING,
         "after the swap the wake descriptor stays silent; use the replies' wake_at:");
  hk_log(&kit->settings, TIDINGS_LOG_WARNING, why.text[0] ? why.text : hostkit_error_name(code));
}
