/* SPDX-License-Identifier: MIT
 *
 * agents/hosts/mcp.c: see the header.
 */
#include "agents/hosts/mcp.h"

const struct host_of_mcp hosts_of_mcp[] = {
    {.name = "amp",
     .title = "Amp",
     .roots = {{"AMP_SETTINGS_FILE", NULL, ""},
               {"XDG_CONFIG_HOME", ".config", "amp/settings.json"}},
     .member = "amp.mcpServers",
     .has_comments = true,
     .is_proved = true},
    {.name = "cline",
     .title = "Cline",
     .roots = {{"CLINE_MCP_SETTINGS_PATH", NULL, ""},
               {"CLINE_DATA_DIR", NULL, "settings/cline_mcp_settings.json"},
               {"CLINE_DIR", ".cline", "data/settings/cline_mcp_settings.json"}},
     .member = "mcpServers",
     .is_proved = true},
    {.name = "cursor",
     .title = "Cursor",
     .roots = {{"", ".cursor", "mcp.json"}},
     .member = "mcpServers"},
    {.name = "goose",
     .title = "goose",
     .roots = {{"GOOSE_PATH_ROOT", NULL, "config/config.yaml"},
               {"XDG_CONFIG_HOME", ".config", "goose/config.yaml"}}},
    {.name = "lmstudio",
     .title = "LM Studio",
     .roots = {{"", ".lmstudio", "mcp.json"}},
     .pointer = ".lmstudio-home-pointer",
     .old_home = ".cache/lm-studio",
     .member = "mcpServers"},
    {.name = "vscode",
     .title = "VS Code",
     .roots = {{"XDG_CONFIG_HOME", ".config", "Code/User/mcp.json"}},
     .member = "servers",
     .has_types = true},
    {.name = "zed",
     .title = "Zed",
     .roots = {{"XDG_CONFIG_HOME", ".config", "zed/settings.json"}},
     .member = "context_servers"},
};
const size_t hosts_of_mcp_count = sizeof hosts_of_mcp / sizeof *hosts_of_mcp;
