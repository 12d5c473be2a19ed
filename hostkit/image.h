/* SPDX-License-Identifier: MIT
 *
 * image.h: maps a plugin's file. It knows the plugin for databases, which takes libpq from the
 * system, and says what a person installs if that is not there.
 */
#ifndef HOSTKIT_IMAGE_H
#define HOSTKIT_IMAGE_H

#include <stdint.h>

#include "tidings/abi.h"

/* For dlsym and dlclose. The label is what people call the file. INVAL: it cannot be loaded. */
int32_t hk_image_open(const char *path, const char *label, void **ret_image,
                      struct tidings_error *error);

#endif
