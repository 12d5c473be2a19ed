/* SPDX-License-Identifier: MIT
 *
 * dev/verb_dev.c: `hostsim dev`: the plugin developer's loop. A session continues, line by line or
 * second by second, while its plugin is rebuilt and swapped. A build that fails, or that hostkit
 * refuses, is only shown.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "command/interrupt.h"
#include "command/paths.h"
#include "common/clock.h"
#include "common/folder.h"
#include "dev/build.h"
#include "dev/dev.h"
#include "dev/pane.h"
#include "dev/sources.h"
#include "dev/talk.h"
#include "host/hostkit_flags.h"

#define DRAIN_MS 5000
/* While other things compile, the probe of a new build may wait long for a processor. */
#define PROBE_MS 60000
/* Linkers write a file in several steps. Somebody else's build is complete when the file has not
 * changed for this time. */
#define PLUGIN_QUIET_MS 200
/* Editors also write a file in several steps, and formatters write it again. */
#define SAVE_QUIET_MS 60
#define MOST_FOLDERS 16

enum {
  OPTION_PLUGIN = CLI_LONG_ONLY,
  OPTION_EVERY,
  OPTION_SOURCES,
  OPTION_BUILD,
  OPTION_PLAY,
  OPTION_AGAIN
};

struct dev {
  struct talk talk;
  struct pane pane;
  struct sources sources;
  struct build build;
  const char *plugin, *play;
  const char *folders[MOST_FOLDERS]; /* folders of sources */
  size_t folder_count;
  bool again; /* say the last line again after a swap */
  uint64_t every_ms;
  unsigned ticks;
  int64_t tick_at;  /* -1: never */
  int64_t swap_at;  /* -1: nothing to swap */
  int64_t build_at; /* -1: nothing to build */
  int64_t saved_at; /* when the source of the current or last build was saved */
  bool linked;      /* the plugin has changed while the build ran */
};

/* -- swapping ---------------------------------------------------------------------------------- */

static unsigned print_info(struct dev *dev, enum pane_style style, const char *what) {
  struct hostkit_info info = {.size = sizeof info};
  if (hostkit_info(dev->talk.hostkit, &info) != TIDINGS_OK) return 0;
  pane_say(&dev->pane, style, "-- %s: generation %u, %s %s, build %s", what, info.generation,
           info.name, info.version, info.build_id[0] != '\0' ? info.build_id : "unnamed");
  return info.generation;
}

static void show_ready(struct dev *dev, unsigned generation) {
  pane_status(&dev->pane, PANE_GOOD,
              " generation %u runs; %zu folders of sources are watched; Ctrl-C ends", generation,
              dev->sources.count - 1);
}

static unsigned generation_now(const struct dev *dev) {
  struct hostkit_info info = {.size = sizeof info};
  return hostkit_info(dev->talk.hostkit, &info) == TIDINGS_OK ? info.generation : 0;
}

static bool swap(struct dev *dev) {
  struct tidings_error error = {.size = sizeof error};
  dev->swap_at = -1;
  if (hostkit_swap(dev->talk.hostkit, NULL, DRAIN_MS, &error) != TIDINGS_OK) {
    pane_say(&dev->pane, PANE_WRONG, "-- refused: %s", error.text);
    unsigned generation = print_info(dev, PANE_NOTE, "going on with");
    pane_status(&dev->pane, PANE_WRONG, " the new build was refused; generation %u goes on",
                generation);
    return false;
  }
  show_ready(dev, print_info(dev, PANE_GOOD, "swapped"));
  if (dev->again) talk_say_again(&dev->talk);
  return true;
}

/* -- building ---------------------------------------------------------------------------------- */

static void start_build(struct dev *dev) {
  dev->build_at = -1;
  dev->linked = false;
  int reason = build_start(&dev->build);
  if (reason)
    pane_say(&dev->pane, PANE_WRONG, "-- the build cannot be started: %s", strerror(reason));
}

