/* SPDX-License-Identifier: MIT
 *
 * cli/config_show.h: `tidings config show`, and opening a plugin only to check its configuration.
 */
#ifndef CLI_CONFIG_SHOW_H
#define CLI_CONFIG_SHOW_H

#include "command/kit.h"

int config_show(struct cli *cli);

/* Opens a plugin with the user's configuration on a temporary store. On failure nothing is open. */
int32_t config_open_apart(const struct cli *cli, struct hostkit **ret_kit, char **ret_scratch,
                          struct tidings_error *error);
/* Closes the plugin and removes the temporary store. Both may be NULL. */
void config_close_apart(struct hostkit *kit, char *scratch);

#endif
