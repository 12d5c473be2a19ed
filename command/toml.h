/* SPDX-License-Identifier: MIT
 *
 * command/toml.h: turns a configuration in TOML into the JSON that the plugin reads.
 */
#ifndef COMMAND_TOML_H
#define COMMAND_TOML_H

#include <stddef.h>
#include <tidings/tidings.h>

/* *ret_json is an object in compact JSON; free it. The text is TOML 1.1. Keys are in alphabetical
 * order, whatever the order of the lines. Errors: INVAL: not TOML, with the line; SCHEMA: a value
 * that JSON does not have (a date, a time, nan, inf, the NUL character), with its key, line and
 * column; TOO_BIG: nested too deep, a key of too many parts, too many keys; NOMEM. An inline table
 * in another one may be extended inside the other's braces, which TOML forbids. */
int32_t toml_to_json(const char *text, size_t len, char **ret_json, struct tidings_error *error);
/* The same, but dates, times, nan and inf become strings: for a text that is only looked through
 * or compared. */
int32_t toml_to_json_any(const char *text, size_t len, char **ret_json,
                         struct tidings_error *error);

#endif
