/* SPDX-License-Identifier: MIT
 *
 * conformance/verb_conformance.c: `hostsim conformance`: runs the suite against any plugin, each
 * case in a process of its own, and says how each one ended.
 */
#include "command/interrupt.h"
#include "common/folder.h"
#include "conformance/suite.h"
#include "host/agent.h"
#include "host/foreign.h"
#include "host/place.h"
#include "host/process.h"
#include "scenario/scenario.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
  OPTION_PLUGIN = CLI_LONG_ONLY,
  OPTION_LIST,
  OPTION_FILTER,
  OPTION_HOST,
  OPTION_TIMEOUT,
  OPTION_STORE,
  OPTION_KEEP
};

struct suite_run {
  char *plugin; /* absolute */
  const char *filter;
  int timeout_ms;
  bool keep; /* keep what the cases made in a database */
  unsigned passed;
  unsigned failed;
  unsigned skipped;
};

static const char *verdict_name(enum verdict verdict) {
  switch (verdict) {
  case VERDICT_PASSED: return "passed";
  case VERDICT_FAILED: return "failed";
  case VERDICT_CRASHED: return "crashed";
  case VERDICT_HUNG: return "hung";
  case VERDICT_SKIPPED: return "skipped";
  case VERDICT_INTERRUPTED: break;
  }
  return "interrupted";
}

/* Prints a line for the case, and, if there are several reasons, an indented line for each. */
static void report(struct suite_run *suite, const char *name, enum verdict verdict,
                   const char *why) {
  printf("%-8s %s", verdict_name(verdict), name);
  size_t len = strcspn(why, "\n");
  if (len > 0) printf(": %.*s", (int)len, why);
  putchar('\n');
  for (const char *line = why + len + (why[len] == '\n'); *line != '\0';) {
    len = strcspn(line, "\n");
    printf("           %.*s\n", (int)len, line);
    line += len + (line[len] == '\n');
  }
  fflush(stdout);
  if (verdict == VERDICT_PASSED) suite->passed++;
  else if (verdict == VERDICT_SKIPPED) suite->skipped++;
  else suite->failed++;
}

static bool is_wanted(const struct suite_run *suite, const char *name) {
  return !suite->filter || strstr(name, suite->filter);
}

static char *read_words(int fd) {
  char *words = NULL;
  size_t len = 0;
  FILE *out = open_memstream(&words, &len);
  if (!out) return NULL;
  char buffer[512];
  for (ssize_t got; (got = read(fd, buffer, sizeof buffer)) > 0;)
    fwrite(buffer, 1, (size_t)got, out);
  fclose(out);
  return words;
}

