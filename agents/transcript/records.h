/* SPDX-License-Identifier: MIT
 *
 * agents/transcript/records.h: the reader of transcripts: JSON, one record a line. Which member
 * says what is in the agent's row, struct host_records.
 */
#ifndef AGENTS_TRANSCRIPT_RECORDS_H
#define AGENTS_TRANSCRIPT_RECORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/json.h"
#include "common/span.h"

/* Calls `each` for every whole line that is a JSON object, from the first to the last; other lines
 * are passed over. The value lives as long as the call. */
void hook_records_read(struct tidings_span text,
                       void (*each)(void *context, const struct json *record), void *context);

/* Does one of the values at this path have that text? "message.content.*.id": `*` is each element
 * of an array. */
bool hook_record_has(const struct json *record, const char *path, struct tidings_span text);
/* The same for "PATH=TEXT". */
bool hook_record_is(const struct json *record, const char *path_and_text);

/* In milliseconds since 1970; 0: the record does not say it. */
int64_t hook_record_time_ms(const struct json *record);

#endif
