/* SPDX-License-Identifier: MIT
 *
 * wrong_major.c: has version 2.0 of the contract. It has only the eight bytes that never change, so
 * reading further would be noticed.
 */
#include <tidings/abi.h>

struct any_entry {
  uint32_t size;
  uint16_t abi_major;
  uint16_t abi_minor;
};

extern const struct any_entry tidings_entry;
__attribute__((visibility("default"))) const struct any_entry tidings_entry = {
    .size = 4096, .abi_major = TIDINGS_ABI_MAJOR + 1, .abi_minor = 0};
