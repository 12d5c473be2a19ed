/* SPDX-License-Identifier: MIT
 *
 * config.c: `tidings config`: is the configuration right, what is in force, and what may stand in
 * it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/config_schema.h"
#include "cli/verbs.h"
#include "command/ask.h"
#include "command/kit.h"
#include "command/print.h"
#include "command/terminal.h"
#include "common/file.h"
#include "common/folder.h"

/* Opens with the configuration, on a store of its own that is removed again: what is checked is the
 * configuration and nothing else. */
static int open_with(const struct cli *cli, struct hostkit **ret_kit, char **ret_scratch) {
  char *scratch = folder_make_temporary(NULL, "tidings");
  if (!scratch) return cli_fail(cli, "cannot make a temporary folder: %s", strerror(errno));
  struct cli apart = *cli;
  apart.store = scratch;
  int code = kit_open_or_say(&apart, TIDINGS_ROLE_PRODUCER, 0, ret_kit);
  if (code) {
    (void)folder_remove_all(scratch);
    free(scratch);
    return code;
  }
  *ret_scratch = scratch;
  return 0;
}

static int in_force(const struct cli *cli, json_t **ret_config) {
  struct hostkit *kit = NULL;
  char *scratch = NULL;
  json_t *answer = NULL;
  int code = open_with(cli, &kit, &scratch);
  if (code) return code;
  code = ask(cli, kit, json_pack("{s:s}", "name", "configure"), &answer);
  if (!code) *ret_config = json_incref(json_object_get(answer, "config"));
  json_decref(answer);
  kit_close(kit);
  (void)folder_remove_all(scratch);
  free(scratch);
  return code;
}

static int check_config(struct cli *cli) {
  json_t *config = NULL;
  if (cli->word_count == 2) cli->config = cli->words[1];
  int code = in_force(cli, &config);
  if (code) return code;
  json_decref(config);
  bool named = false;
  char *path = kit_config_path(cli, &named);
  size_t len = 0;
  char *text = NULL;
  bool there = path && !file_read_whole(path, SIZE_MAX / 2, &text, &len);
  if (cli->json) {
    json_t *answer = json_pack("{s:b, s:s?}", "ok", 1, "file", there ? path : NULL);
    code = answer ? print_json(cli, answer) : cli_fail(cli, "the file's name is not UTF-8");
    json_decref(answer);
  } else {
    if (there) terminal_text(stdout, path);
    puts(there ? ": ok" : "There is no configuration; the defaults are in force.");
  }
  free(text);
  free(path);
  return code;
}

static int show(const struct cli *cli) {
  json_t *config = NULL;
  int code = in_force(cli, &config);
  if (!code) code = print_json(cli, config);
  json_decref(config);
  return code;
}

static int config_verb(struct cli *cli) {
  static const char *const words[] = {"check", "show", "schema", NULL};
  if (cli_next(cli) != CLI_END) return cli->exit_code;
  int code = cli_take_words(cli, 1, 2, "check, show or schema is");
  if (code) return code;
  int what = cli_word(cli->words[0], words);
  if (what < 0) return cli_usage(cli, "'%s' is not one of check, show, schema", cli->words[0]);
  if (what != 0 && cli->word_count > 1)
    return cli_usage(cli, "unexpected argument '%s'", cli->words[1]);
  if (what == 0 && cli->word_count > 1 && cli->config)
    return cli_usage(cli, "the file is named twice");
  if (what == 0) return check_config(cli);
  if (what == 1) return show(cli);
  fputs(config_schema, stdout);
  return 0;
}

const struct cli_verb verb_config = {
    .name = "config",
    .usage = "check [FILE] | show | schema",
    .summary = "check the configuration, show it with all defaults, print its schema",
    .help = "check reads the configuration as the plugin does and reports an error "
            "with the key's name. show prints the configuration in force with every "
            "key, including those set by a preset or a default. schema prints the "
            "JSON Schema, for editors. show and schema always print JSON.\n\n"
            "This command reads the file each time it starts. Other hosts give the "
            "plugin their own configuration.",
    .with = WITH_CONFIG | WITH_JSON,
    .completion = COMPLETE_WORDS,
    .words = "check show schema",
    .run = config_verb,
    .examples =
        (const struct cli_example[]){
            {"tidings config check", "Check the configuration."},
            {"tidings config show | jq .delivery", "Show how notifications are delivered."},
            {"tidings config schema > tidings.schema.json", "Write the schema for an editor."},
            {NULL, NULL}},
};
