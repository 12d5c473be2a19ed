/* SPDX-License-Identifier: MIT
 *
 * missing_function.c: its entry has no function open.
 */
#include "bad.h"

EXPORT_ENTRY(NULL);