static void show_failure(struct dev *dev, int64_t ms) {
  struct buffer lines = BUFFER_EMPTY;
  unsigned errors = 0, left = 0, generation = generation_now(dev);
  build_errors(&dev->build, &lines, &errors, &left);
  if (lines.len) pane_lines(&dev->pane, PANE_WRONG, lines.bytes, lines.len);
  buffer_free(&lines);
  if (left) pane_say(&dev->pane, PANE_WRONG, "   and %u lines more", left);
  pane_say(&dev->pane, PANE_WRONG,
           "-- does not build: %u error%s, after %.2f s; generation %u goes on", errors,
           errors == 1 ? "" : "s", (double)ms / 1000, generation);
  pane_status(&dev->pane, PANE_WRONG, " does not build: %u error%s; generation %u goes on", errors,
              errors == 1 ? "" : "s", generation);
}

/* Handles a build's end. If another build waits, a later save has stopped this one, and the next
 * one builds everything. */
static void end_build(struct dev *dev, int status) {
  int64_t now = clock_mono_ms(), build_ms = now - dev->build.began_ms;
  if (dev->build_at >= 0) return;
  if (!WIFEXITED(status) || WEXITSTATUS(status)) {
    show_failure(dev, build_ms);
    return;
  }
  if (!dev->linked) {
    pane_say(&dev->pane, PANE_NOTE, "-- built in %.2f s; the plugin is the same",
             (double)build_ms / 1000);
    show_ready(dev, generation_now(dev));
    return;
  }
  if (!swap(dev)) return;
  int64_t all_ms = clock_mono_ms() - dev->saved_at;
  pane_say(&dev->pane, PANE_NOTE,
           "-- %.2f s after the save: the build took %.2f s, the rest %.2f s",
           (double)all_ms / 1000, (double)build_ms / 1000, (double)(all_ms - build_ms) / 1000);
}

static void note_saved(struct dev *dev, bool building) {
  struct sources_saved saved;
  int64_t now = clock_mono_ms();
  sources_read(&dev->sources, &saved);
  if (saved.plugin && building) dev->linked = true;
  else if (saved.plugin) dev->swap_at = now + PLUGIN_QUIET_MS;
  if (!saved.source[0] || !dev->build.command) return;
  if (dev->build_at < 0) pane_say(&dev->pane, PANE_NOTE, "-- saved: %s", saved.source);
  pane_status(&dev->pane, PANE_NOTE, " building what was saved: %s", saved.source);
  build_cancel(&dev->build);
  dev->saved_at = now;
  dev->build_at = now + SAVE_QUIET_MS;
}

/* -- the loop ---------------------------------------------------------------------------------- */

static void tick(struct dev *dev) {
  char message[32];
  snprintf(message, sizeof message, "Tick %u.", ++dev->ticks);
  talk_say(&dev->talk, message);
  dev->tick_at = clock_mono_ms() + (int64_t)dev->every_ms;
}

static void take_lines(struct dev *dev) {
  pane_read(&dev->pane);
  for (const char *line; (line = pane_line(&dev->pane));)
    if (line[0]) talk_say(&dev->talk, line);
}

/* Returns how long to sleep until something has to be done; -1: for ever. */
static int time_left(const struct dev *dev) {
  const int64_t times[] = {dev->tick_at, dev->swap_at, dev->build.fd >= 0 ? -1 : dev->build_at};
  int64_t next = -1;
  for (size_t i = 0; i < sizeof times / sizeof *times; i++)
    if (times[i] >= 0 && (next < 0 || times[i] < next)) next = times[i];
  int64_t left = next - clock_mono_ms();
  return next < 0 ? -1 : left > 0 ? (int)left : 0;
}

static bool is_due(int64_t at) { return at >= 0 && clock_mono_ms() >= at; }

/* After a build has ended, reads the saves again, because the build has renamed the plugin. */
static void look_at_build(struct dev *dev) {
  int status = 0;
  if (!build_has_ended(&dev->build, &status)) return;
  note_saved(dev, true);
  end_build(dev, status);
}

