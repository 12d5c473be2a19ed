/* SPDX-License-Identifier: MIT
 *
 * image.h: maps a plugin's file. The plugin for databases needs the system's libpq: if that is
 * missing, the error says what to install.
 */
#ifndef HOSTKIT_IMAGE_H
#define HOSTKIT_IMAGE_H

#include <stdint.h>

#include "tidings/abi.h"

/* *ret_image is for dlsym and dlclose. `label` is what errors call the file. Errors: INVAL (it
 * cannot be loaded). */
int32_t hk_image_open(const char *path, const char *label, void **ret_image,
                      struct tidings_error *error);

#endif
