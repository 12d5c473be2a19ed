/* SPDX-License-Identifier: MIT
 *
 * agents/setup/mcp.c: `tidings setup mcp HOST`: lists `tidings mcp` among an agent's MCP servers,
 * or puts it before the commands of the listed servers; --remove undoes both.
 */
#include "agents/setup/mcp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agents/hosts/mcp.h"
#include "agents/setup/json_text.h"
#include "agents/setup/mcp_yaml.h"
#include "agents/setup/setup.h"
#include "command/json_value.h"
#include "command/paths.h"
#include "common/file.h"

/* Finds an agent by its name. NULL: there is none. */
static const struct host_of_mcp *mcp_host_find(const char *name) {
  for (size_t i = 0; i < hosts_of_mcp_count; i++) {
    if (strcmp(hosts_of_mcp[i].name, name) == 0) return &hosts_of_mcp[i];
  }
  return NULL;
}

/* Finds the file in another folder that the agent has noted, or in its older folder. */
static char *moved_file(const struct host_of_mcp *host) {
  enum { LONGEST = 4096 };
  char *pointer = paths_in_home("", ".", host->pointer), *text = NULL, *path = NULL;
  char *old = paths_in_home("", ".", host->old_home);
  const char *rest = host->roots[0].rest;
  size_t len = 0;
  if (pointer && old && !file_read_whole(pointer, LONGEST, &text, &len)) {
    while (len && strchr(" \t\r\n", text[len - 1])) text[--len] = '\0';
    if (text[0] == '/') path = paths_join(text, rest);
  } else if (pointer && old && !access(old, F_OK)) {
    path = paths_join(old, rest);
  }
  free(text);
  free(pointer);
  free(old);
  return path;
}

static char *root_file(const struct host_of_mcp_root *root) {
  const char *value = getenv(root->variable);
  if (root->home) return paths_in_home(root->variable, root->home, root->rest);
  if (!value || value[0] != '/') return NULL;
  return root->rest[0] ? paths_join(value, root->rest) : strdup(value);
}

static char *with_comments(char *path) {
  char *other = NULL;
  if (!path || !access(path, F_OK) || asprintf(&other, "%sc", path) < 0) return path;
  bool there = access(other, F_OK) == 0;
  free(there ? path : other);
  return there ? other : path;
}

/* Returns the path of the agent's file; free it. NULL: out of memory, or there is no home. */
static char *mcp_host_file(const struct host_of_mcp *host) {
  char *path = host->pointer ? moved_file(host) : NULL;
  for (size_t i = 0; !path && i < sizeof host->roots / sizeof *host->roots; i++) {
    if (host->roots[i].variable) path = root_file(&host->roots[i]);
  }
  return host->has_comments ? with_comments(path) : path;
}

#define ENTRY "tidings"

/* -- entries ----------------------------------------------------------------------------------- */

static bool is_text(const struct json *json, const char *text) {
  return json && json->kind == JSON_IS_STRING && span_is(json->text, text);
}

/* Returns the object with the command: for Cline, an object inside the server's. */
static const struct json *launch_of(const struct json *server) {
  const struct json *transport = json_member(server, "transport");
  return json_member(transport, "command") ? transport : server;
}

static const struct json *first_argument(const struct json *server) {
  const struct json *arguments = json_member(launch_of(server), "args");
  return arguments && arguments->kind == JSON_IS_ARRAY ? arguments->members : NULL;
}

static bool is_ours(const struct json *server) {
  const struct json *command = json_member(launch_of(server), "command");
  return command && command->kind == JSON_IS_STRING && mcp_is_our_program(command->text.ptr) &&
         is_text(first_argument(server), "mcp");
}

/* "args": ["mcp", "--", COMMAND, ...] */
static bool is_wrapped(const struct json *server) {
  const struct json *first = first_argument(server);
  return is_ours(server) && is_text(first->next, "--") && first->next->next;
}

