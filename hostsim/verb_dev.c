/* SPDX-License-Identifier: MIT
 *
 * hostsim dev: the plugin developer's loop. A session goes on, line by line or second by second,
 * while the plugin under it is rebuilt and swapped. A build that hostkit refuses changes nothing
 * but the screen.
 */
#include "command/interrupt.h"
#include "command/paths.h"
#include "common/clock.h"
#include "common/folder.h"
#include "host/hostkit_flags.h"
#include "verbs.h"

#include <errno.h>
#include <jansson.h>
#include <libgen.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#define SESSION "dev"
#define DRAIN_MS 5000
/* linkers write in several goes; a build is whole when it has been quiet for so long */
#define DEBOUNCE_MS 200

enum { OPTION_PLUGIN = CLI_LONG_ONLY, OPTION_EVERY };

struct dev {
  struct hostkit *hostkit;
  const char *plugin;
  const char *name; /* of the file, in the watched folder */
  int watcher;
  uint64_t every_ms;
  unsigned ticks;
  int64_t tick_at; /* -1: never */
  int64_t swap_at; /* -1: nothing to swap */
  char line[4096];
  size_t line_len;
};

static void print_info(const struct dev *dev, const char *what) {
  struct hostkit_info info = {.size = sizeof info};
  if (hostkit_info(dev->hostkit, &info) == TIDINGS_OK) {
    printf("-- %s: generation %u, %s %s, build %s\n", what, info.generation, info.name,
           info.version, info.build_id[0] != '\0' ? info.build_id : "unnamed");
  }
  fflush(stdout);
}

static int32_t push(struct dev *dev, const char *message, struct tidings_error *error) {
  json_t *event = json_pack("{s:s, s:s, s:{s:s, s:s}}", "type", "notification", "session", SESSION,
                            "data", "kind", "dev.line", "message", message);
  char *text = json_dumps(event, JSON_COMPACT);
  json_decref(event);
  if (!text) { /* what was typed is no UTF-8 */
    snprintf(error->text, sizeof error->text, "the line is not UTF-8");
    return TIDINGS_E_INVAL;
  }
  struct tidings_span span = {text, strlen(text)};
  struct tidings_reply *reply = NULL;
  int32_t code = hostkit_event(dev->hostkit, &span, &reply, error);
  hostkit_reply_free(reply);
  free(text);
  return code;
}

static int32_t deliver(struct dev *dev, struct tidings_error *error) {
  struct tidings_tool_result result = {.size = sizeof result,
                                       .session = {SESSION, strlen(SESSION)},
                                       .call_id = {"c", 1},
                                       .tool = {"dev", 3},
                                       .content = {"(a tool's result)", 17}};
  struct tidings_reply *reply = NULL;
  struct hostkit_outgoing *outgoing = NULL;
  int32_t code = hostkit_tool_result(dev->hostkit, &result, &reply, error);
  if (code != TIDINGS_OK) return code;
  uint64_t delivery = reply ? reply->delivery_id : 0;
  code = hostkit_compose(&result.content, reply, &outgoing, error);
  if (code == TIDINGS_OK) {
    printf("%.*s\n", (int)outgoing->parts[outgoing->carrier]->text_len,
           outgoing->parts[outgoing->carrier]->text);
    fflush(stdout);
    hostkit_outgoing_free(outgoing);
  }
  hostkit_reply_free(reply);
  if (delivery != 0) {
    int32_t settled = hostkit_settle(
        dev->hostkit, delivery,
        code == TIDINGS_OK ? TIDINGS_OUTCOME_COMMITTED : TIDINGS_OUTCOME_ROLLED_BACK, NULL, error);
    code = code != TIDINGS_OK ? code : settled;
  }
  return code;
}

static void push_and_deliver(struct dev *dev, const char *message) {
  struct tidings_error error = {.size = sizeof error};
  int32_t code = push(dev, message, &error);
  if (code == TIDINGS_OK) code = deliver(dev, &error);
  if (code != TIDINGS_OK) {
    printf("-- %s: %s\n", hostkit_error_name(code), error.text);
    fflush(stdout);
  }
}

static void tick(struct dev *dev) {
  char message[32];
  snprintf(message, sizeof message, "Tick %u.", ++dev->ticks);
  push_and_deliver(dev, message);
  dev->tick_at = clock_mono_ms() + (int64_t)dev->every_ms;
}

static void swap(struct dev *dev) {
  struct tidings_error error = {.size = sizeof error};
  dev->swap_at = -1;
  if (hostkit_swap(dev->hostkit, NULL, DRAIN_MS, &error) == TIDINGS_OK) {
    print_info(dev, "swapped");
  } else {
    printf("-- refused: %s\n", error.text);
    print_info(dev, "going on with");
  }
}

