/* SPDX-License-Identifier: MIT
 *
 * command/project.h: lays a project's configuration over the user's, in this process. The project's
 * file comes with a repository that somebody else may have written: if anything is wrong with it,
 * the user's configuration stays in force and the call goes on.
 */
#ifndef COMMAND_PROJECT_H
#define COMMAND_PROJECT_H

#include <jansson.h>

#include "command/kit.h"

/* Finds the project's file of the folder, like config_file_of_project. *ret_path stays NULL if
 * $TIDINGS_NO_PROJECT is set. */
int32_t project_find(const char *folder, char **ret_path, struct tidings_error *error);

/* Reads a project's file: an object that has only keys that a project may set. Free it. The error's
 * text begins with the path. */
int32_t project_read(const char *path, json_t **ret_config, struct tidings_error *error);

/* Reads the user's file. If there is none, *ret_config stays NULL, and *ret_path may. Free both. */
int32_t project_read_user(const struct cli *cli, char **ret_path, json_t **ret_config,
                          struct tidings_error *error);

/* Lays a project's file over the configuration of kit_open. On an error the project's file has no
 * effect.
 */
int32_t project_apply(const struct cli *cli, struct hostkit *kit, const char *path,
                      struct tidings_error *error);

/* The same with the project's file, if there is one, of the folder that the session's host has
 * named, or else of `folder` ("": none). A mistake in it is only a warning. */
void project_lay(const struct cli *cli, struct hostkit *kit, const char *session,
                 const char *folder);

/* The same with the file of `folder` ("": none). */
void project_lay_in(const struct cli *cli, struct hostkit *kit, const char *folder);

/* The same as project_lay with the current folder. */
void project_lay_here(const struct cli *cli, struct hostkit *kit, const char *session);

#endif
