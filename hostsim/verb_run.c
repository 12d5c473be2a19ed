/* SPDX-License-Identifier: MIT
 *
 * hostsim run: plays scenario files and prints TAP. What happens in a scenario is scenario/'s
 * business.
 */
#include "agent.h"
#include "cli.h"
#include "interrupt.h"
#include "paths.h"
#include "scenario/scenario.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "Plays scenario files against a plugin and prints TAP: one test point a file, named by its "
    "`name`, and what differs below it.\n"
    "A scenario runs in a process of its own on a fresh store; its clock moves only when it says "
    "so; the same files print the same.\n\n"
    "  --plugin PATH   the plugin; default: tidings.so beside hostsim, else the installed one\n"
    "  --seed N        seed of the plugin's randomness (default 1)\n"
    "  --timeout MS    how long one step may take before its process is killed and the scenario "
    "fails as hung (default 30000)\n"
    "  --keep          leave the stores where they are and say where\n"
    "  --verbose       the plugin's log on stderr\n"
    "  --help          this text\n\n"
    "A file is one JSON object: `name`, `config` (given at open), `host_name`, `steps`. A step has "
    "one of\n"
    "  event {…} | event_raw \"…\" | tool_result {session, call_id, tool, content} | chat_request "
    "{session, source, content, messages} |\n"
    "  settle {delivery, outcome} | query {name, …} | advance_ms N | restart {} | crash {} | crash "
    "{\"at\": \"commit\", \"n\": N} | swap "
    "{}\n"
    "and beside it `expect` (for the first six) and `settle` (\"committed\", \"rolled_back\" or "
    "\"none\", for the two carriers). `expect` "
    "names\n"
    "what must be equal: content, content_contains, content_lacks, notifications, messages, "
    "actions, steered, status, delivery, "
    "duplicate,\n"
    "wake_at, error, error_contains; for a query the answer's fields. \"$last\" is the newest "
    "delivery's id, \"$offer\" the ids of the "
    "newest offer.\n\n"
    "Exit code: 0 when all passed, 1 when not, 2 for a wrong command line.\n";

static void print_lines(const char *text) {
  for (const char *line = text; *line != '\0';) {
    size_t len = strcspn(line, "\n");
    printf("# %.*s\n", (int)len, line);
    line += len + (line[len] == '\n');
  }
}

/* Characters that mean something in a TAP description are made harmless. */
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
  if (paths_read_file(path, &text, &len) != 0) {
    print_point(false, number, path);
    printf("# %s: %s\n", path, strerror(errno));
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
  printf("TAP version 13\n1..%zu\n", count);
  for (size_t i = 0; i < count && !interrupt_seen(); i++)
    all_passed = run_file(files[i], i + 1, options) && all_passed;
  if (interrupt_seen()) {
    printf("Bail out! interrupted\n");
    return interrupt_exit_code();
  }
  return all_passed ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int run(const struct cli_verb *verb, int argc, char **argv) {
  static const struct option long_options[] = {
      {"plugin", required_argument, NULL, 'p'},
      {"seed", required_argument, NULL, 's'},
      {"keep", no_argument, NULL, 'k'},
      {"timeout", required_argument, NULL, 't'},
      {"verbose", no_argument, NULL, 'v'},
      {"help", no_argument, NULL, 'h'},
      {NULL, 0, NULL, 0},
  };
  struct scenario_options options = {.seed = 1, .timeout_ms = AGENT_TIMEOUT_MS};
  uint64_t number = 0;
  opterr = 0;
  for (int option; (option = getopt_long(argc, argv, ":h", long_options, NULL)) != -1;) {
    switch (option) {
    case 'p': options.plugin = optarg; break;
    case 's':
      if (cli_number(optarg, 0, UINT64_MAX, &options.seed) != 0)
        return cli_usage_error(verb, "--seed: '%s' is not a whole number", optarg);
      break;
    case 't':
      if (cli_number(optarg, 1, 3600000, &number) != 0) {
        return cli_usage_error(
            verb, "--timeout: '%s' is not a number of milliseconds from 1 to 3600000", optarg);
      }
      options.timeout_ms = (int)number;
      break;
    case 'k': options.keep = true; break;
    case 'v': options.verbose = true; break;
    case 'h': return cli_help(verb);
    default: return cli_bad_option(verb, option, argv);
    }
  }
  if (optind == argc) return cli_usage_error(verb, "no scenario file was named");
  char *found = !options.plugin ? paths_default_plugin() : NULL;
  if (!options.plugin) options.plugin = found ? found : "tidings.so";
  int status = run_files(argv + optind, &options);
  free(found);
  return status;
}

const struct cli_verb verb_run = {
    .name = "run",
    .usage =
        "hostsim run [--plugin PATH] [--seed N] [--timeout MS] [--keep] [--verbose] FILE.json...",
    .help = help,
    .run = run};
