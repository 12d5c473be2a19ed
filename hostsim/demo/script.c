/* SPDX-License-Identifier: MIT
 *
 * demo/script.c: the script of the demo. The model's texts are written here; everything that the
 * notifications report really happens.
 */
#include "demo/host.h"

#include "demo/workshop.h"
#include "host/process.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static _Noreturn void fail_script(const char *problem) {
  fflush(stdout);
  fprintf(stderr, "hostsim: the demo's script: %s\n", problem);
  exit(EXIT_FAILURE);
}

/* Sends a tool's result, and frees its content. */
static uint64_t tool_result(struct demo_host *host, const char *tool, char *content,
                            enum ending ending) {
  if (!content) fail_script("a file of the workspace cannot be read");
  uint64_t delivery = host_tool_result(host, tool, content, ending);
  free(content);
  return delivery;
}

static void start_build(struct demo_host *host, const char *says, const char *handle,
                        struct build *build) {
  if (workshop_start_build(host->folder.workspace, build) != 0)
    fail_script("neither cc nor grep could be started");
  char *line = NULL;
  if (asprintf(&line, "%s\n→ start in the background: %s", says, build->command) < 0)
    fail_script("out of memory");
  host_assistant(host, line);
  free(line);
  if (asprintf(&line, "Started; its handle is `%s`.", handle) < 0) fail_script("out of memory");
  tool_result(host, "start", line, ENDING_SETTLED);
}

/* Makes a notification of the build's end. The host does that, because the plugin sees no
 * processes. */
static void report_build(struct demo_host *host, const struct build *build, const char *handle) {
  int code = workshop_wait_build(build);
  char message[128];
  if (code == 0) {
    snprintf(message, sizeof message, "Tool `%s` (handle `%s`) has stopped with result available.",
             build->tool, handle);
  } else {
    snprintf(message, sizeof message, "Tool `%s` (handle `%s`) failed with exit code %d.",
             build->tool, handle, code);
  }
  screen_note(&host->screen, "%s ended with exit code %d; the host pushes it", build->tool, code);
  host_push(host, code == 0 ? "tool.stopped" : "tool.failed", code == 0 ? "info" : "error", message,
            NULL);
}

static void push_from_elsewhere(struct demo_host *host, const char *kind, const char *level,
                                const char *message) {
  screen_note(&host->screen, "another process pushes %s and ends", kind);
  if (demo_push_from_elsewhere(&host->folder, host->plugin, kind, level, message) != 0)
    fail_script("the push from another process failed");
}

/* A build fails, a file changes, another process pushes; then the host dies between writing and
 * settling. */
static void first_life(struct demo_host *host) {
  struct build build;
  host_chat_request(host, "The build is broken since this morning. Find out why and fix it.");
  start_build(host, "I start the build and read the header meanwhile.", "h_1", &build);
  host_assistant(host, "→ read: src/parser.h");
  report_build(host, &build, "h_1");
  tool_result(host, "read", workshop_read(host->folder.workspace, "src/parser.h"), ENDING_SETTLED);

  host_assistant(host, "It failed. What did the compiler say?\n→ output: h_1");
  if (!workshop_edit_elsewhere(host->folder.workspace))
    fail_script("inotify did not report that src/parser.h was written");
  screen_note(&host->screen, "an editor in another process has written src/parser.h; "
                             "inotify reported it to the host, which pushes it");
  host_push(host, "file.changed", "info", "`src/parser.h` was modified externally.",
            "src/parser.h");
  tool_result(host, "output", workshop_build_output(host->folder.workspace, 4), ENDING_SETTLED);

  host_assistant(host, "A semicolon is missing. Somebody works on the header: I read it again "
                       "before I change anything.\n→ read: src/parser.h");
  push_from_elsewhere(host, "ci.failed", "warning",
                      "CI run 4812 failed on main: the same error in src/parser.c.");
  tool_result(host, "read", workshop_read(host->folder.workspace, "src/parser.h"),
              ENDING_DIES_BEFORE_SETTLE);
}

/* Notifications in the transcript are not delivered again; then the host dies between leasing and
 * writing.
 */
