/* SPDX-License-Identifier: MIT
 *
 * agents/setup/verb_setup.c: `tidings setup HOST` edits an agent's configuration so that the agent
 * calls tidings; --remove undoes that. It first reads, checks and shows everything. Then it writes
 * file by file, each in one step.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agents/hosts/mcp.h"
#include "agents/setup/mcp.h"
#include "agents/setup/setup.h"
#include "command/paths.h"
#include "common/store_url.h"
#include "host_lists.h"

enum {
  OPTION_REMOVE = CLI_LONG_ONLY,
  OPTION_DRY_RUN,
  OPTION_PROGRAM,
  OPTION_NO_WAKE,
  OPTION_NO_MCP,
  OPTION_STORE,
  OPTION_WRAP
};

struct setup {
  const struct cli *cli;
  const struct host *host;
  const char *program;
  const char *store; /* NULL: the user's own */
  bool remove, dry_run, no_wake, no_mcp, wrap;
  struct change change;        /* to the file with the hooks, or the module */
  struct change command;       /* to the command file of an agent that a task wakes */
  struct change configuration; /* to the file that lists trusted hooks and MCP servers */
  struct setup_moves moves;    /* in the file of `configuration` */
};

/* -- is the host there? ------------------------------------------------------------------------ */

static int check_host(const struct setup *setup) {
  const struct host *host = setup->host;
  char *version = NULL;
  if (setup->remove) return 0;
  if (setup_version(setup->program, &version))
    return cli_fail(setup->cli,
                    "cannot run %s (%s): install %s first, or give its path with --program",
                    setup->program, strerror(errno), host->title);
  if (!version)
    cli_warn(setup->cli, "warning: %s does not print its version; the tested version is %s",
             setup->program, host->tested ? host->tested : "none");
  else if (!host->tested)
    cli_warn(setup->cli, "warning: %s is not among the agents that are tested", host->title);
  else if (strcmp(version, host->tested) != 0)
    cli_warn(setup->cli, "warning: %s %s is not the tested version, %s", host->title, version,
             host->tested);
  free(version);
  return 0;
}

/* Refuses an agent that has our package, because each hook would run twice. */
static int check_package(const struct setup *setup) {
  struct setup_package package = {.file = NULL};
  if (!setup->remove) package = setup_package_look(setup->host);
  if (!package.file) return 0;
  char *removal = setup_package_removal(setup->host, &package);
  int code = cli_fail(setup->cli,
                      "%s has tidings by its own command already (%s in %s), and would run each "
                      "hook twice; nothing was changed. Keep that, or first remove it %s",
                      setup->host->title, package.name, package.file, removal ? removal : "");
  free(removal);
  setup_package_finish(&package);
  return code;
}

/* -- what changes ------------------------------------------------------------------------------ */

static int plan_hooks(const struct setup *setup, struct change *change) {
  char *program = setup->remove ? NULL : setup_program(),
       *command = program ? setup_quote(program) : NULL;
  const struct setup_wish wish = {command, setup->store, !setup->no_wake};
  int code = 0;
  if (!setup->remove && !command) code = cli_fail(setup->cli, "out of memory");
  else if (program) code = setup_check_program(setup->cli, program, "a hook");
  if (!code) code = setup_hooks(setup->cli, setup->host, &wish, change);
  free(program);
  free(command);
  return code;
}

static int plan_module(const struct setup *setup, struct change *change) {
  char *folder = setup->remove ? NULL : setup_module_folder();
  if (!setup->remove && !folder) return cli_fail(setup->cli, "out of memory");
  int code = setup_module(setup->cli, setup->host, folder, setup->store, change);
  free(folder);
  return code;
}

/* Refuses a text that is not TOML: it cannot be compared with the new one. */
static int check_configuration(const struct setup *setup, const struct change *change) {
  struct tidings_error error = {.size = sizeof error};
  json_t *config = setup_trust_read(change->after ? change->after : "", &error);
  json_decref(config);
  if (config) return 0;
  return cli_fail(setup->cli, "%s: %s; it was not changed", change->path,
                  error.text[0] ? error.text : "out of memory");
}

/* Plans the change to the file in which the agent lists trusted hooks and MCP servers. */
static int plan_configuration(struct setup *setup, const char *home) {
  struct change *change = &setup->configuration;
  bool listed = setup->host->session_at && !setup->remove && !setup->no_wake && !setup->no_mcp;
  char *program = listed ? setup_program() : NULL;
  if (listed && !program) return cli_fail(setup->cli, "out of memory");
  int code = change_begin(setup->cli, paths_join(home, setup->host->trust_file), change);
  if (!code) code = check_configuration(setup, change);
  if (!code && setup->host->session_at)
    code = setup_server(setup->cli, setup->host, program, change);
  if (!code)
    code = setup_trust_move(setup->cli, setup->host, &setup->change, change, &setup->moves);
  free(program);
  return code;
}

