/* SPDX-License-Identifier: MIT
 *
 * cli/toml.h: a configuration that is written in TOML, as the JSON that the plugin reads. It is the
 * only door to C++ here: what throws inside does not throw outside.
 */
#ifndef CLI_TOML_H
#define CLI_TOML_H

#include <stddef.h>
#include <tidings/tidings.h>

#ifdef __cplusplus
extern "C" {
#endif

/* *ret_json is an object in compact JSON; free it. Keys are in alphabetical order. Errors: INVAL:
 * not TOML, with line and column; SCHEMA: a value that JSON does not have (a date, a time, nan,
 * inf, the NUL character), with its key; TOO_BIG: nested too deep; NOMEM. */
int32_t toml_to_json(const char *text, size_t len, char **ret_json, struct tidings_error *error);

#ifdef __cplusplus
}
#endif

#endif