static void loop(struct dev *dev) {
  while (!dev->pane.ended && !interrupt_seen()) {
    struct pollfd ready[3] = {{.fd = STDIN_FILENO, .events = POLLIN},
                              {.fd = dev->sources.fd, .events = POLLIN},
                              {.fd = dev->build.fd, .events = POLLIN}};
    if (poll(ready, 3, time_left(dev)) < 0 && errno != EINTR) return;
    if (interrupt_seen()) return;
    pane_settle(&dev->pane);
    if (ready[1].revents & POLLIN) note_saved(dev, dev->build.fd >= 0);
    if (dev->build.fd >= 0) look_at_build(dev);
    if (dev->build.fd < 0 && is_due(dev->build_at)) start_build(dev);
    if (is_due(dev->swap_at)) (void)swap(dev);
    if (ready[0].revents & (POLLIN | POLLHUP | POLLERR)) take_lines(dev);
    if (is_due(dev->tick_at)) tick(dev);
  }
}

/* Begins the conversation with the lines of a file. Returns 0, or an errno after printing the
 * error. */
static int play_file(struct dev *dev) {
  char *line = NULL;
  size_t size = 0;
  FILE *file = dev->play ? fopen(dev->play, "re") : NULL;
  if (!dev->play) return 0;
  if (!file) {
    int reason = errno;
    fprintf(stderr, "hostsim dev: %s: %s\n", dev->play, strerror(reason));
    return reason;
  }
  while (getline(&line, &size, file) > 0) {
    line[strcspn(line, "\n")] = '\0';
    if (line[0]) talk_say(&dev->talk, line);
  }
  free(line);
  fclose(file);
  return 0;
}

static int watch_sources(struct dev *dev) {
  int reason = sources_begin(dev->plugin, &dev->sources);
  if (reason)
    fprintf(stderr, "hostsim dev: %s cannot be watched: %s\n", dev->plugin, strerror(reason));
  for (size_t i = 0; !reason && i < dev->folder_count; i++) {
    reason = sources_add(&dev->sources, dev->folders[i]);
    if (reason)
      fprintf(stderr, "hostsim dev: %s cannot be watched: %s\n", dev->folders[i], strerror(reason));
  }
  return reason;
}

static int converse(struct dev *dev) {
  pane_begin(&dev->pane);
  show_ready(dev, print_info(dev, PANE_NOTE, "loaded"));
  int reason = play_file(dev);
  if (!reason) loop(dev);
  build_finish(&dev->build);
  pane_end(&dev->pane);
  return reason;
}

static int develop(struct dev *dev) {
  int status = EXIT_FAILURE;
  struct tidings_error error = {.size = sizeof error};
  char *dir = folder_make_temporary(NULL, "hostsim-dev");
  char *store = dir ? paths_join(dir, "store") : NULL;
  struct hostkit_options options = {.size = sizeof options,
                                    .flags = HOSTSIM_HOSTKIT_FLAGS,
                                    .plugin_path = dev->plugin,
                                    .store_dir = store,
                                    .host_name = "hostsim",
                                    .copy_dir = dir,
                                    .probe_timeout_ms = PROBE_MS};
  if (!store || watch_sources(dev)) goto out;
  if (hostkit_open(&options, &dev->talk.hostkit, &error) != TIDINGS_OK) {
    fprintf(stderr, "hostsim dev: %s: %s\n", dev->plugin, error.text);
    goto out;
  }
  int reason = converse(dev);
  if (hostkit_close(dev->talk.hostkit, DRAIN_MS, &error) != TIDINGS_OK)
    fprintf(stderr, "hostsim dev: close: %s\n", error.text);
  else if (!reason) status = EXIT_SUCCESS;
out:
  sources_finish(&dev->sources);
  talk_finish(&dev->talk);
  (void)folder_remove_all(dir);
  free(store);
  free(dir);
  return status;
}

/* -- the verb ---------------------------------------------------------------------------------- */

