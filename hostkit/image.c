/* SPDX-License-Identifier: MIT
 */
#include "image.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>

#include "common/store_url.h"
#include "errors.h"

/* Returns the end of the sentence, which follows the loader's words. */
static const char *what_to_install(const char *plugin) {
  if (!store_url_is_plugin(plugin)) return "";
  void *library = dlopen("libpq.so.5", RTLD_LAZY | RTLD_LOCAL);
  if (!library)
    return "; a store in a database needs libpq 14 or newer (the package libpq5 of Debian and "
           "Ubuntu, libpq of Alpine and Fedora)";
  bool is_old = !dlsym(library, "PQenterPipelineMode");
  dlclose(library);
  return is_old ? "; a store in a database needs libpq 14 or newer: this system's is older" : "";
}

int32_t hk_image_open(const char *path, const char *label, void **ret_image,
                      struct tidings_error *error) {
  char reason[256]; /* the loader's text is lost at its next call */
  void *image = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (image) {
    *ret_image = image;
    return TIDINGS_OK;
  }
  (void)snprintf(reason, sizeof reason, "%s", dlerror());
  return hk_error(error, TIDINGS_E_INVAL, "%s cannot be loaded: %s%s", label, reason,
                  what_to_install(label));
}
