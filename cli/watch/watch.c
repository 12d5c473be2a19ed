/* SPDX-License-Identifier: MIT
 *
 * watch/watch.c: `tidings watch`: pushes notifications about files that other programs change.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/watch/outbox.h"
#include "cli/watch/watch.h"
#include "command/destination.h"
#include "command/interrupt.h"
#include "command/kit.h"
#include "command/paths.h"
#include "command/patience.h"
#include "command/session.h"
#include "command/terminal.h"
#include "common/clock.h"

enum { OPTION_IGNORE = CLI_LONG_ONLY, OPTION_DEBOUNCE };
enum { DEBOUNCE_MS = 250, LONGEST_DELAY_MS = 1000, LONGEST_RETRY_MS = 30000 };

struct watching {
  struct cli *cli;
  struct filter filter;
  struct changes changes;
  struct tree tree;
  struct outbox outbox;
  const char *session; /* the named session; NULL: the newest one here */
  char *last;          /* the session of the last push */
  bool quiet;
  uint64_t debounce_ms, first_ms, newest_ms; /* first and newest change that is not pushed yet */
  struct patience patience;                  /* for a failed push */
};

/* -- pushing ----------------------------------------------------------------------------------- */

static void push_changes(struct watching *watching) {
  if (outbox_empty(&watching->outbox)) return;
  if (!outbox_push(watching->cli, &watching->outbox, watching->session, &watching->last))
    watching->patience = (struct patience){.pause_ms = 0};
  else patience_later(&watching->patience, LONGEST_RETRY_MS);
}

static void say_unreadable(struct watching *watching) {
  struct tree *tree = &watching->tree;
  if (!tree->unreadable) return;
  if (tree->unreadable_count == 1)
    cli_warn(watching->cli, "%s cannot be read: what changes in it is not reported",
             tree->unreadable);
  else
    cli_warn(watching->cli,
             "%zu folders cannot be read, such as %s: what changes in them is not "
             "reported",
             tree->unreadable_count, tree->unreadable);
  free(tree->unreadable);
  tree->unreadable = NULL;
  tree->unreadable_count = 0;
}

/* Reports the changes; for after a pause in them, or the longest delay. */
static int flush(struct watching *watching) {
  tree_settle(&watching->tree);
  if (outbox_take(&watching->outbox, &watching->tree))
    return cli_fail(watching->cli, "out of memory");
  if (watching->outbox.too_many) {
    cli_warn(watching->cli, "new folders cannot be watched: fs.inotify.max_user_watches is "
                            "reached; leave some out with --ignore, or as root: "
                            "sysctl fs.inotify.max_user_watches=524288");
  }
  say_unreadable(watching);
  push_changes(watching);
  return 0;
}

/* -- the loop ---------------------------------------------------------------------------------- */

static uint64_t due_ms(const struct watching *watching) {
  uint64_t quiet = watching->newest_ms + watching->debounce_ms,
           last = watching->first_ms + LONGEST_DELAY_MS;
  if (last < quiet && watching->debounce_ms < LONGEST_DELAY_MS) return last;
  return quiet;
}

static int timeout(const struct watching *watching) {
  uint64_t now = (uint64_t)clock_mono_ms(), until = UINT64_MAX;
  if (watching->changes.count) until = due_ms(watching);
  uint64_t retry_ms = (uint64_t)watching->patience.due_ms;
  if (!outbox_empty(&watching->outbox) && retry_ms < until) until = retry_ms;
  if (until == UINT64_MAX) return -1;
  return until > now ? (int)(until - now) : 0;
}

static int take_events(struct watching *watching) {
  size_t before = watching->changes.count;
  int reason = tree_read(&watching->tree);
  if (reason) return cli_fail(watching->cli, "cannot go on watching: %s", strerror(reason));
  watching->newest_ms = (uint64_t)clock_mono_ms();
  if (!before) watching->first_ms = watching->newest_ms;
  if (watching->tree.overflowed) {
    cli_warn(watching->cli, "too much happened at once: the kernel dropped events "
                            "(fs.inotify.max_queued_events); looking at all files again");
    watching->outbox.dropped = true;
    watching->patience.due_ms = 0;
    tree_look_again(&watching->tree);
  }
  return 0;
}

static int loop(struct watching *watching) {
  int code = 0;
  while (!code && !interrupt_seen()) {
    struct pollfd events = {.fd = watching->tree.fd, .events = POLLIN};
    int ready = interrupt_poll(&events, 1, timeout(watching));
    if (ready > 0) code = take_events(watching);
    if (!code && watching->changes.count && (uint64_t)clock_mono_ms() >= due_ms(watching))
      code = flush(watching);
    if (!code && !outbox_empty(&watching->outbox) && clock_mono_ms() >= watching->patience.due_ms)
      push_changes(watching);
    if (!code && !watching->tree.folder_count && !watching->changes.count)
      code = cli_fail(watching->cli, "nothing is left to watch");
  }
  /* Pushes earlier changes at the end, even if a suspended watcher gets the signal first. */
  if (!code) code = take_events(watching);
  if (!code && watching->changes.count) code = flush(watching);
  else if (!code) push_changes(watching);
  if (!code && !outbox_empty(&watching->outbox))
    code = cli_fail(watching->cli, "it ends, and the last changes were not reported");
  return code;
}

