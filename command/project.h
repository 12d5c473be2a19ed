/* SPDX-License-Identifier: MIT
 *
 * command/project.h: the configuration of a project, laid over the user's in this process. It comes
 * with a repository that somebody else may have written: whatever is wrong with it, the user's
 * stays in force and the call goes on.
 */
#ifndef COMMAND_PROJECT_H
#define COMMAND_PROJECT_H

#include <jansson.h>

#include "command/kit.h"

/* The project's file of that folder, as config_file_of_project finds it; NULL in *ret_path too
 * where $TIDINGS_NO_PROJECT is set. */
int32_t project_find(const char *folder, char **ret_path, struct tidings_error *error);

/* Reads a project's file: an object, with keys that a project may set and no others. Free it. The
 * error's text begins with the path. */
int32_t project_read(const char *path, json_t **ret_config, struct tidings_error *error);

/* Reads the user's file: *ret_config stays NULL, and *ret_path may, when there is none. Free them.
 */
int32_t project_read_user(const struct cli *cli, char **ret_path, json_t **ret_config,
                          struct tidings_error *error);

/* Lays a project's file over what kit_open has put in force; on an error nothing of it is in force.
 */
int32_t project_apply(const struct cli *cli, struct hostkit *kit, const char *path,
                      struct tidings_error *error);

/* The same with the file of the folder that the session's host has named, or else of `folder` ("":
 * none), if there is one. A mistake is a warning. */
void project_lay(const struct cli *cli, struct hostkit *kit, const char *session,
                 const char *folder);

/* The same with the file of this very folder ("": none). */
void project_lay_in(const struct cli *cli, struct hostkit *kit, const char *folder);

/* The same; a session whose host named no folder is taken to be in the current one. */
void project_lay_here(const struct cli *cli, struct hostkit *kit, const char *session);

#endif