static void second_life(struct demo_host *host) {
  struct build build;
  host_assistant(host,
                 "The comment does not concern us. I put the semicolon in.\n→ edit: src/parser.c");
  if (workshop_fix(host->folder.workspace) != 0) fail_script("src/parser.c cannot be written");
  tool_result(host, "edit", strdup("1 line changed in src/parser.c."), ENDING_SETTLED);
  start_build(host, "CI sees the same error, so this should fix both. Once more:", "h_2", &build);
  host_assistant(host, "→ list: build");
  report_build(host, &build, "h_2");
  tool_result(host, "list", strdup("output.txt parser.o"), ENDING_DIES_BEFORE_WRITING);
}

/* Much happens at once, and its summary fits into two small blocks. */
static void busy_moment(struct demo_host *host) {
  enum { FILES = 20 }; /* as many as one line names */
  screen_headline(&host->screen, "a busy moment: bursts become one line, opposites "
                                 "cancel out; two lines a block; build.progress is "
                                 "off");
  host_configure(host,
                 "{\"delivery\":{\"max_items\":2,\"coalesce_window_ms\":60000,\"annihilate\":true},"
                 "\"conversation\":{\"notifications\":{\"kinds\":{\"build.progress\":false}}}}");
  host_assistant(host, "→ status");
  if (workshop_write_many(host->folder.workspace, FILES) != 0)
    fail_script("the files could not be written");
  screen_note(&host->screen, "another process has written twenty files; the host reports each");
  for (int i = 1; i <= FILES; i++) {
    char path[32];
    snprintf(path, sizeof path, "src/words_%02d.h", i);
    host_report(host, "file.changed", json_pack("{s:s}", "path", path), path);
  }
  screen_note(&host->screen,
              "the tracker disconnects and reconnects; a build reports progress; CI and a "
              "linter finish");
  host_report(host, "mcp.state",
              json_pack("{s:s, s:s}", "server", "tracker", "state", "disconnected"), NULL);
  host_report(host, "mcp.state",
              json_pack("{s:s, s:s}", "server", "tracker", "state", "reconnected"), NULL);
  host_report(host, "notification",
              json_pack("{s:s, s:s}", "kind", "build.progress", "message", "Half of it is built."),
              NULL);
  host_push(host, "ci.passed", "info", "CI run 4813 passed on main.", NULL);
  host_push(host, "lint.finished", "info", "The linter found nothing.", NULL);
  tool_result(host, "status", strdup("On branch main."), ENDING_SETTLED);
  host_assistant(host, "→ diff: src/parser.c");
  tool_result(host, "diff", strdup("+  return count;"), ENDING_SETTLED);
}

/* Notifications that were leased and never written are delivered now; then the plugin is swapped
 * under an open lease, while another process pushes. */
static void third_life(struct demo_host *host) {
  host_assistant(host, "→ list: build");
  tool_result(host, "list", strdup("output.txt parser.o"), ENDING_SETTLED);
  host_assistant(host, "It builds. I note it in the tracker.\n→ mcp tracker: close issue 12");
  push_from_elsewhere(host, "mcp.disconnected", "error", "MCP server `tracker` has disconnected.");
  uint64_t delivery =
      tool_result(host, "mcp", strdup("error: the connection was closed"), ENDING_OPEN);

  screen_headline(
      &host->screen,
      "the plugin is swapped while that delivery is still out and another process pushes");
  pid_t pusher = 0;
  int status = 0;
  if (demo_start_push(&host->folder, host->plugin, "mcp.reconnected", "info",
                      "MCP server `tracker` has reconnected.", &pusher) != 0)
    fail_script("the push from another process could not be started");
  host_swap(host);
  if (!spawn_wait(pusher, DEMO_TIMEOUT_MS, &status) || status != 0)
    fail_script("the push from another process failed");
  host_settle(host, delivery);
  screen_note(&host->screen, "the new build has settled what the old one had leased");
  screen_pause(&host->screen, 600);
  host_assistant(host, "The build is fixed: a semicolon was missing in src/parser.c. I could not "
                       "close issue 12, the tracker is gone.");
  host_chat_request(host, "Thanks. Try the tracker again, please.");
  host_assistant(host, "It is back. Issue 12 is closed.");
  busy_moment(host);
  script_turns(host);
  script_reach(host);
}

void script_play(struct demo_host *host, unsigned life) {
  if (life == 1) first_life(host);
  else if (life == 2) second_life(host);
  else third_life(host);
}
