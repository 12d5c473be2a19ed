/* SPDX-License-Identifier: MIT
 *
 * agents/setup/mcp_yaml.h: the MCP servers in goose's configuration, which is YAML. It is changed
 * line by line, in the forms that goose and people write. Servers in other forms stay unchanged.
 */
#ifndef AGENTS_SETUP_MCP_YAML_H
#define AGENTS_SETUP_MCP_YAML_H

#include <stdbool.h>

enum mcp_yaml_edit { MCP_YAML_ADD, MCP_YAML_WRAP, MCP_YAML_REMOVE };

/* Does it contain an entry of tidings? */
bool mcp_yaml_has_ours(const char *text);
/* Returns the text with that change; free it. NULL: *ret_problem says what cannot be changed; if it
 * is NULL too, memory ran out. */
char *mcp_yaml_change(const char *text, enum mcp_yaml_edit edit, const char *program,
                      const char **ret_problem);

/* Is it the program of this or another installation? */
bool mcp_is_our_program(const char *command);

#endif
