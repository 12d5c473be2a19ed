/* SPDX-License-Identifier: MIT
 *
 * config.c: `tidings config`: checks the configuration, shows the effective one, prints its schema.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/config_schema.h"
#include "cli/config_show.h"
#include "cli/verbs.h"
#include "command/config_file.h"
#include "command/kit.h"
#include "command/print.h"
#include "command/project.h"
#include "command/session.h"
#include "command/terminal.h"

/* -- the kinds of a session's tools ------------------------------------------------------------ */

/* The kinds that reports of handles, commands and changed files have, whatever a tool declares. */
static const char *const reported_kinds[] = {"stopped", "waiting", "failed", "finished", "changed"};
enum { REPORTED_KINDS = sizeof reported_kinds / sizeof *reported_kinds };

static bool has_declared(const json_t *kinds, const char *name) {
  const json_t *kind = NULL;
  size_t i = 0;
  json_array_foreach(kinds, i, kind) {
    if (strcmp(name, json_string_value(kind)) == 0) return true;
  }
  return false;
}

static bool is_reported(const char *name) {
  for (size_t i = 0; i < REPORTED_KINDS; i++) {
    if (strcmp(name, reported_kinds[i]) == 0) return true;
  }
  return false;
}

static int32_t refuse_key(const char *tool, const char *name, const json_t *kinds,
                          struct tidings_error *error) {
  const json_t *kind = NULL;
  char *known = NULL;
  size_t i = 0, len = 0;
  FILE *out = open_memstream(&known, &len);
  if (!out) return kit_error(error, TIDINGS_E_NOMEM, "out of memory");
  json_array_foreach(kinds, i, kind) fprintf(out, "%s%s", i ? ", " : "", json_string_value(kind));
  for (i = 0; i < REPORTED_KINDS; i++) {
    if (!has_declared(kinds, reported_kinds[i])) fprintf(out, ", %s", reported_kinds[i]);
  }
  int32_t code = fclose(out)
                     ? kit_error(error, TIDINGS_E_NOMEM, "out of memory")
                     : kit_error(error, TIDINGS_E_SCHEMA,
                                 "conversation.tools.%s.notifications.%s: the tool has declared no "
                                 "such kind; expected one of %s",
                                 tool, name, known);
  free(known);
  return code;
}

static int32_t check_tool(const json_t *config, const json_t *declared,
                          struct tidings_error *error) {
  const char *tool = json_string_value(json_object_get(declared, "tool")), *name = NULL;
  const json_t *kinds = json_object_get(declared, "kinds");
  json_t *tools = json_object_get(json_object_get(config, "conversation"), "tools");
  json_t *rules = json_object_get(json_object_get(tools, tool), "notifications"), *value = NULL;
  json_object_foreach(rules, name, value) {
    if (!has_declared(kinds, name) && !is_reported(name))
      return refuse_key(tool, name, kinds, error);
  }
  return 0;
}

static int32_t ask_tools(const struct cli *cli, const char *session, json_t **ret_answer,
                         struct tidings_error *error) {
  struct cli plain = *cli;
  struct hostkit *kit = NULL;
  plain.no_config = true;
  plain.config = NULL;
  int32_t code = kit_open(&plain, TIDINGS_ROLE_PRODUCER, 0, &kit, error);
  if (!code)
    code = kit_query(kit, json_pack("{s:s, s:s}", "name", "tools", "session", session), ret_answer,
                     error);
  kit_close(kit);
  return code;
}

/* Compares the effective configuration of `kit` with the kinds that the session's tools have
 * declared in the user's store. SCHEMA: a key names a kind that its tool does not have; the text
 * lists the kinds that it has. */
static int32_t config_check_tools(const struct cli *cli, const char *session, struct hostkit *kit,
                                  struct tidings_error *error) {
  json_t *configured = NULL, *answer = NULL;
  const json_t *declared = NULL;
  size_t i = 0;
  int32_t code = kit_query(kit, json_pack("{s:s}", "name", "configure"), &configured, error);
  if (!code) code = ask_tools(cli, session, &answer, error);
  if (code) goto out;
  json_array_foreach(json_object_get(answer, "tools"), i, declared) {
    code = check_tool(json_object_get(configured, "config"), declared, error);
    if (code) break;
  }
out:
  json_decref(configured);
  json_decref(answer);
  return code;
}

/* -- check ------------------------------------------------------------------------------------- */

/* Opens the plugin on a temporary store, so that only the configuration is checked. The values of
 * `project` (may be NULL) replace those of the user's file. */
static int32_t try_files(const struct cli *cli, const char *project, struct tidings_error *error) {
  struct hostkit *kit = NULL;
  char *scratch = NULL;
  int32_t code = config_open_apart(cli, &kit, &scratch, error);
  if (!code && project) code = project_apply(cli, kit, project, error);
  if (!code && session_named(cli)) code = config_check_tools(cli, session_named(cli), kit, error);
  config_close_apart(kit, scratch);
  return code;
}

/* Checks a file as a project's if it has the name and place of one, else as the user's. */
static int32_t try_named(const struct cli *cli, const char *path, struct tidings_error *error) {
  struct cli apart = *cli;
  bool of_project = config_file_is_of_project(path);
  apart.no_config = of_project;
  apart.config = path;
  return try_files(&apart, of_project ? path : NULL, error);
}

