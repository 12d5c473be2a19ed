/* SPDX-License-Identifier: MIT
 *
 * command/session_list.h: lists all sessions of a store, however many there are.
 */
#ifndef COMMAND_SESSION_LIST_H
#define COMMAND_SESSION_LIST_H

#include <jansson.h>
#include <tidings/hostkit.h>

/* Gives the answer of the query `sessions` with all sessions, in its order. Takes over `request`,
 * which has the query's other members. Returns 0, or an error of the query. */
int32_t session_list(struct hostkit *kit, json_t *request, json_t **ret_answer,
                     struct tidings_error *error);

#endif