static void note_changes(struct dev *dev) {
  char buffer[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
  ssize_t got = read(dev->watcher, buffer, sizeof buffer);
  for (ssize_t at = 0; at < got;) {
    struct inotify_event event;
    memcpy(&event, buffer + at, sizeof event);
    if (event.len > 0 && strcmp(buffer + at + sizeof event, dev->name) == 0)
      dev->swap_at = clock_mono_ms() + DEBOUNCE_MS;
    at += (ssize_t)(sizeof event + event.len);
  }
}

/* Reads what was typed. Returns false at the end of input. A line that is too long goes out in
 * pieces. */
static bool read_lines(struct dev *dev) {
  ssize_t got = read(STDIN_FILENO, dev->line + dev->line_len, sizeof dev->line - 1 - dev->line_len);
  if (got < 0) return errno == EINTR || errno == EAGAIN;
  dev->line_len += (size_t)got; /* at most what there was room for */
  dev->line[dev->line_len] = '\0';
  for (char *end; (end = memchr(dev->line, '\n', dev->line_len));) {
    *end = '\0';
    if (end > dev->line) push_and_deliver(dev, dev->line);
    dev->line_len -= (size_t)(end + 1 - dev->line);
    memmove(dev->line, end + 1, dev->line_len + 1);
  }
  if (dev->line_len > 0 && (got == 0 || dev->line_len == sizeof dev->line - 1)) {
    push_and_deliver(dev, dev->line);
    dev->line_len = 0;
  }
  return got > 0;
}

/* How long to sleep until the next tick or swap; -1: for ever. */
static int time_left(const struct dev *dev) {
  int64_t next = dev->tick_at;
  if (dev->swap_at >= 0 && (next < 0 || dev->swap_at < next)) next = dev->swap_at;
  int64_t left = next - clock_mono_ms();
  return next < 0 ? -1 : left > 0 ? (int)left : 0;
}

static void loop(struct dev *dev) {
  bool typing = true;
  while (typing && !interrupt_seen()) {
    struct pollfd ready[2] = {{.fd = STDIN_FILENO, .events = POLLIN},
                              {.fd = dev->watcher, .events = POLLIN}};
    if (poll(ready, 2, time_left(dev)) < 0 && errno != EINTR) return;
    if (interrupt_seen()) return;
    if ((ready[1].revents & POLLIN) != 0) note_changes(dev);
    int64_t now = clock_mono_ms();
    if (dev->swap_at >= 0 && now >= dev->swap_at) swap(dev);
    if ((ready[0].revents & (POLLIN | POLLHUP | POLLERR)) != 0) typing = read_lines(dev);
    if (dev->tick_at >= 0 && now >= dev->tick_at) tick(dev);
  }
}

/* Watches the folder, not the file: builds publish by rename. */
static int watch(const char *plugin) {
  char *copy = strdup(plugin);
  int watcher = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
  if (!copy || watcher < 0 ||
      inotify_add_watch(watcher, dirname(copy), IN_MOVED_TO | IN_CLOSE_WRITE) < 0) {
    fprintf(stderr, "hostsim dev: %s cannot be watched: %s\n", plugin, strerror(errno));
    if (watcher >= 0) close(watcher);
    watcher = -1;
  }
  free(copy);
  return watcher;
}

static int develop(struct dev *dev) {
  int status = EXIT_FAILURE;
  struct tidings_error error = {.size = sizeof error};
  char *dir = folder_make_temporary(NULL, "hostsim-dev");
  char *store = dir ? paths_join(dir, "store") : NULL;
  dev->watcher = watch(dev->plugin);
  if (!store || dev->watcher < 0) goto out;
  struct hostkit_options options = {.size = sizeof options,
                                    .flags = HOSTSIM_HOSTKIT_FLAGS,
                                    .plugin_path = dev->plugin,
                                    .store_dir = store,
                                    .host_name = "hostsim",
                                    .copy_dir = dir};
  if (hostkit_open(&options, &dev->hostkit, &error) != TIDINGS_OK) {
    fprintf(stderr, "hostsim dev: %s: %s\n", dev->plugin, error.text);
    goto out;
  }
  print_info(dev, "loaded");
  loop(dev);
  if (hostkit_close(dev->hostkit, DRAIN_MS, &error) != TIDINGS_OK) {
    fprintf(stderr, "hostsim dev: close: %s\n", error.text);
    goto out;
  }
  status = EXIT_SUCCESS;
out:
  if (dev->watcher >= 0) close(dev->watcher);
  (void)folder_remove_all(dir);
  free(store);
  free(dir);
  return status;
}

static int dev_verb(struct cli *cli) {
  struct dev dev = {.every_ms = 1000, .swap_at = -1};
  for (int key; (key = cli_next(cli)) != CLI_END;) {
    switch (key) {
    case OPTION_PLUGIN: dev.plugin = cli->value; break;
    case OPTION_EVERY:
      if (cli_number(cli->value, 0, 3600000, &dev.every_ms))
        return cli_usage(cli, "--every: '%s' is not a number of milliseconds from 0 to 3600000",
                         cli->value);
      break;
    default: return cli->exit_code;
    }
  }
  int code = cli_take_words(cli, 0, 0, "");
  if (code) return code;
  if (!dev.plugin) return cli_usage(cli, "--plugin PATH is missing");
  const char *slash = strrchr(dev.plugin, '/');
  dev.name = slash ? slash + 1 : dev.plugin;
  dev.tick_at = dev.every_ms > 0 ? clock_mono_ms() + (int64_t)dev.every_ms : -1;
  interrupt_catch();
  return develop(&dev);
}

const struct cli_verb verb_dev = {
    .name = "dev",
    .usage = "--plugin PATH [--every MS]",
    .summary = "run a session and hot-swap the plugin after each rebuild",
    .help = "Runs a session on its own store and swaps the plugin after each rebuild of "
            "its file. Each line typed, and a tick each second, is pushed as a "
            "notification and delivered on a tool result; the text for the model is "
            "printed. After a rebuild it prints the new generation and build id, or why "
            "the new build was refused; the old build then goes on. It ends at the end "
            "of input or with Ctrl-C.\n\n"
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
            {.name = NULL},
        },
    .run = dev_verb,
    .examples = (const struct cli_example[]){{"hostsim dev --plugin build/dev/tidings.so",
                                              "Swap this file after each rebuild."},
                                             {NULL, NULL}},
};
