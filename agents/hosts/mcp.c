/* SPDX-License-Identifier: MIT
 *
 * agents/hosts/mcp.c: see the header.
 */
#include "agents/hosts/mcp.h"

const struct host_of_mcp hosts_of_mcp[] = {
    {"amp", "Amp", "XDG_CONFIG_HOME", ".config", "amp/settings.json", "amp.mcpServers"},
    {"cline", "Cline", "CLINE_DIR", ".cline", "data/settings/cline_mcp_settings.json",
     "mcpServers"},
    {"cursor", "Cursor", "", ".cursor", "mcp.json", "mcpServers"},
    {"goose", "goose", "XDG_CONFIG_HOME", ".config", "goose/config.yaml", NULL},
    {"lmstudio", "LM Studio", "", ".lmstudio", "mcp.json", "mcpServers"},
    {"vscode", "VS Code", "XDG_CONFIG_HOME", ".config", "Code/User/mcp.json", "servers"},
    {"zed", "Zed", "XDG_CONFIG_HOME", ".config", "zed/settings.json", "context_servers"},
};
const size_t hosts_of_mcp_count = sizeof hosts_of_mcp / sizeof *hosts_of_mcp;
