/* SPDX-License-Identifier: MIT
 *
 * getauxval.c: libgcc for arm64 asks glibc, by its inner name, which atomic instructions there are.
 */
#include <sys/auxv.h>

extern unsigned long __getauxval(unsigned long type);
unsigned long __getauxval(unsigned long type) { return getauxval(type); }
