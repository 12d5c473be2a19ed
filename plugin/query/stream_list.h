/* SPDX-License-Identifier: MIT
 *
 * query/stream_list.h: reads a list, as the query `stream` answers it, for the query `render`.
 * Private to query/.
 */
#ifndef QUERY_STREAM_LIST_H
#define QUERY_STREAM_LIST_H

#include "event/field.h"
#include "query/request.h"

/* Keeps the carriers that have notifications. Returns 0, SCHEMA, TOO_BIG, NOMEM. */
int stream_list_read(const struct json *list, struct arena *arena, struct request *request,
                     struct tidings_error *error);

#endif