static int take_option(struct cli *cli, int key, struct dev *dev) {
  switch (key) {
  case OPTION_PLUGIN: dev->plugin = cli->value; return 0;
  case OPTION_BUILD: dev->build.command = cli->value; return 0;
  case OPTION_PLAY: dev->play = cli->value; return 0;
  case OPTION_AGAIN: dev->again = true; return 0;
  case OPTION_SOURCES:
    if (dev->folder_count == MOST_FOLDERS)
      return cli_usage(cli, "--sources: at most %d folders", MOST_FOLDERS);
    dev->folders[dev->folder_count++] = cli->value;
    return 0;
  case OPTION_EVERY:
    if (!cli_number(cli->value, 0, 3600000, &dev->every_ms)) return 0;
    return cli_usage(cli, "--every: '%s' is not a number of milliseconds from 0 to 3600000",
                     cli->value);
  default: return cli->exit_code;
  }
}

static int dev_verb(struct cli *cli) {
  struct dev dev = {
      .every_ms = 1000, .swap_at = -1, .build_at = -1, .build = {.fd = -1}, .sources = {.fd = -1}};
  for (int key; (key = cli_next(cli)) != CLI_END;) {
    if (key == CLI_STOP) return cli->exit_code;
    int code = take_option(cli, key, &dev);
    if (code) return code;
  }
  int code = cli_take_words(cli, 0, 0, "");
  if (code) return code;
  if (!dev.plugin) return cli_usage(cli, "--plugin PATH is missing");
  if (!dev.build.command != !dev.folder_count)
    return cli_usage(cli, "--sources and --build are given together");
  dev.tick_at = dev.every_ms > 0 ? clock_mono_ms() + (int64_t)dev.every_ms : -1;
  dev.talk.pane = &dev.pane;
  interrupt_catch();
  interrupt_catch_pipe();
  return develop(&dev);
}

const struct cli_verb verb_dev = {
    .name = "dev",
    .usage = "--plugin PATH [OPTION]...",
    .summary = "run a session and hot-swap the plugin after each rebuild",
    .help = "Runs a session on its own store and swaps the plugin after each rebuild of "
            "its file. Each line typed, and a tick each second, is pushed as a "
            "notification and delivered on a tool result; the text for the model is "
            "printed. After a rebuild it prints the new generation and build id, or why "
            "the new build was refused; the old build then goes on. It ends at the end "
            "of input or with Ctrl-C.\n\n"
            "With --sources and --build it also builds: when a source in these folders is saved, "
            "it runs the command and swaps what that made. Errors of the compiler are "
            "shown in the conversation, which goes on with the old build. A line that begins with "
            "{ or [ is one or more notifications as JSON objects, with kind, level and message.\n\n"
            "Exit code: 0, 1 if the plugin could not be loaded at first, 2 for a wrong "
            "command line.",
    .options =
        (const struct cli_option[]){
            {.key = OPTION_PLUGIN,
             .name = "plugin",
             .argument = "PATH",
             .completion = COMPLETE_FILE,
             .help = "The plugin to work on (required)."},
            {.key = OPTION_EVERY,
             .name = "every",
             .argument = "MS",
             .help = "The time between ticks (default 1000; 0: no ticks, only lines)."},
            {.key = OPTION_SOURCES,
             .name = "sources",
             .argument = "DIR",
             .completion = COMPLETE_FOLDER,
             .help = "A folder of sources to watch, with all below it; can be given several "
                     "times."},
            {.key = OPTION_BUILD,
             .name = "build",
             .argument = "COMMAND",
             .help = "The command of sh that builds the plugin; it runs after a source was saved."},
            {.key = OPTION_PLAY,
             .name = "play",
             .argument = "FILE",
             .completion = COMPLETE_FILE,
             .help = "A file whose lines begin the conversation."},
            {.key = OPTION_AGAIN,
             .name = "again",
             .help = "Say the last line again after each swap, so that its effect is seen."},
            {.name = NULL},
        },
    .run = dev_verb,
    .examples = (const struct cli_example[]){{"hostsim dev --plugin build/dev/tidings.so",
                                              "Swap this file after each rebuild."},
                                             {NULL, NULL}},
};
