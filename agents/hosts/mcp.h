/* SPDX-License-Identifier: MIT
 *
 * agents/hosts/mcp.h: the files in which programs list their MCP servers. These programs call no
 * hooks and load no module. The facts come from their documentation and sources, and, with
 * `is_proved`, from a run of the program.
 */
#ifndef AGENTS_HOSTS_MCP_H
#define AGENTS_HOSTS_MCP_H

#include <stdbool.h>
#include <stddef.h>

/* The folder $variable, or ~/home if that is not set; the file is `rest` in it, or, if `rest` is
 * empty, $variable itself. */
struct host_of_mcp_root {
  const char *variable, *home, *rest;
};

struct host_of_mcp {
  const char *name, *title;
  struct host_of_mcp_root roots[3]; /* the first known one counts */
  const char *pointer, *old_home; /* pointer: a file in the home that names the folder; old_home: an
                                     older folder in the home, which is used if it exists; or
                                     NULL */
  const char *member;             /* the object of servers; NULL: the file is YAML */
  bool has_types;                 /* an entry's "type" says that it is a program */
  bool has_comments; /* if its file is missing, the file with "c" after the name is used */
  bool is_proved;    /* the program was run and read the entry */
};

/* How `tidings mcp` ends the name of the host of its sessions. */
#define HOST_BY_MCP ", by MCP"

extern const struct host_of_mcp hosts_of_mcp[];
extern const size_t hosts_of_mcp_count;
#define HOSTS_OF_MCP_NAMES "amp, cline, cursor, goose, lmstudio, vscode or zed"

#endif