static bool can_be_wrapped(const struct json *server) {
  const struct json *launch = launch_of(server), *command = json_member(launch, "command"),
                    *arguments = json_member(launch, "args");
  return command && command->kind == JSON_IS_STRING && !is_ours(server) &&
         (!arguments || arguments->kind == JSON_IS_ARRAY);
}

/* -- changing ---------------------------------------------------------------------------------- */

/* Returns a list that begins with `begin`, followed by the elements from `from` on, as in the text.
 * Free it; NULL: out of memory. */
static char *list_with(const struct json_text *json, const struct json *from, const char *begin) {
  struct buffer out = BUFFER_EMPTY;
  buffer_byte(&out, '[');
  buffer_text(&out, begin);
  for (const struct json *one = from; one; one = one->next) {
    if (out.len > 1) buffer_text(&out, ", ");
    buffer_append(&out, json->text + one->start, one->end - one->start);
  }
  buffer_byte(&out, ']');
  return buffer_take(&out);
}

/* Returns a server's place among the members of its parent. The name does not identify it, because
 * another member may have the same name. */
static size_t place_of(const struct json *server) {
  size_t place = 0;
  for (const struct json *one = server->parent->members; one != server; one = one->next) place++;
  return place;
}

static const struct json *server_at(const struct json_text *json, const char *member,
                                    size_t place) {
  const struct json *one = json_member(json->root, member)->members;
  while (place--) one = one->next;
  return one;
}

/* Sets a server's command and arguments; `arguments` NULL: removes them. */
static int set_both(struct json_text *json, const char *member, size_t place, const char *command,
                    const char *arguments) {
  static const char *const keys[] = {"command", "args"};
  const char *values[] = {command, arguments};
  for (int i = 0; i < 2; i++) {
    const struct json *launch = launch_of(server_at(json, member, place)),
                      *old = json_member(launch, keys[i]);
    int failed = !values[i] ? json_text_remove(json, old)
                 : old      ? json_text_replace(json, old, values[i])
                            : json_text_add(json, launch, keys[i], values[i]);
    if (failed) return -1;
  }
  return 0;
}

static char *quoted(const char *text) {
  struct buffer out = BUFFER_EMPTY;
  json_write_string(span_text(text), &out);
  return buffer_take(&out);
}

/* Puts `tidings mcp` before a server's command. -1: out of memory. */
static int wrap(struct json_text *json, const char *member, const struct json *server,
                const char *program) {
  const struct json *command = json_member(launch_of(server), "command");
  struct buffer begin = BUFFER_EMPTY;
  buffer_text(&begin, "\"mcp\", \"--\", ");
  buffer_append(&begin, json->text + command->start, command->end - command->start);
  char *words = buffer_take(&begin), *ours = quoted(program);
  char *arguments = words ? list_with(json, first_argument(server), words) : NULL;
  int failed = ours && arguments ? set_both(json, member, place_of(server), ours, arguments) : -1;
  free(words);
  free(ours);
  free(arguments);
  return failed;
}

static int unwrap(struct json_text *json, const char *member, const struct json *server) {
  const struct json *command = first_argument(server)->next->next;
  bool alone = !command->next; /* the server had no arguments */
  char *text = strndup(json->text + command->start, command->end - command->start),
       *arguments = alone ? NULL : list_with(json, command->next, "");
  int failed =
      text && (arguments || alone) ? set_both(json, member, place_of(server), text, arguments) : -1;
  free(text);
  free(arguments);
  return failed;
}

typedef bool wanted_server(const struct json *server);

static const struct json *find_server(const struct json_text *json, const char *member,
                                      wanted_server *is_wanted) {
  const struct json *servers = json_member(json->root, member);
  for (const struct json *one = servers ? servers->members : NULL; one; one = one->next) {
    if (one->kind == JSON_IS_OBJECT && is_wanted(one)) return one;
  }
  return NULL;
}

