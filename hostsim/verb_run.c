/* SPDX-License-Identifier: MIT
 *
 * verb_run.c: `hostsim run`: plays scenario files and prints TAP. scenario/ plays the steps.
 */
#include "command/interrupt.h"
#include "command/paths.h"
#include "common/file.h"
#include "host/agent.h"
#include "host/place.h"
#include "scenario/scenario.h"
#include "verbs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
  OPTION_PLUGIN = CLI_LONG_ONLY,
  OPTION_SEED,
  OPTION_TIMEOUT,
  OPTION_KEEP,
  OPTION_STORE,
  OPTION_VERBOSE
};

static void print_lines(const char *text) {
  for (const char *line = text; *line != '\0';) {
    size_t len = strcspn(line, "\n");
    printf("# %.*s\n", (int)len, line);
    line += len + (line[len] == '\n');
  }
}

/* Prints a result, and escapes characters that have a meaning in a TAP description. */
static void print_point(bool passed, size_t number, const char *name) {
  printf("%s %zu - ", passed ? "ok" : "not ok", number);
  for (const char *c = name; *c != '\0'; c++) {
    if (*c == '#' || *c == '\\') putchar('\\');
    putchar(*c == '\n' ? ' ' : *c);
  }
  putchar('\n');
}

static bool run_file(const char *path, size_t number, const struct scenario_options *options) {
  char *text = NULL;
  size_t len = 0;
  int reason = file_read_whole(path, SIZE_MAX / 2, &text, &len);
  if (reason) {
    print_point(false, number, path);
    printf("# %s: %s\n", path, strerror(reason));
    return false;
  }
  struct scenario_result result;
  scenario_run(path, text, len, options, &result);
  free(text);
  bool passed = result.verdict == VERDICT_PASSED;
  print_point(passed, number, result.name);
  print_lines(result.details);
  fflush(stdout);
  scenario_result_finish(&result);
  return passed;
}

static int run_files(char **files, const struct scenario_options *options) {
  size_t count = 0;
  while (files[count]) count++;
  bool all_passed = true;
  interrupt_catch();
  interrupt_catch_pipe();
  printf("TAP version 13\n1..%zu\n", count);
  for (size_t i = 0; i < count && !interrupt_seen(); i++)
    all_passed = run_file(files[i], i + 1, options) && all_passed;
  if (interrupt_seen()) {
    printf("Bail out! interrupted\n");
    return interrupt_exit_code();
  }
  return all_passed ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int run_verb(struct cli *cli) {
  struct scenario_options options = {.seed = 1, .timeout_ms = AGENT_TIMEOUT_MS};
  uint64_t number = 0;
  for (int key; (key = cli_next(cli)) != CLI_END;) {
    switch (key) {
    case OPTION_PLUGIN: options.plugin = cli->value; break;
    case OPTION_SEED:
      if (cli_number(cli->value, 0, UINT64_MAX, &options.seed))
        return cli_usage(cli, "--seed: '%s' is not a whole number", cli->value);
      break;
    case OPTION_TIMEOUT:
      if (cli_number(cli->value, 1, 3600000, &number))
        return cli_usage(cli, "--timeout: '%s' is not a number of milliseconds from 1 to 3600000",
                         cli->value);
      options.timeout_ms = (int)number;
      break;
    case OPTION_STORE: place_use(cli->value); break;
    case OPTION_KEEP: options.keep = true; break;
    case OPTION_VERBOSE: options.verbose = true; break;
    default: return cli->exit_code;
    }
  }
  if (!cli->word_count) return cli_usage(cli, "no scenario file was named");
  char *found = options.plugin ? NULL : paths_beside_program("tidings.so", CLI_PLUGIN_FROM_PROGRAM);
  if (!options.plugin) options.plugin = found ? found : "tidings.so";
  char *plugin = place_plugin(options.plugin);
  if (plugin) options.plugin = plugin;
  int status = run_files(cli->words, &options);
  place_finish(options.plugin);
  free(plugin);
  free(found);
  return status;
}

const struct cli_verb verb_run = {
    .name = "run",
    .usage =
        "[--plugin PATH] [--store URL] [--seed N] [--timeout MS] [--keep] [--verbose] FILE.json...",
    .summary = "play scenario files and print TAP",
    .help = "Plays scenario files against a plugin and prints TAP: one test point "
            "per file, named by its `name`, with the differences below it. Each "
            "scenario runs in its own process on a fresh store. Its clock moves only "
            "when the scenario says so; the same files print the same output.\n\n"
            "A file is one JSON object: `name`, `config` (given at open), "
            "`host_name`, `steps`. A step has one of\n"
            "event {...}, event_raw \"...\", tool_result {session, call_id, tool, "
            "content, room},\n"
            "chat_request {session, source, content, messages, room}, settle {delivery, "
            "outcome},\n"
            "query {name, ...}, advance_ms N, restart {}, crash {}, crash {\"at\": "
            "\"commit\", \"n\": N}, swap {}\n"
            "and also `expect` (for the first six), `settle` (\"committed\", "
            "\"rolled_back\" or \"none\", for the two carriers) and `as` (\"producer\", for "
            "events). `expect` names what "
            "must be equal: content, content_contains, content_lacks, notifications, "
            "messages, actions, steered, status, delivery, duplicate, wake_at, "
            "ledger_contains, ledger_lacks, error, error_contains; for a query, the "
            "answer's fields. \"$last\" is the newest delivery's id, \"$offer\" the ids of the "
            "newest offer.\n\n"
            "Exit code: 0 if all passed, 1 if not, 2 for a wrong command line.",
    .completion = COMPLETE_FILE,
    .options =
        (const struct cli_option[]){
            {.key = OPTION_PLUGIN,
             .name = "plugin",
             .argument = "PATH",
             .completion = COMPLETE_FILE,
             .help = "The plugin. Default: tidings.so beside hostsim, else the "
                     "installed one."},
            {.key = OPTION_SEED,
             .name = "seed",
             .argument = "N",
             .help = "Seed of the plugin's randomness (default 1)."},
            {.key = OPTION_TIMEOUT,
             .name = "timeout",
             .argument = "MS",
             .help = "How long one step may take before its process is killed and the scenario "
                     "fails as hung (default 60000)."},
            {.key = OPTION_STORE,
             .name = "store",
             .argument = "URL",
             .help = "A database: each store is a fresh schema of it, removed afterwards unless "
                     "--keep. Default: folders."},
            {.key = OPTION_KEEP, .name = "keep", .help = "Keep the stores and print their paths."},
            {.key = OPTION_VERBOSE, .name = "verbose", .help = "Print the plugin's log on stderr."},
            {.name = NULL},
        },
    .run = run_verb,
    .examples =
        (const struct cli_example[]){
            {"hostsim run tests/scenarios/*.json", "Play all these files."}, {NULL, NULL}},
};
