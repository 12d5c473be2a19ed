/* SPDX-License-Identifier: MIT
 *
 * demo/workshop.c: the demo's workspace: real files, a real compiler, another process that really
 * edits a file, and inotify, which reports that.
 */
#include "demo/workshop.h"

#include "command/paths.h"
#include "common/file.h"
#include "demo/demo.h"
#include "host/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char header[] =
    "#ifndef PARSER_H\n#define PARSER_H\nint count_words(const char *text);\n#endif\n";

#define SOURCE_WITH(last)                                                                          \
  "#include \"parser.h\"\n\n"                                                                      \
  "int count_words(const char *text) {\n"                                                          \
  "  int count = 0;\n"                                                                             \
  "  for (; *text != '\\0'; text++) {\n"                                                           \
  "    count += *text == ' ';\n"                                                                   \
  "  }\n"                                                                                          \
  "  " last "\n"                                                                                   \
  "}\n"

static const char broken_source[] = SOURCE_WITH("return count");
static const char fixed_source[] = SOURCE_WITH("return count;");

static int write_in(const char *workspace, const char *name, const char *text) {
  char *path = paths_join(workspace, name);
  int reason = path ? file_write_whole(path, text, strlen(text)) : ENOMEM;
  free(path);
  errno = reason;
  return reason ? -1 : 0;
}

static int make_folder(const char *workspace, const char *name) {
  char *path = paths_join(workspace, name);
  int failed = path ? mkdir(path, 0700) : -1;
  free(path);
  return failed;
}

int workshop_set_up(const char *workspace) {
  if (mkdir(workspace, 0700) != 0 || make_folder(workspace, "src") != 0 ||
      make_folder(workspace, "build") != 0 || write_in(workspace, "src/parser.h", header) != 0)
    return -1;
  return write_in(workspace, "src/parser.c", broken_source);
}

int workshop_start_build(const char *workspace, struct build *ret_build) {
  static const char *const compiler[] = {"cc", "-fno-diagnostics-color", "-c", "src/parser.c",
                                         "-o", "build/parser.o",         NULL};
  static const char *const stand_in[] = {"grep", "-n", "return count;", "src/parser.c", NULL};
  char *log = paths_join(workspace, "build/output.txt");
  int output = log ? open(log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;
  free(log);
  if (output < 0) return errno;
  struct build build = {.tool = "cc", .command = "cc -c src/parser.c -o build/parser.o"};
  int failed = process_start_program(compiler, workspace, output, &build.pid);
  if (failed == ENOENT) {
    build.tool = "grep";
    build.command = "grep -n 'return count;' src/parser.c   (no cc on this machine)";
    failed = process_start_program(stand_in, workspace, output, &build.pid);
  }
  close(output);
  if (failed == 0) *ret_build = build;
  return failed;
}

int workshop_wait_build(const struct build *build) {
  int status = 0;
  if (!spawn_wait(build->pid, DEMO_TIMEOUT_MS, &status)) {
    spawn_kill(build->pid);
    return -1;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

char *workshop_read(const char *workspace, const char *name) {
  char *path = paths_join(workspace, name);
  char *text = NULL;
  size_t len = 0;
  int reason = path ? file_read_whole(path, SIZE_MAX / 2, &text, &len) : ENOMEM;
  free(path);
  if (reason) return NULL;
  if (len > 0 && text[len - 1] == '\n') text[len - 1] = '\0';
  return text;
}

char *workshop_build_output(const char *workspace, unsigned lines) {
  char *text = workshop_read(workspace, "build/output.txt");
  char *end = text;
  while (end && lines-- > 0 && (end = strchr(end, '\n'))) end++;
  if (end && end > text) end[-1] = '\0';
  return text;
}

int workshop_fix(const char *workspace) {
  return write_in(workspace, "src/parser.c", fixed_source);
}

/* Waits until inotify names the file; false: it did not in time. */
static bool see_change(int watcher, const char *name) {
  char buffer[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
  struct pollfd readable = {.fd = watcher, .events = POLLIN};
  while (poll(&readable, 1, DEMO_TIMEOUT_MS) == 1) {
    ssize_t got = read(watcher, buffer, sizeof buffer);
    for (ssize_t at = 0; at < got;) {
      struct inotify_event event;
      memcpy(&event, buffer + at, sizeof event);
      if (event.len > 0 && strcmp(buffer + at + sizeof event, name) == 0) return true;
      at += (ssize_t)(sizeof event + event.len);
    }
  }
  return false;
}

int workshop_write_many(const char *workspace, unsigned count) {
  char script[128];
  pid_t pid = 0;
  int status = 0;
  snprintf(script, sizeof script,
           "for n in $(seq -w 1 %u); do echo \"/* $n */\" > src/words_$n.h; done", count);
  const char *const writer[] = {"sh", "-c", script, NULL};
  if (process_start_program(writer, workspace, -1, &pid) != 0 ||
      !spawn_wait(pid, DEMO_TIMEOUT_MS, &status))
    return -1;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -1;
}

bool workshop_edit_elsewhere(const char *workspace) {
  static const char *const editor[] = {
      "sh", "-c", "echo '/* count_words: words are separated by one space */' >> src/parser.h",
      NULL};
  bool seen = false;
  pid_t pid = 0;
  int status = 0;
  char *folder = paths_join(workspace, "src");
  int watcher = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
  if (!folder || watcher < 0 ||
      inotify_add_watch(watcher, folder, IN_CLOSE_WRITE | IN_MOVED_TO) < 0)
    goto out;
  if (process_start_program(editor, workspace, -1, &pid) != 0) goto out;
  seen = see_change(watcher, "parser.h");
  spawn_wait(pid, -1, &status);
out:
  if (watcher >= 0) close(watcher);
  free(folder);
  return seen;
}
