/* SPDX-License-Identifier: MIT
 *
 * timeline/verb_timeline.c: `tidings timeline`.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/timeline/timeline.h"
#include "command/ask.h"
#include "command/print.h"
#include "common/file.h"

enum { OPTION_TRACE = CLI_LONG_ONLY, OPTION_SINCE };

static int write_out(const struct cli *cli, const char *path, const struct buffer *text) {
  bool to_stdout = strcmp(path, "-") == 0;
  int reason = to_stdout ? file_write_all(STDOUT_FILENO, text->bytes, text->len)
                         : file_write_whole(path, text->bytes, text->len);
  if (!reason) return 0;
  if (to_stdout && reason == EPIPE) return EXIT_PIPE;
  return cli_fail(cli, "cannot write %s: %s", to_stdout ? "to the standard output" : path,
                  strerror(reason));
}

static int write_timeline(const struct cli *cli, const char *path, bool trace,
                          const json_t *answer) {
  struct buffer text = BUFFER_EMPTY;
  if (trace) {
    timeline_trace(answer, &text);
    buffer_byte(&text, '\n');
  } else {
    buffer_text(&text, timeline_page_before);
    timeline_data(answer, &text);
    buffer_text(&text, timeline_page_after);
  }
  int code = text.failed ? cli_fail(cli, "out of memory") : write_out(cli, path, &text);
  buffer_free(&text);
  return code;
}

static int run_timeline(struct cli *cli) {
  const char *path = NULL, *since = NULL;
  int64_t since_ms = 0;
  bool trace = false;
  json_t *answer = NULL;
  for (int key; (key = cli_next(cli)) != CLI_END;) {
    switch (key) {
    case 'o': path = cli->value; break;
    case OPTION_TRACE: trace = true; break;
    case OPTION_SINCE: since = cli->value; break;
    default: return cli->exit_code;
    }
  }
  int code = cli_take_words(cli, 0, 0, "");
  if (code) return code;
  if (!path) return cli_usage(cli, "-o FILE is missing; -o - writes to the standard output");
  if (since && trace) return cli_usage(cli, "--since is for the page, not for --trace");
  if (since) code = print_since(cli, since, &since_ms);
  if (!code) code = ask_about_session(cli, json_pack("{s:s}", "name", "timeline"), &answer);
  if (code) return code;
  if (since) (void)json_object_set_new(answer, "from", json_integer((json_int_t)since_ms));
  code = write_timeline(cli, path, trace, answer);
  json_decref(answer);
  return code;
}

const struct cli_verb verb_timeline = {
    .name = "timeline",
    .usage = "[OPTION]... -o FILE",
    .summary = "draw what happened in a session as a page for a browser",
    .help = "Writes one HTML file that shows a session over time: each notification from its push "
            "to its outcome, what was pending, the turns, the carriers and the agent's restarts. "
            "A click on a notification shows what 'tidings explain' says about it, and what its "
            "carrier showed. The page needs no network, and loads nothing.\n\n"
            "The page holds the texts of the notifications: whoever has the file can read them. "
            "With --trace, writes Trace Event JSON instead, which https://ui.perfetto.dev opens.",
    .with = WITH_SESSION | WITH_STORE | WITH_CONFIG | ONLY_READS,
    .options = (const struct cli_option[]){{.key = 'o',
                                            .name = "output",
                                            .argument = "FILE",
                                            .help = "Write to this file; - is the standard output.",
                                            .completion = COMPLETE_FILE},
                                           {.key = OPTION_TRACE,
                                            .name = "trace",
                                            .help = "Write Trace Event JSON instead of a page."},
                                           {.key = OPTION_SINCE,
                                            .name = "since",
                                            .argument = "TIME",
                                            .help = "The page begins with the view from then on: "
                                                    "15:40, 2026-11-23, '2026-11-23 15:40', or 2h "
                                                    "(ago). It has everything all the same."},
                                           {.name = NULL}},
    .run = run_timeline,
    .examples = (const struct cli_example[]){{"tidings timeline -o timeline.html",
                                              "See what the agent of this folder got, and when."},
                                             {"tidings timeline --trace -o trace.json",
                                              "The same for Perfetto."},
                                             {NULL, NULL}},
};