/* Checks the user's file, if there is one, and the project's file of the current folder. */
static int32_t try_found(const struct cli *cli, json_t *files, struct tidings_error *error) {
  char *user = NULL, *project = NULL, here[PATH_MAX];
  json_t *config = NULL;
  int32_t code = project_read_user(cli, &user, &config, error);
  if (!code) code = project_find(getcwd(here, sizeof here) ? here : "", &project, error);
  if (!code) code = try_files(cli, project, error);
  if (!code && config) json_array_append_new(files, json_string(user));
  if (!code && project) json_array_append_new(files, json_string(project));
  json_decref(config);
  free(user);
  free(project);
  return code;
}

static int print_checked(const struct cli *cli, json_t *files) {
  size_t i = 0;
  json_t *file = NULL;
  if (cli->json) {
    json_t *first = json_array_get(files, 0),
           *answer = json_pack("{s:b, s:o, s:O}", "ok", 1, "file",
                               first ? json_incref(first) : json_null(), "files", files);
    int code = answer ? print_json(cli, answer) : cli_fail(cli, "out of memory");
    json_decref(answer);
    return code;
  }
  json_array_foreach(files, i, file) {
    terminal_text(stdout, json_string_value(file));
    puts(": ok");
  }
  if (!json_array_size(files)) puts("There is no configuration; the defaults are in force.");
  return 0;
}

/* Completes the id without the configuration, which may be wrong. */
static int complete_session(const struct cli *cli, char **session) {
  struct cli plain = *cli;
  struct hostkit *kit = NULL;
  plain.no_config = true;
  plain.config = NULL;
  int code = kit_open_or_say(&plain, TIDINGS_ROLE_PRODUCER, 0, &kit);
  if (!code) code = session_complete(&plain, kit, session);
  kit_close(kit);
  return code;
}

/* Calls `run` for the session of -s, whose id may be shortened. */
static int for_session(struct cli *cli, int (*run)(struct cli *cli)) {
  if (!cli->session) return run(cli);
  char *session = strdup(cli->session);
  int code = session ? complete_session(cli, &session) : cli_fail(cli, "out of memory");
  cli->session = session;
  if (!code) code = run(cli);
  cli->session = NULL;
  free(session);
  return code;
}

static int check_config(struct cli *cli) {
  struct tidings_error error = {.size = sizeof error};
  json_t *files = json_array();
  int code = files ? 0 : cli_fail(cli, "out of memory");
  for (int i = 1; files && i < cli->word_count; i++) {
    int32_t refused = try_named(cli, cli->words[i], &error);
    if (refused) code = cli_fail_with(cli, refused, &error);
    else if (json_array_append_new(files, json_string(cli->words[i])))
      code = cli_fail(cli, "the file's name is not UTF-8");
  }
  if (files && cli->word_count == 1) {
    int32_t refused = try_found(cli, files, &error);
    if (refused) code = cli_fail_with(cli, refused, &error);
  }
  if (files && (!code || !cli->json)) {
    int printed = code && !json_array_size(files) ? 0 : print_checked(cli, files);
    if (!code) code = printed;
  }
  json_decref(files);
  return code;
}

/* -- the verb ---------------------------------------------------------------------------------- */

static int config_verb(struct cli *cli) {
  static const char *const words[] = {"check", "show", "schema", NULL};
  if (cli_next(cli) != CLI_END) return cli->exit_code;
  int code = cli_take_words(cli, 1, INT_MAX, "check, show or schema is");
  if (code) return code;
  int what = cli_word(cli->words[0], words);
  if (what < 0) return cli_usage(cli, "'%s' is not one of check, show, schema", cli->words[0]);
  if (what != 0 && cli->word_count > 1)
    return cli_usage(cli, "unexpected argument '%s'", cli->words[1]);
  if (what == 0 && cli->word_count > 1 && cli->config)
    return cli_usage(cli, "the file is named twice");
  if (what == 0) return for_session(cli, check_config);
  if (what == 1) return for_session(cli, config_show);
  fputs(config_schema, stdout);
  return 0;
}

const struct cli_verb verb_config = {
    .name = "config",
    .usage = "check [FILE]... | show | schema",
    .summary = "check the configuration, show it with all defaults, print its schema",
    .help = "check reads the user's configuration and that of the current folder's project as "
            "the plugin does, and reports an error with the file and the key. With FILE it "
            "checks that file: one named .tidings.json or .tidings.toml as a project's, any "
            "other as a user's. A FILE whose name ends in .toml is TOML, any other is JSON. "
            "With a session (-s, or TIDINGS_SESSION) it also reports a key of "
            "conversation.tools that names a kind which the tool has not declared "
            "there.\n\n"
            "show prints the configuration in force in the current folder, with every key, "
            "and where each value comes from: a file, a preset that a file names, or the "
            "defaults. With -s it is what the hooks of that session's agent really use: in the "
            "session's folder, with their own preset. The output is TOML. With --json it is an "
            "object: config is the "
            "whole configuration, origins has each value's origin by its JSON pointer, "
            "files lists the files that were read.\n\n"
            "schema prints the JSON Schema, for editors.\n\n"
            "This command reads the files each time it starts. Other hosts give the "
            "plugin their own configuration.",
    .with = WITH_SESSION | WITH_STORE | WITH_CONFIG | WITH_JSON,
    .completion = COMPLETE_WORDS,
    .words = "check show schema",
    .run = config_verb,
    .examples =
        (const struct cli_example[]){
            {"tidings config check", "Check the configuration."},
            {"tidings config show -s my-session", "What do the hooks of this session use?"},
            {"tidings config show --json | jq .config.delivery",
             "Show how notifications are delivered."},
            {"tidings config schema > tidings.schema.json", "Write the schema for an editor."},
            {NULL, NULL}},
};