static int plan(struct setup *setup, const char *home) {
  struct change *change = &setup->change;
  int code = change_begin(setup->cli, paths_join(home, setup->host->config_file), change);
  if (!code)
    code = setup->host->kind == HOST_HOOKS ? plan_hooks(setup, change) : plan_module(setup, change);
  if (!code && setup->host->scheduler)
    code = change_begin(setup->cli, paths_join(home, setup->host->scheduler->command_file),
                        &setup->command);
  if (!code && setup->host->scheduler)
    code = setup_command_file(setup->cli, setup->host, !setup->remove && !setup->no_wake,
                              &setup->command);
  if (!code && setup->host->trusts_hashes) code = plan_configuration(setup, home);
  return code;
}

/* -- doing it ---------------------------------------------------------------------------------- */

static int write_configuration(struct setup *setup) {
  struct change *change = &setup->configuration;
  int code = 0;
  if (setup->remove && !change_is_none(change)) {
    char *rest = change->after;
    change->after = NULL;
    code = change_to_rest(setup->cli, change, rest, !rest[strspn(rest, " \t\r\n")]);
  }
  if (!code) change_print(stdout, change);
  return code ? code : change_write(setup->cli, change);
}

/* Call it after the hooks are written: it asks the agent for their hashes. */
static int give_trust(struct setup *setup) {
  const char *title = setup->host->title;
  size_t count = 0;
  int failed = setup_trust(setup->cli, setup->host, setup->program, setup->change.path,
                           &setup->configuration, &count),
      code = !failed || setup->moves.moved ? write_configuration(setup) : 0;
  if (failed || code)
    return cli_fail(setup->cli,
                    "the hooks are written, but %s does not trust them yet and will "
                    "not run them: review them there with /hooks",
                    title);
  if (count) printf("%zu hooks are trusted by %s.\n", count, title);
  return 0;
}

static int take_trust(struct setup *setup) {
  int code = write_configuration(setup);
  if (code) return code;
  if (setup->moves.dropped)
    printf("%zu hooks are no longer trusted by %s.\n", setup->moves.dropped, setup->host->title);
  if (setup->moves.ours > setup->moves.dropped)
    cli_warn(setup->cli,
             "%s still lists hooks of tidings, in a form that setup does not edit, which is "
             "harmless",
             setup->configuration.path);
  return 0;
}

static int write_all(struct setup *setup) {
  int code = change_write(setup->cli, &setup->change);
  if (!code && setup->host->scheduler) code = setup_command_file_write(setup->cli, &setup->command);
  if (code || !setup->host->trusts_hashes) return code;
  return setup->remove ? take_trust(setup) : give_trust(setup);
}

static void print_room(const struct host *host) {
  if (host->context_room)
    printf("One answer has at most %zu bytes, a reason to go on %zu: %s.\n", host->context_room,
           host->room, host->room_measured);
  else printf("One answer has at most %zu bytes: %s.\n", host->room, host->room_measured);
}

/* Names the other programs that read this file and call its hooks. */
static void print_borrowers(const struct host *host) {
  for (size_t i = 0; i < host_count; i++) {
    if (host_borrows(hosts[i], host))
      printf("The hooks also run in %s, if it is there: it calls the hooks of %s. By its "
             "documentation only; not tested.\n",
             hosts[i]->title, host->title);
  }
}

/* Names the program that the hooks start, if an upgrade may move it. */
static void print_program(const struct host *host) {
  char *program = host->kind == HOST_HOOKS ? setup_program() : NULL;
  if (program && strcmp(program, SETUP_BY_PATH) == 0)
    printf("Its hooks start the tidings that is in PATH.\n");
  else if (program && setup_is_versioned(program))
    printf("Its hooks start %s; run 'tidings setup %s' again after an upgrade that moves it.\n",
           program, host->name);
  free(program);
}

/* Ends a dry run. It cannot show the hashes of hooks: the agent knows them only after the hooks are
 * written. */
static int show_it(const struct setup *setup) {
  bool nothing = change_is_none(&setup->change) && change_is_none(&setup->command);
  if (setup->host->trusts_hashes) change_print(stdout, &setup->configuration);
  if (nothing && change_is_none(&setup->configuration)) printf("Nothing would change.\n");
  else if (!nothing && setup->host->trusts_hashes && !setup->remove)
    printf("%s would then be asked to trust these hooks.\n", setup->host->title);
  return 0;
}

