/* SPDX-License-Identifier: MIT
 *
 * agents/setup/server.c: lists `tidings mcp --no-tools` among an agent's MCP servers. The agent
 * calls no hook when a person resumes a session, but it starts these servers. If the person has
 * listed `tidings mcp` with its tools, that server has the same effect, and nothing is added.
 */
#include <stdlib.h>
#include <string.h>

#include "agents/setup/mcp_yaml.h"
#include "agents/setup/setup.h"
#include "command/json_value.h"

static const char servers_name[] = "mcp_servers", entry_name[] = "tidings",
                  server_header[] = "[mcp_servers.tidings]",
                  arguments[] = "[\"mcp\", \"--no-tools\"]", no_tools_mark[] = "\"--no-tools\"";

static bool has_argument(const json_t *list, const char *text) {
  const json_t *one = NULL;
  size_t i = 0;
  json_array_foreach(list, i, one) {
    if (json_is_string(one) && strcmp(json_string_value(one), text) == 0) return true;
  }
  return false;
}

/* Is it `tidings mcp`, and not a wrapper of another server? */
static bool is_serving(const json_t *server) {
  const json_t *list = json_object_get(server, "args"), *first = json_array_get(list, 0);
  return mcp_is_our_program(json_value_text(server, "command")) && json_is_string(first) &&
         strcmp(json_string_value(first), "mcp") == 0 && !has_argument(list, "--") &&
         !json_is_false(json_object_get(server, "enabled"));
}

/* NULL: none is listed. */
static const json_t *find_serving(const json_t *config, bool with_tools) {
  const char *name = NULL;
  json_t *server = NULL;
  json_object_foreach(json_object_get(config, servers_name), name, server) {
    bool has_tools = !has_argument(json_object_get(server, "args"), "--no-tools");
    if (is_serving(server) && has_tools == with_tools) return server;
  }
  return NULL;
}

/* Returns the old configuration with our entry, or without it if `program` is NULL. */
static json_t *expected_of(json_t *config, const char *program) {
  json_t *servers = json_object_get(config, servers_name),
         *entry = json_object_get(servers, entry_name);
  if (program && !servers) {
    json_object_set_new(config, servers_name, json_object());
    servers = json_object_get(config, servers_name);
  }
  if (program && !entry) {
    json_object_set_new(servers, entry_name, json_object());
    entry = json_object_get(servers, entry_name);
  }
  if (program) {
    json_object_set_new(entry, "command", json_string(program));
    json_object_set_new(entry, "args", json_pack("[s, s]", "mcp", "--no-tools"));
  } else {
    json_object_del(servers, entry_name);
  }
  return config;
}

/* An empty table means the same as none; a person may have written its header. */
static void drop_empty_table(json_t *config) {
  const json_t *servers = json_object_get(config, servers_name);
  if (json_is_object(servers) && !json_object_size(servers)) json_object_del(config, servers_name);
}

/* Takes `config` over. */
static bool says_what_is_expected(json_t *config, const char *after, const char *program) {
  json_t *written = setup_trust_read(after, NULL);
  if (config) drop_empty_table(expected_of(config, program));
  drop_empty_table(written);
  bool same = config && written && json_equal(config, written);
  json_decref(config);
  json_decref(written);
  return same;
}

static char *text_with(const char *text, const char *program) {
  json_t *name = json_string(program);
  char *value = name ? json_dumps(name, JSON_ENCODE_ANY) : NULL,
       *half = value ? setup_table_text(text, server_header, "args", arguments) : NULL,
       *whole = half ? setup_table_text(half, server_header, "command", value) : NULL;
  json_decref(name);
  free(value);
  free(half);
  return whole;
}

int setup_server(const struct cli *cli, const struct host *host, const char *program,
                 struct change *change) {
  const char *text = change->after ? change->after : "";
  bool ours = setup_table_has(text, server_header, no_tools_mark);
  json_t *config = setup_trust_read(text, NULL);
  const json_t *present = json_object_get(json_object_get(config, servers_name), entry_name);
  char *done = NULL;
  int code = 0;
  if (ours) change->has_ours = true;
  if (program && find_serving(config, true)) program = NULL;
  if (program ? ours && strcmp(json_value_text(present, "command"), program) == 0 : !ours) goto out;
  if (program && !ours && present) {
    code = cli_fail(cli,
                    "%s: %s.%s: there is a server of that name already; nothing was changed. "
                    "'tidings setup %s --no-mcp' leaves ours out",
                    change->path, servers_name, entry_name, host->name);
    goto out;
  }
  done = program ? text_with(text, program) : setup_table_text(text, server_header, "", NULL);
  if (!done) code = cli_fail(cli, "out of memory");
  else if (!says_what_is_expected(json_incref(config), done, program))
    code = cli_fail(cli,
                    program ? "%s has the table %s in a form that setup does not edit; nothing was "
                              "changed. 'tidings setup %s --no-mcp' leaves it alone"
                            : "%s has the table %s in a form that setup does not edit; nothing was "
                              "changed. Take 'tidings' out of it first",
                    change->path, servers_name, host->name);
  else {
    free(change->after);
    change->after = done;
    done = NULL;
  }
out:
  free(done);
  json_decref(config);
  return code;
}

int setup_server_look(const char *text, char **ret_program) {
  json_t *config = setup_trust_read(text, NULL);
  const json_t *server = find_serving(config, true);
  if (!server) server = find_serving(config, false);
  if (!config) return -1;
  *ret_program = server ? strdup(json_value_text(server, "command")) : NULL;
  json_decref(config);
  return 0;
}
