/* SPDX-License-Identifier: MIT
 *
 * sized.h: applies the size rule of the contract to structs that hostkit reads: their writer may
 * know fewer fields than hostkit, or more. Only these functions read a struct in the other side's
 * memory.
 */
#ifndef HOSTKIT_SIZED_H
#define HOSTKIT_SIZED_H

#include <tidings/abi.h>

/* Copies the fields that the writer of *theirs knew into *ours; the other fields are zero, and the
 * size is our_size. NULL reads as a struct of zeros. */
void hk_read_sized(void *ours, size_t our_size, const void *theirs);

/* The same for a struct that a caller filled: an error if it is a null pointer or shorter than
 * `least`, TIDINGS_SIZE_TO its last field of the version that introduced it. Errors: INVAL. */
int32_t hk_copy_in(void *ours, size_t our_size, const void *theirs, size_t least, const char *name,
                   struct tidings_error *error);

#define HK_READ_SIZED(ours, theirs) hk_read_sized((ours), sizeof *(ours), (theirs))
#define HK_COPY_IN(ours, theirs, least, name, error)                                               \
  hk_copy_in((ours), sizeof *(ours), (theirs), (least), (name), (error))

#endif