static int do_it(struct setup *setup) {
  const char *title = setup->host->title;
  change_print(stdout, &setup->change);
  if (setup->host->scheduler) change_print(stdout, &setup->command);
  if (setup->dry_run) return show_it(setup);
  bool configures = !change_is_none(&setup->configuration);
  int code = write_all(setup);
  if (code) return code;
  bool nothing = change_is_none(&setup->change) && change_is_none(&setup->command) && !configures;
  if (setup->remove)
    printf(nothing ? "%s was not set up; nothing changed.\n"
                   : "%s no longer receives notifications.\n",
           title);
  else
    printf(nothing ? "%s was set up already; nothing changed.\n"
                   : "%s is set up. Sessions that it starts from now on receive "
                     "notifications.\n",
           title);
  if (!setup->remove && !nothing) print_room(setup->host);
  if (!setup->remove && !nothing) print_borrowers(setup->host);
  if (!setup->remove && !nothing) print_program(setup->host);
  if (!setup->remove && setup->store)
    printf("They use the store %s; 'tidings doctor' says whether it can be reached. Commands that "
           "you type use it with TIDINGS_STORE.\n",
           setup->store);
  if (!setup->remove && !nothing && !setup->no_wake && host_is_woken(setup->host))
    printf("While such a session idles in a terminal, a background process waits to "
           "wake it; 'tidings setup %s --no-wake' turns that off.\n",
           setup->host->name);
  if (configures && !setup->remove && !setup->no_wake && !setup->no_mcp)
    printf("A session that it loads again is woken by an MCP server without tools, 'tidings mcp "
           "--no-tools'. Without a window, %s adds 2 kB to each request if it has no other server; "
           "'tidings setup %s --no-mcp' leaves that out.\n",
           title, setup->host->name);
  return 0;
}

/* The URL is written into files of the agent, and lists of processes show it. */
static int check_store_option(const struct setup *setup) {
  if (!setup->store) return 0;
  if (setup->remove) return cli_usage(setup->cli, "--store and --remove exclude each other");
  if (!store_url_is(setup->store))
    return cli_usage(setup->cli, "--store: expected the URL of a database: "
                                 "postgresql://USER@HOST/DATABASE?schema=NAME");
  if (store_url_has_password(setup->store))
    return cli_usage(setup->cli,
                     "--store: the URL has a password, which would be in files of the agent and in "
                     "lists of processes; leave it out, and put it into ~/.pgpass, a line "
                     "HOST:PORT:DATABASE:USER:PASSWORD in a file of mode 0600");
  for (const char *at = setup->store; *at; at++) {
    if (*at <= ' ' || *at == 0x7f)
      return cli_usage(setup->cli,
                       "--store: the URL has a blank or a control character; write %%20 "
                       "and so on");
  }
  return 0;
}

/* Refuses options that would do nothing. Returns 0 or the exit code. */
static int check_options(const struct setup *setup) {
  const struct host *host = setup->host;
  if (setup->no_wake && setup->remove)
    return cli_usage(setup->cli, "--no-wake and --remove exclude each other");
  if (setup->no_wake && !host_is_woken(host))
    return cli_usage(setup->cli, "--no-wake: %s is not woken by a background process", host->title);
  if (setup->no_mcp && setup->remove)
    return cli_usage(setup->cli, "--no-mcp and --remove exclude each other");
  if (setup->no_mcp && !host->session_at)
    return cli_usage(setup->cli, "--no-mcp: %s is set up without an MCP server", host->title);
  return check_store_option(setup);
}

static int run_setup(struct setup *setup) {
  char *home = host_home(setup->host);
  int code =
      home ? check_host(setup)
           : cli_fail(setup->cli, "HOME is not set, so the configuration of %s cannot be found",
                      setup->host->title);
  if (!code) code = check_package(setup);
  if (!code) code = plan(setup, home);
  if (!code) code = do_it(setup);
  change_finish(&setup->change);
  change_finish(&setup->command);
  change_finish(&setup->configuration);
  free(home);
  return code;
}

/* `setup mcp HOST`. */
static int run_mcp(const struct setup *setup) {
  const struct cli *cli = setup->cli;
  const struct mcp_wish wish = {
      .remove = setup->remove, .dry_run = setup->dry_run, .wrap = setup->wrap};
  int code = cli_take_words(cli, 2, 2, "mcp and HOST are");
  if (code) return code;
  if (setup->no_wake || setup->no_mcp || setup->store || setup->program)
    return cli_usage(cli, "--no-wake, --no-mcp, --store and --program are not for 'setup mcp'");
  if (wish.remove && wish.wrap)
    return cli_usage(cli, "--wrap and --remove exclude each other: --remove undoes both");
  return setup_mcp(cli, cli->words[1], &wish);
}

