/* SPDX-License-Identifier: MIT
 *
 * command/kit_preset.h: a preset for a configuration that names none.
 */
#ifndef COMMAND_KIT_PRESET_H
#define COMMAND_KIT_PRESET_H

#include <tidings/abi.h>

/* The text of a configuration (NULL: there is none) with delivery.preset, if it does not have that
 * key. Its other keys stay, and win as ever. A text that is no configuration stays as it is: the
 * plugin says what is wrong with it. `preset` needs no escapes. Free *ret_text. Returns 0, or -1:
 * no memory. */
int kit_put_preset(const char *config, const char *preset, char **ret_text);

#endif
