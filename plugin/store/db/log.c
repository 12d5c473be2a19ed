/* SPDX-License-Identifier: MIT
 *
 * store/db/log.c: lines that a store writes to its host's log.
 */
#include <stdarg.h>
#include <stdio.h>

#include "store/db/db.h"

void db_log(const struct db *db, uint32_t severity, const char *format, ...) {
  const struct db_log_to *to = (const struct db_log_to *)(const void *)db;
  char text[512];
  va_list args;
  if (!to->log) return;
  va_start(args, format);
  (void)vsnprintf(text, sizeof text, format, args);
  va_end(args);
  to->log(to->context, severity, text);
}
