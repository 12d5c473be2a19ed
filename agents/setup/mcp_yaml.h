/* SPDX-License-Identifier: MIT
 *
 * agents/setup/mcp_yaml.h: the MCP servers in goose's configuration, which is YAML, changed line by
 * line as goose and people write it. Servers that are written in another way are left alone.
 */
#ifndef AGENTS_SETUP_MCP_YAML_H
#define AGENTS_SETUP_MCP_YAML_H

#include <stdbool.h>

enum mcp_yaml_edit { MCP_YAML_ADD, MCP_YAML_WRAP, MCP_YAML_REMOVE };

/* Is an entry of ours in it? */
bool mcp_yaml_has_ours(const char *text);
/* The text with that change; free it. NULL: *ret_problem says in words what cannot be changed, or
 * is NULL: out of memory. */
char *mcp_yaml_change(const char *text, enum mcp_yaml_edit edit, const char *program,
                      const char **ret_problem);

/* Is it the program of this or another installation? */
bool mcp_is_our_program(const char *command);

#endif
