/* SPDX-License-Identifier: MIT
 *
 * no_symbol.c: a sound shared object that is no plugin.
 */
#include <stdint.h>

extern const uint32_t something_else;
__attribute__((visibility("default"))) const uint32_t something_else = 1;