static int remove_all(struct json_text *json, const char *member) {
  const struct json *server;
  while ((server = find_server(json, member, is_wrapped))) {
    if (unwrap(json, member, server)) return -1;
  }
  while ((server = find_server(json, member, is_ours))) {
    const struct json *all = server->parent;
    if (json_text_remove(json, all->count > 1 ? server : all)) return -1;
  }
  return 0;
}

static int wrap_all(struct json_text *json, const char *member, const char *program) {
  const struct json *server;
  while ((server = find_server(json, member, can_be_wrapped))) {
    if (wrap(json, member, server, program)) return -1;
  }
  return 0;
}

static bool is_the_server(const struct json *server) {
  return is_ours(server) && !is_wrapped(server);
}

static int add_entry(struct json_text *json, const struct host_of_mcp *host, const char *program) {
  const char *member = host->member, *type = host->has_types ? "\"type\": \"stdio\", " : "";
  char *ours = quoted(program), *entry = NULL;
  if (!ours || asprintf(&entry, "{%s\"command\": %s, \"args\": [\"mcp\"]}", type, ours) < 0)
    entry = NULL;
  free(ours);
  int failed = entry ? 0 : -1;
  if (!failed && !json_member(json->root, member))
    failed = json_text_add(json, json->root, member, "{}");
  if (!failed) failed = json_text_add(json, json_member(json->root, member), ENTRY, entry);
  free(entry);
  return failed;
}

/* Edits the file. Another program's entry with the name `tidings` stays. */
static int edit(const struct cli *cli, const struct host_of_mcp *host, const struct mcp_wish *wish,
                const char *program, const char *path, struct json_text *json) {
  const struct json *servers = json_member(json->root, host->member);
  if (json->root->kind != JSON_IS_OBJECT)
    return cli_fail(cli, "%s: expected a JSON object; nothing was changed", path);
  if (servers && servers->kind != JSON_IS_OBJECT)
    return cli_fail(cli, "%s: %s: expected an object; nothing was changed", path, host->member);
  int failed = 0;
  if (wish->remove) failed = remove_all(json, host->member);
  else if (wish->wrap) failed = wrap_all(json, host->member, program);
  else if (!find_server(json, host->member, is_the_server)) {
    if (json_member(servers, ENTRY))
      return cli_fail(cli, "%s: %s.%s: there is a server of that name already; nothing was changed",
                      path, host->member, ENTRY);
    failed = add_entry(json, host, program);
  }
  return failed ? cli_fail(cli, "out of memory") : 0;
}

/* -- the verb ---------------------------------------------------------------------------------- */

/* Returns what setup and --remove make of the text. Free it; NULL: unknown. */
static char *servers_passed_by(const struct host_of_mcp *host, const char *text) {
  struct json_text json;
  char *rest = NULL, *problem = NULL;
  if (json_text_read(text, &json, &problem)) {
    free(problem);
    return NULL;
  }
  if (json.root && !wrap_all(&json, host->member, ENTRY) && !add_entry(&json, host, ENTRY) &&
      !remove_all(&json, host->member))
    rest = strdup(json.text);
  json_text_finish(&json);
  return rest;
}

static int plan_servers(const struct cli *cli, const struct host_of_mcp *host,
                        const struct mcp_wish *wish, const char *program, struct change *change) {
  struct json_text json;
  char *problem = NULL;
  const char *text = change->after ? change->after : "";
  bool blank = !text[strspn(text, " \t\r\n")];
  if (blank && (wish->remove || wish->wrap)) return 0;
  if (json_text_read(blank ? "{}\n" : text, &json, &problem)) {
    int code = cli_fail(cli, "%s: %s; nothing was changed", change->path,
                        problem ? problem : "out of memory");
    free(problem);
    return code;
  }
  if (!json.root) {
    json_text_finish(&json);
    return cli_fail(cli, "%s: holds comments only; expected a JSON object", change->path);
  }
  change->has_ours = find_server(&json, host->member, is_ours) != NULL;
  int code = edit(cli, host, wish, program, change->path, &json);
  if (!code && strcmp(text, json.text) != 0) {
    char *done = json.text;
    json.text = NULL;
    if (wish->remove) {
      char *saved = change_saved(change);
      change->saved_rest = saved ? servers_passed_by(host, saved) : NULL;
      free(saved);
      code = change_to_rest(cli, change, done, !json.root->count);
    } else {
      free(change->after);
      change->after = done;
    }
  }
  json_text_finish(&json);
  return code;
}

