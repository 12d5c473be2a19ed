/* SPDX-License-Identifier: MIT
 *
 * command/config_file.h: finds the configuration files of the user and of a project, and reads them
 * as JSON, whether they are JSON or TOML.
 */
#ifndef COMMAND_CONFIG_FILE_H
#define COMMAND_CONFIG_FILE_H

#include <stdbool.h>

#include "command/cli.h"

enum { CONFIG_FILE_MOST = 1 << 20, CONFIG_FILE_MOST_OF_PROJECT = 64 << 10 };

/* Finds the user's file: --config, else $TIDINGS_CONFIG, else config.json or config.toml in the
 * folder of configurations. *ret_named: the user has named the file, so it has to exist. If not,
 * *ret_path is a file that may be missing, or NULL when there is no home. Free it. Errors: SCHEMA:
 * there are both; NOMEM. */
int32_t config_file_of_user(const struct cli *cli, char **ret_path, bool *ret_named,
                            struct tidings_error *error);

/* The nearest .tidings.json or .tidings.toml in `folder` or above it, up to the root of the
 * repository, which is the nearest folder that has .git. Without a repository only `folder` itself
 * counts. *ret_path stays NULL when there is none, or no such folder. Free it. Errors: as above. */
int32_t config_file_of_project(const char *folder, char **ret_path, struct tidings_error *error);

bool config_file_is_of_project(const char *path); /* by its name */

/* Reads the file as JSON text, which is never empty and has no NUL inside. Free it. *ret_missing
 * (may be NULL) becomes true if the file does not exist. Errors, all with the path: STORE (it
 * cannot be read), SCHEMA, INVAL, TOO_BIG (its contents are wrong). */
int32_t config_file_read(const char *path, size_t most, char **ret_json, bool *ret_missing,
                         struct tidings_error *error);

#endif