/* Judges a case by the end of its process and by what it wrote. Writes the reason to `why`. */
static enum verdict judge(int status, const char *words, FILE *why) {
  if (WIFSIGNALED(status)) {
    fprintf(why, "signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    return VERDICT_CRASHED;
  }
  int code = WEXITSTATUS(status);
  if (code == EXIT_SUCCESS && strcmp(words, TRIAL_PASSED) == 0) return VERDICT_PASSED;
  if (words[0] != '\0' && strcmp(words, TRIAL_PASSED) != 0) {
    fputs(words, why);
    return code == TRIAL_SKIPPED ? VERDICT_SKIPPED : VERDICT_FAILED;
  }
  fprintf(why, "the process exited with code %d%s", code,
          words[0] == '\0' ? " before the case had ended" : " after the case had passed");
  return VERDICT_FAILED;
}

static enum verdict run_process(const struct suite_run *suite, const char *name, const char *dir,
                                const char *store, FILE *why) {
  int channel[2];
  if (pipe2(channel, O_CLOEXEC | O_NONBLOCK) != 0) {
    fprintf(why, "no pipe: %s", strerror(errno));
    return VERDICT_FAILED;
  }
  pid_t pid = 0;
  const char *const arguments[] = {"internal-case", name, suite->plugin, dir, store, NULL};
  int failed = process_start_self(arguments, channel[1], &pid);
  close(channel[1]);
  if (failed != 0) {
    close(channel[0]);
    fprintf(why, "no process: %s", strerror(failed));
    return VERDICT_FAILED;
  }
  int status = 0;
  bool ended = spawn_wait(pid, suite->timeout_ms, &status);
  if (!ended) spawn_kill(pid);
  char *words = read_words(channel[0]);
  close(channel[0]);
  enum verdict verdict = VERDICT_FAILED;
  if (interrupt_seen()) {
    verdict = VERDICT_INTERRUPTED;
  } else if (!ended) {
    fprintf(why, "it did not end within %d ms", suite->timeout_ms);
    verdict = VERDICT_HUNG;
  } else {
    verdict = judge(status, words ? words : "", why);
  }
  free(words);
  return verdict;
}

static enum verdict run_case(struct suite_run *suite, const char *name) {
  char *reason = NULL;
  size_t len = 0;
  FILE *why = open_memstream(&reason, &len);
  char *dir = folder_make_temporary(NULL, "hostsim-case");
  char refused[256] = "", *store = NULL;
  enum verdict verdict = VERDICT_FAILED;
  if (why && dir) store = place_make(dir, suite->plugin, refused, sizeof refused);
  if (!store) {
    report(suite, name, VERDICT_FAILED, refused[0] ? refused : strerror(errno));
    goto out;
  }
  verdict = run_process(suite, name, dir, store, why);
  if (!suite->keep) place_remove(store, suite->plugin);
  fflush(why);
  report(suite, name, verdict, reason);
out:
  (void)folder_remove_all(dir);
  free(dir);
  free(store);
  if (why) fclose(why);
  free(reason);
  return verdict;
}

static void run_scenario(struct suite_run *suite, const char *name,
                         const struct embedded_scenario *embedded) {
  struct scenario_options options = {.plugin = suite->plugin,
                                     .seed = 1,
                                     .timeout_ms = suite->timeout_ms,
                                     .keep = suite->keep,
                                     .skip_unsupported = true};
  struct scenario_result result;
  scenario_run(name, embedded->bytes, embedded->len, &options, &result);
  report(suite, name, result.verdict, result.details ? result.details : "");
  scenario_result_finish(&result);
}

static void scenario_name(const struct embedded_scenario *embedded, char buffer[256]) {
  snprintf(buffer, 256, "scenario.%s", embedded->name);
}

static int print_list(const char *filter) {
  const struct suite_run all = {.filter = filter};
  const struct conformance_case *one = NULL;
  for (size_t i = 0; (one = suite_case(i)); i++)
    if (is_wanted(&all, one->name)) printf("%s: %s\n", one->name, one->about);
  for (size_t i = 0; i < embedded_scenario_count; i++) {
    char name[256];
    scenario_name(&embedded_scenarios[i], name);
    if (is_wanted(&all, name)) {
      json_t *scenario =
          json_loadb(embedded_scenarios[i].bytes, embedded_scenarios[i].len, JSON_ALLOW_NUL, NULL);
      const char *about = json_string_value(json_object_get(scenario, "name"));
      printf("%s: %s\n", name, about ? about : "");
      json_decref(scenario);
    }
  }
  return EXIT_SUCCESS;
}

static bool is_any_wanted(const struct suite_run *suite) {
  const struct conformance_case *one = NULL;
  for (size_t i = 0; (one = suite_case(i)); i++)
    if (is_wanted(suite, one->name)) return true;
  for (size_t i = 0; i < embedded_scenario_count; i++) {
    char name[256];
    scenario_name(&embedded_scenarios[i], name);
    if (is_wanted(suite, name)) return true;
  }
  return false;
}

static int run_suite(struct suite_run *suite) {
  interrupt_catch();
  interrupt_catch_pipe();
  const struct conformance_case *one = suite_case(0);
  bool loads = run_case(suite, one->name) ==
               VERDICT_PASSED; /* if the first case fails, all others would fail in the same way */
  /* The C cases call the plugin from this program, so they do not test a host in another
   * language. */
  for (size_t i = 1; loads && !foreign_in_use() && (one = suite_case(i)) && !interrupt_seen(); i++)
    if (is_wanted(suite, one->name)) run_case(suite, one->name);
  for (size_t i = 0; loads && i < embedded_scenario_count && !interrupt_seen(); i++) {
    char name[256];
    scenario_name(&embedded_scenarios[i], name);
    if (is_wanted(suite, name)) run_scenario(suite, name, &embedded_scenarios[i]);
  }
  printf("%u passed, %u failed, %u skipped\n", suite->passed, suite->failed, suite->skipped);
  if (interrupt_seen()) return interrupt_exit_code();
  return suite->failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int conformance_verb(struct cli *cli) {
  struct suite_run suite = {.timeout_ms = AGENT_TIMEOUT_MS};
  const char *plugin = NULL, *host = NULL;
  bool list = false;
  uint64_t number = 0;
  for (int key; (key = cli_next(cli)) != CLI_END;) {
    switch (key) {
    case OPTION_PLUGIN: plugin = cli->value; break;
    case OPTION_LIST: list = true; break;
    case OPTION_FILTER: suite.filter = cli->value; break;
    case OPTION_HOST: host = cli->value; break;
    case OPTION_STORE: place_use(cli->value); break;
    case OPTION_KEEP: suite.keep = true; break;
    case OPTION_TIMEOUT:
      if (cli_number(cli->value, 1, 3600000, &number))
        return cli_usage(cli, "--timeout: '%s' is not a number of milliseconds from 1 to 3600000",
                         cli->value);
      suite.timeout_ms = (int)number;
      break;
    default: return cli->exit_code;
    }
  }
  int code = cli_take_words(cli, 0, 0, "");
  if (code) return code;
  if (!is_any_wanted(&suite))
    return cli_usage(cli, "--filter: no case has '%s' in its name", suite.filter);
  if (list) return print_list(suite.filter);
  if (!plugin) return cli_usage(cli, "--plugin PATH is missing");
  /* A path that cannot be resolved is passed on, so that hostkit refuses it with its own
   * sentence. */
  char *chosen = place_plugin(plugin);
  suite.plugin = chosen ? realpath(chosen, NULL) : NULL;
  if (!suite.plugin) suite.plugin = strdup(plugin);
  free(chosen);
  int reason = !suite.plugin ? ENOMEM : host ? foreign_use(host) : 0;
  if (reason) fprintf(stderr, "hostsim: --host: %s\n", strerror(reason));
  int status = reason ? EXIT_FAILURE : run_suite(&suite);
  foreign_finish();
  if (suite.plugin) place_finish(suite.plugin);
  free(suite.plugin);
  return status;
}

const struct cli_verb verb_conformance = {
    .name = "conformance",
    .usage = "--plugin PATH [--host COMMAND] [--store URL] [--filter SUBSTRING] [--timeout MS] "
             "[--keep] | --list",
    .summary = "check any plugin against the contract",
    .help = "Checks any shared object against the contract of abi/tidings. Each case "
            "runs in its own process.\n\n"
            "A case ends as passed, failed (with the difference), crashed (with the "
            "signal), hung, or skipped (if it needs an event type or an extension that "
            "the plugin does not have). The last line counts them; crashed and hung "
            "cases count as failed.\n\n"
            "With --host the scenarios are played through another host, in any language: a "
            "command that answers requests on descriptor 3 (docs/scenarios.md has them).\n\n"
            "Exit code: 0 if nothing failed, 1 if something failed, 2 for a wrong "
            "command line.",
    .options =
        (const struct cli_option[]){
            {.key = OPTION_PLUGIN,
             .name = "plugin",
             .argument = "PATH",
             .completion = COMPLETE_FILE,
             .help = "The plugin to check (required)."},
            {.key = OPTION_LIST,
             .name = "list",
             .help = "Print each case's name and what it checks, and run none."},
            {.key = OPTION_FILTER,
             .name = "filter",
             .argument = "SUBSTRING",
             .help = "Run only cases whose name contains this; `load` always runs first."},
            {.key = OPTION_HOST,
             .name = "host",
             .argument = "COMMAND",
             .help = "Play the scenarios through the host that this shell command starts, and "
                     "leave out what needs hostsim's own."},
            {.key = OPTION_STORE,
             .name = "store",
             .argument = "URL",
             .help = "A database: each store is a fresh schema of it, removed afterwards unless "
                     "--keep. Default: folders."},
            {.key = OPTION_KEEP, .name = "keep", .help = "Keep the schemas."},
            {.key = OPTION_TIMEOUT,
             .name = "timeout",
             .argument = "MS",
             .help = "How long a case, or a step of a scenario, may take before it counts as hung "
                     "(default 60000)."},
            {.name = NULL},
        },
    .run = conformance_verb,
    .examples =
        (const struct cli_example[]){
            {"hostsim conformance --plugin ./mine.so", "Check this plugin."}, {NULL, NULL}},
};
