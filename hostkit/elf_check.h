/* SPDX-License-Identifier: MIT
 *
 * elf_check.h: is a file a whole ELF shared object of this machine? dlopen maps what the headers
 * promise, and a file that is shorter than that kills the process with SIGBUS, so the promises are
 * checked first.
 */
#ifndef HOSTKIT_ELF_CHECK_H
#define HOSTKIT_ELF_CHECK_H

#include <tidings/abi.h>

/* `fd` is open for reading; its offset is not used. `label` is what the error calls the file.
 * Errors: INVAL (no ELF shared object, or cut short), UNSUPPORTED (of another machine), STORE
 * (cannot be read). */
int32_t hk_elf_check(int fd, const char *label, struct tidings_error *error);

#endif