static int setup_verb(struct cli *cli) {
  struct setup setup = {.cli = cli};
  for (int key; (key = cli_next(cli)) != CLI_END;) {
    switch (key) {
    case OPTION_REMOVE: setup.remove = true; break;
    case OPTION_DRY_RUN: setup.dry_run = true; break;
    case OPTION_WRAP: setup.wrap = true; break;
    case OPTION_NO_WAKE: setup.no_wake = true; break;
    case OPTION_NO_MCP: setup.no_mcp = true; break;
    case OPTION_STORE: setup.store = cli->value; break;
    case OPTION_PROGRAM: setup.program = cli->value; break;
    default: return cli->exit_code;
    }
  }
  if (cli->word_count && strcmp(cli->words[0], "mcp") == 0) return run_mcp(&setup);
  if (setup.wrap) return cli_usage(cli, "--wrap is for 'setup mcp'");
  if (!cli->word_count)
    return cli_usage(cli, "HOST is missing; expected one of " HOSTS_WITH_SETUP_NAMES);
  int code = cli_take_words(cli, 1, 1, "HOST is");
  if (code) return code;
  setup.host = host_find(cli->words[0]);
  if (!setup.host)
    return cli_usage(cli, "HOST: '%s' is not one of " HOSTS_WITH_SETUP_NAMES, cli->words[0]);
  if (setup.host->kind == HOST_BORROWS)
    return cli_usage(cli, "HOST: %s calls the hooks of %s: set that up", setup.host->title,
                     setup.host->borrows[0]);
  code = check_options(&setup);
  if (code) return code;
  if (!setup.program) setup.program = setup.host->program;
  return run_setup(&setup);
}

const struct cli_verb verb_setup = {
    .name = "setup",
    .usage = "[OPTION]... HOST  or  mcp HOST",
    .summary = "set up an agent for tidings, or undo that",
    .help =
        "HOST is " HOSTS_WITH_SETUP_NAMES ". Adds the hooks of tidings to the agent's own "
        "configuration; " HOSTS_WITH_MODULES_NAMES
        " loads a module instead. When a session starts, they tell the model what the "
        "notifications are. An agent that has a list of trusted hooks (Codex) gets them into it. "
        "An agent that can be woken is also woken when it idles in a terminal and an urgent "
        "notification or a message arrives: for agents with hooks a background process waits "
        "beside each session for that.\n\n"
        "Prints the changes as a diff. Other settings stay as they are. Each "
        "file is written in one step, and a copy of the old file is kept with "
        "'.before-tidings' added to its name, until --remove has put it back. Running it "
        "again changes nothing. "
        "A file that cannot be parsed is refused, with the line, and nothing is "
        "written. An agent that has tidings by its own command, as a plugin, an extension or "
        "a package, is refused: its hooks would run twice.\n\n"
        "With 'mcp', HOST is " HOSTS_OF_MCP_NAMES ": 'tidings mcp' is listed among its MCP "
        "servers, or, with --wrap, put before the commands of those that are listed.",
    .completion = COMPLETE_WORDS,
    .words = HOSTS_WITH_SETUP_WORDS,
    .options =
        (const struct cli_option[]){
            {.key = OPTION_REMOVE, .name = "remove", .help = "Undo what setup did."},
            {.key = OPTION_DRY_RUN, .name = "dry-run", .help = "Only print what would change."},
            {.key = OPTION_PROGRAM,
             .name = "program",
             .argument = "PATH",
             .help = "The agent's program, if it is not in PATH.",
             .completion = COMPLETE_FILE},
            {.key = OPTION_STORE,
             .name = "store",
             .argument = "URL",
             .help =
                 "The agent's sessions use this store in a database, "
                 "postgresql://USER@HOST/DATABASE?schema=NAME, without a password: that belongs "
                 "into ~/.pgpass. Without this option they use the store of this machine."},
            {.key = OPTION_WRAP,
             .name = "wrap",
             .help = "With 'mcp': let notifications come with the results of the servers that are "
                     "listed, instead of listing one more."},
            {.key = OPTION_NO_WAKE,
             .name = "no-wake",
             .help = "For an agent that a background process wakes: never wake an idle session; "
                     "no process waits beside it."},
            {.key = OPTION_NO_MCP,
             .name = "no-mcp",
             .help = "For Codex: list no MCP server; a session that Codex has unloaded is then "
                     "woken after its first prompt only."},
            {.name = NULL},
        },
    .run = setup_verb,
    .examples =
        (const struct cli_example[]){
            {"tidings setup codex", "Deliver notifications to Codex from now on."},
            {"tidings setup claude --dry-run", "Print the changes to Claude Code's settings."},
            {"tidings setup gemini --remove", "Undo the setup of Gemini CLI."},
            {"tidings setup mcp zed --dry-run", "Print the entry for Zed's MCP servers."},
            {NULL, NULL}},
};
