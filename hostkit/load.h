/* SPDX-License-Identifier: MIT
 *
 * load.h: loads an image into this process, opens an instance, closes and unloads it again.
 */
#ifndef HOSTKIT_LOAD_H
#define HOSTKIT_LOAD_H

#include <stdbool.h>

#include "copy.h"
#include "settings.h"

struct hk_instance {
  void *image; /* NULL: nothing is loaded; then nothing below may be used but copy */
  struct tidings_plugin *plugin; /* the instance, which its functions take */
  /* The plugin's tables as this side knows them: zeros after what the plugin has. The functions and
   * the entry's strings live in the image. */
  struct tidings_plugin functions;
  struct tidings_query query; /* all zeros: the plugin has no such extension */
  struct tidings_wake wake;   /* the same */
  struct tidings_entry entry;
  /* the copy from which the image was mapped; its file is unlinked, its descriptor is open */
  struct hk_copy copy;
};

/* Copies the file, checks and probes the copy. Changes nothing in this process. Errors: as
 * hostkit_open. */
int32_t hk_prepare(const char *path, const struct hk_settings *settings, struct hk_copy *ret_copy,
                   struct tidings_error *error);

/* Loads a prepared copy and reads its entry, but opens no instance: only image, entry and copy of
 * *ret_instance may be used. Otherwise like hk_load. */
int32_t hk_load_entry(struct hk_copy *copy, const char *label, const struct hk_settings *settings,
                      struct hk_instance *ret_instance, struct tidings_error *error);
/* Loads a prepared copy and opens an instance. On success the copy has moved into *ret_instance; on
 * failure it is unlinked but still the caller's, and nothing stays loaded. `label` is what errors
 * call the plugin. */
int32_t hk_load(struct hk_copy *copy, const char *label, const struct hk_settings *settings,
                struct hk_instance *ret_instance, struct tidings_error *error);

/* Unloads the image of an instance that was closed, and checks that it is no longer mapped. The
 * copy stays. */
void hk_unload(struct hk_instance *instance, const struct hk_settings *settings);

#endif