/* -- the beginning ----------------------------------------------------------------------------- */

/* Resolves links, as in the watched paths. */
static char *real_folder(char *path) {
  char *real = path ? realpath(path, NULL) : NULL;
  free(path);
  return real;
}

static int start_watching(struct watching *watching) {
  static char here_name[] = ".", *here[] = {here_name};
  struct cli *cli = watching->cli;
  char **paths = cli->word_count ? cli->words : here;
  size_t count = cli->word_count ? (size_t)cli->word_count : 1;
  struct destination destination = {.kit = NULL};
  int code = destination_open(cli, &destination);
  if (code) return code;
  watching->last = strdup(destination.session);
  destination_close(&destination);
  if (!watching->last) return cli_fail(cli, "out of memory");
  watching->filter.kept_apart[0] = real_folder(kit_store_path(cli));
  watching->filter.kept_apart[1] =
      real_folder(paths_in_home("XDG_STATE_HOME", ".local/state", "tidings/logs"));
  code = tree_open(&watching->tree, cli, &watching->filter, &watching->changes, count);
  if (code) return code;
  interrupt_begin();
  for (size_t i = 0; !code && i < count; i++) code = tree_add_root(&watching->tree, paths[i]);
  if (!code && !watching->quiet) {
    fprintf(stderr, "watching %zu folder%s for session ", watching->tree.folder_count,
            watching->tree.folder_count == 1 ? "" : "s");
    terminal_text(stderr, watching->last);
    fputc('\n', stderr);
  }
  if (!code) say_unreadable(watching);
  if (!code) code = loop(watching);
  tree_close(&watching->tree);
  return code;
}

static int add_glob(struct watching *watching, char *glob) {
  size_t len = strlen(glob);
  while (len > 1 && glob[len - 1] == '/') glob[--len] = '\0';
  if (!len || len >= PATH_MAX)
    return cli_usage(watching->cli, "--ignore: '%s' is not a glob", glob);
  if (watching->filter.glob_count == MOST_GLOBS)
    return cli_usage(watching->cli, "--ignore: given more than %d times", MOST_GLOBS);
  watching->filter.globs[watching->filter.glob_count++] = glob;
  return 0;
}

static int read_option(struct watching *watching, int key) {
  struct cli *cli = watching->cli;
  switch (key) {
  case OPTION_IGNORE: return add_glob(watching, (char *)(uintptr_t)cli->value);
  case 'q': watching->quiet = true; return 0;
  case OPTION_DEBOUNCE:
    if (!cli_duration(cli->value, &watching->debounce_ms) && watching->debounce_ms <= 60000)
      return 0;
    return cli_usage(cli,
                     "--debounce: '%s' is not a duration up to 60s; expected one such as 250ms",
                     cli->value);
  default: return cli->exit_code;
  }
}

static int watch_verb(struct cli *cli) {
  struct watching watching = {.cli = cli, .debounce_ms = DEBOUNCE_MS};
  int code = 0;
  for (int key; !code && (key = cli_next(cli)) != CLI_END;) {
    if (key == CLI_STOP) return cli->exit_code;
    code = read_option(&watching, key);
  }
  watching.session = session_named(cli);
  if (!code && cli->print_session) code = session_print(cli);
  else if (!code) code = start_watching(&watching);
  outbox_free(&watching.outbox);
  changes_free(&watching.changes);
  filter_free(&watching.filter);
  free(watching.last);
  return code;
}

const struct cli_verb verb_watch = {
    .name = "watch",
    .usage = "[OPTION]... [PATH]...",
    .summary = "notify the agent of files that other programs change",
    .help = "Watches files and folders, including everything below them. Pushes a "
            "notification when a file in them is modified, created, deleted or "
            "renamed. Without arguments, it watches the current folder. It runs "
            "until it is stopped (Ctrl-C).\n\n"
            "It leaves out .git, files that git ignores, files that editors create "
            "beside a file (x~, .x.swp), and files that match --ignore. A glob "
            "without a slash matches names; one with a slash matches the path from "
            "the watched folder.\n\n"
            "Changes within a quarter of a second are pushed together: up to eight "
            "files one by one, more as one notification. A file is not pushed again "
            "while its notification is pending. Lost kernel events are reported.",
    .with = WITH_SESSION | WITH_CREATE | WITH_STORE | WITH_CONFIG,
    .completion = COMPLETE_FILE,
    .options =
        (const struct cli_option[]){
            {.key = OPTION_IGNORE,
             .name = "ignore",
             .argument = "GLOB",
             .help = "Leave out files that match; may be given more than once."},
            {.key = OPTION_DEBOUNCE,
             .name = "debounce",
             .argument = "DURATION",
             .help = "Push after this time without changes; 250ms if not given."},
            {.key = 'q', .name = "quiet", .help = "Do not print what is watched."},
            {.name = NULL},
        },
    .run = watch_verb,
    .examples =
        (const struct cli_example[]){
            {"tidings watch", "Watch this folder, for the agent that works in it."},
            {"tidings watch --ignore '*.log' --ignore build src docs",
             "Watch two folders, without some of their files."},
            {NULL, NULL}},
};