static int write_servers(const struct cli *cli, const struct host_of_mcp *host,
                         const struct mcp_wish *wish, const struct change *change) {
  bool nothing = change_is_none(change);
  change_print(stdout, change);
  int code = wish->dry_run ? 0 : change_write(cli, change);
  if (code) return code;
  if (nothing) printf("Nothing %s.\n", wish->dry_run ? "would change" : "changed");
  else if (!wish->dry_run)
    printf(wish->remove ? "%s no longer starts tidings.\n"
                        : "%s starts 'tidings mcp' from its next start on.\n",
           host->title);
  if (!wish->dry_run && !nothing && !wish->remove && !host->is_proved)
    printf("The place of this file is by the agent's documentation; the agent was not run.\n");
  return 0;
}

static char *yaml_passed_by(const char *text) {
  static const enum mcp_yaml_edit edits[] = {MCP_YAML_WRAP, MCP_YAML_ADD, MCP_YAML_REMOVE};
  const char *problem = NULL;
  char *rest = strdup(text);
  for (size_t i = 0; rest && i < sizeof edits / sizeof *edits; i++) {
    char *next = mcp_yaml_change(rest, edits[i], ENTRY, &problem);
    free(rest);
    rest = next;
  }
  return rest;
}

static int plan_yaml(const struct cli *cli, const struct mcp_wish *wish, const char *program,
                     struct change *change) {
  const char *text = change->after ? change->after : "", *problem = NULL;
  enum mcp_yaml_edit edit = wish->remove ? MCP_YAML_REMOVE
                            : wish->wrap ? MCP_YAML_WRAP
                                         : MCP_YAML_ADD;
  if (!change->after && edit != MCP_YAML_ADD) return 0;
  change->has_ours = mcp_yaml_has_ours(text);
  char *done = mcp_yaml_change(text, edit, program, &problem);
  if (!done && problem) return cli_fail(cli, "%s: %s; nothing was changed", change->path, problem);
  if (!done) return cli_fail(cli, "out of memory");
  if (wish->remove) {
    char *saved = change_saved(change);
    change->saved_rest = saved ? yaml_passed_by(saved) : NULL;
    free(saved);
    return change_to_rest(cli, change, done, !done[strspn(done, " \t\r\n")]);
  }
  free(change->after);
  change->after = done;
  return 0;
}

int setup_mcp(const struct cli *cli, const char *name, const struct mcp_wish *wish) {
  const struct host_of_mcp *host = mcp_host_find(name);
  struct change change = {.path = NULL};
  if (!host) return cli_usage(cli, "HOST: '%s' is not one of " HOSTS_OF_MCP_NAMES, name);
  char *path = mcp_host_file(host), *program = setup_program();
  if (!path || !program) {
    free(path);
    free(program);
    return cli_fail(cli, "HOME is not set, so the configuration of %s cannot be found",
                    host->title);
  }
  int code = change_begin(cli, path, &change);
  if (!code) code = setup_check_program(cli, program, "an entry of an MCP server");
  if (!code)
    code = host->member ? plan_servers(cli, host, wish, program, &change)
                        : plan_yaml(cli, wish, program, &change);
  if (!code) code = write_servers(cli, host, wish, &change);
  change_finish(&change);
  free(program);
  return code;
}
