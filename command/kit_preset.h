/* SPDX-License-Identifier: MIT
 *
 * command/kit_preset.h: a preset for a configuration that names none.
 */
#ifndef COMMAND_KIT_PRESET_H
#define COMMAND_KIT_PRESET_H

#include <tidings/abi.h>

/* Adds delivery.preset to the text of a configuration (NULL: there is none) that lacks this key.
 * Other keys stay, and override the preset as usual. A text that is no configuration stays as it
 * is: the plugin says what is wrong with it. `preset` needs no escapes. Free *ret_text. Returns 0,
 * or -1: no memory. */
int kit_put_preset(const char *config, const char *preset, char **ret_text);

#endif
