/* SPDX-License-Identifier: MIT
 *
 * store/db/crc32c.h: the checksum of a record (CRC-32C, Castagnoli, reflected).
 */
#ifndef STORE_DB_CRC32C_H
#define STORE_DB_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* Continues `crc` (0 to begin) over more bytes. */
uint32_t crc32c(uint32_t crc, const void *bytes, size_t len);

#endif
