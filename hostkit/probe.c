/* SPDX-License-Identifier: MIT
 *
 * probe.c: starts the probe program, reads its verdict, and words why it died.
 */
#include "probe.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/file.h"
#include "common/spawn.h"
#include "errors.h"
#include "text.h"
#include "verdict.h"
#include <tidings/abi.h>

/* -- where the probe program is ---------------------------------------------------------------- */

#define PROBE_NAME "tidings-hostkit-probe"

/* Returns the folder of the library or program that contains hostkit; NULL: unknown, or out of
 * memory. */
static char *own_folder(void) {
  static const char anchor = 0;
  Dl_info info;
  /* For the main program the loader knows only argv[0], which need not be a path. */
  bool has_path = dladdr(&anchor, &info) && info.dli_fname && strchr(info.dli_fname, '/');
  char *file = realpath(has_path ? info.dli_fname : "/proc/self/exe", NULL);
  if (!file) return NULL;
  char *slash = strrchr(file, '/');
  if (slash) *slash = '\0';
  return file;
}

static int32_t give(char *path, char **ret_path, struct tidings_error *error) {
  if (!path)
    return hk_error(error, TIDINGS_E_NOMEM, "out of memory while looking for the probe program");
  *ret_path = path;
  return TIDINGS_OK;
}

static int32_t not_found(const char *path, const char *said_by, struct tidings_error *error) {
  return hk_error(error, TIDINGS_E_NOT_FOUND, "cannot run the probe program %s (%s): %s", path,
                  said_by, strerror(errno));
}

/* Takes the first probe program that exists: `given`; $TIDINGS_HOSTKIT_PROBE; a file beside the one
 * that contains this code (a build tree); the place relative to it where `cmake --install` puts it
 * (an installation that was moved); the configured place. Errors: NOT_FOUND, NOMEM. */
static int32_t hk_probe_path(const char *given, char **ret_path, struct tidings_error *error) {
  const char *said_by = "given as probe_path";
  if (!given) {
    given = getenv("TIDINGS_HOSTKIT_PROBE");
    said_by = "named by TIDINGS_HOSTKIT_PROBE";
  }
  if (given && given[0]) {
    if (access(given, X_OK)) return not_found(given, said_by, error);
    return give(hk_copy_text(given, strlen(given)), ret_path, error);
  }

  static const char *const seen_from_here[] = {"", "/" HOSTKIT_PROBE_FROM_LIBRARY,
                                               "/" HOSTKIT_PROBE_FROM_PROGRAM};
  char *folder = own_folder();
  char *path = NULL;
  int32_t code = TIDINGS_OK;
  for (size_t i = 0; folder && i < sizeof seen_from_here / sizeof seen_from_here[0]; i++) {
    path = hk_format("%s%s/%s", folder, seen_from_here[i], PROBE_NAME);
    if (!path || access(path, X_OK) == 0) goto out;
    free(path);
  }
  path = hk_format("%s/%s", HOSTKIT_PROBE_INSTALLED, PROBE_NAME);
out:
  free(folder);
  if (path && access(path, X_OK)) {
    code = hk_error(
        error, TIDINGS_E_NOT_FOUND,
        "cannot run the probe program %s: %s; name it in TIDINGS_HOSTKIT_PROBE or in probe_path",
        path, strerror(errno));
    free(path);
    return code;
  }
  return give(path, ret_path, error);
}

_Static_assert(HK_VERDICT_FD == SPAWN_CHANNEL_FD, "the verdict comes through the channel");

/* The probe process, and the bytes that came through its pipe. */
struct trial {
  pid_t pid;
  int pipe; /* our end */
  bool hung;
  bool status_known; /* false: other code in this program has taken the status */
  int status;
  size_t len;
  char said[2048];
};

static int32_t start(struct trial *trial, const char *program, const char *const argv[],
                     struct tidings_error *error) {
  int ends[2];
  int failed = pipe2(ends, O_CLOEXEC) ? errno : 0;
  if (!failed) {
    /* A broken plugin must not print on the screen of a terminal program. The process group lets us
     * kill what a hung plugin has started. */
    const struct spawn spawn = {.program = program,
                                .argv = argv,
                                .in = SPAWN_NULL,
                                .out = SPAWN_NULL,
                                .err = SPAWN_NULL,
                                .channel = ends[1],
                                .close_others = true,
                                .own_group = true,
                                .fresh_signals = true};
    failed = spawn_start(&spawn, &trial->pid);
    close(ends[1]);
    if (failed) close(ends[0]);
  }
  if (failed == ENOMEM)
    return hk_error(error, TIDINGS_E_NOMEM, "out of memory while starting the probe program");
  if (failed)
    return hk_error(error, TIDINGS_E_STORE, "cannot start the probe program %s: %s", program,
                    strerror(failed));
  trial->pipe = ends[0];
  return TIDINGS_OK;
}

/* Reads the bytes that have come; false: the other end is closed. Bytes that do not fit are
 * dropped, because only a misbehaving plugin writes so much. */
static bool read_some(struct trial *trial) {
  char dropped[256];
  size_t room = sizeof trial->said - 1 - trial->len;
  ssize_t got = room ? read(trial->pipe, trial->said + trial->len, room)
                     : read(trial->pipe, dropped, sizeof dropped);
  if (got > 0 && room) trial->len += (size_t)got;
  return got > 0 || (got < 0 && errno == EINTR);
}

/* Waits for the end of the process. The end of the pipe shows it; but another process that the
 * plugin started may hold the pipe open, so the process itself is checked too. */
static void await_end(struct trial *trial, uint32_t timeout_ms) {
  int64_t deadline_ms = clock_mono_ms() + timeout_ms;
  bool open = true;
  for (;;) {
    pid_t ended = waitpid(trial->pid, &trial->status, trial->hung ? 0 : WNOHANG);
    if (ended == trial->pid || (ended < 0 && errno != EINTR)) {
      trial->status_known = ended == trial->pid;
      break;
    }
    int left = clock_ms_until(deadline_ms);
    if (ended == 0 && left == 0) {
      trial->hung = true;
      kill(-trial->pid, SIGKILL);
      kill(trial->pid, SIGKILL); /* it may not have begun its own group yet */
      continue;
    }
    struct pollfd pipe = {.fd = open ? trial->pipe : -1, .events = POLLIN};
    int slice = open ? 20 : 1;
    if (ended == 0 && poll(&pipe, 1, left < slice ? left : slice) > 0) open = read_some(trial);
  }
  struct pollfd pipe = {.fd = trial->pipe, .events = POLLIN};
  while (open && poll(&pipe, 1, 0) > 0) open = read_some(trial);
  trial->said[trial->len] = '\0';
}

enum verdict { VERDICT_NONE, VERDICT_OK, VERDICT_REFUSED };

/* Finds the verdict, and the stage that was named last. For a refusal, fills *error. */
static enum verdict read_verdict(struct trial *trial, const char *label, const char **ret_stage,
                                 struct tidings_error *error) {
  char *rest = NULL;
  for (char *line = strtok_r(trial->said, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
    if (strncmp(line, HK_VERDICT_STAGE, strlen(HK_VERDICT_STAGE)) == 0) {
      *ret_stage = line + strlen(HK_VERDICT_STAGE);
    } else if (strcmp(line, HK_VERDICT_OK) == 0) {
      return VERDICT_OK;
    } else if (strncmp(line, HK_VERDICT_REFUSED, strlen(HK_VERDICT_REFUSED)) == 0) {
      char *text = NULL;
      long code = strtol(line + strlen(HK_VERDICT_REFUSED), &text, 10);
      if (code >= 0 || code < INT32_MIN) code = TIDINGS_E_INVAL;
      hk_error(error, (int32_t)code, "%s", *text == ' ' ? text + 1 : label);
      error->code = (int32_t)code;
      return VERDICT_REFUSED;
    }
  }
  return VERDICT_NONE;
}

static int32_t judge(struct trial *trial, const char *label, uint32_t timeout_ms,
                     struct tidings_error *error) {
  const char *stage = HK_STAGE_STARTING;
  struct tidings_error said = {.size = sizeof said};
  enum verdict verdict = read_verdict(trial, label, &stage, &said);
  if (trial->hung)
    return hk_error(error, TIDINGS_E_STATE,
                    "%s hung in the probe process while %s: killed after %u ms", label, stage,
                    (unsigned)timeout_ms);
  if (trial->status_known && WIFSIGNALED(trial->status)) {
    return hk_error(error, TIDINGS_E_STATE, "%s crashed the probe process while %s: signal %d (%s)",
                    label, stage, WTERMSIG(trial->status), strsignal(WTERMSIG(trial->status)));
  }
  if (verdict == VERDICT_REFUSED) return hk_error_copy(error, &said);
  if (verdict == VERDICT_OK) return TIDINGS_OK;
  if (trial->status_known)
    return hk_error(error, TIDINGS_E_STATE, "%s exited the probe process with status %d while %s",
                    label, WEXITSTATUS(trial->status), stage);
  return hk_error(error, TIDINGS_E_STATE,
                  "%s ended the probe process while %s; its exit status is unknown, because "
                  "SIGCHLD is ignored or other code waits for all children",
                  label, stage);
}

/* Passes the configuration in a file, because an argument has a length limit and other users can
 * read it. */
static int32_t write_configuration(const char *path, const char *configuration,
                                   struct tidings_error *error) {
  int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  int reason = fd < 0 ? errno : file_write_all(fd, configuration, strlen(configuration));
  int32_t code = TIDINGS_OK;
  if (reason)
    code = hk_error(error, TIDINGS_E_STORE, "cannot write the probe's configuration %s: %s", path,
                    strerror(reason));
  if (fd >= 0) close(fd);
  return code;
}

int32_t hk_probe(const struct hk_copy *copy, const char *label, const struct hk_settings *settings,
                 struct tidings_error *error) {
  struct trial trial = {.pipe = -1};
  char *program = NULL;
  char *own_label = hk_copy_text(label, strlen(label));
  char *store = hk_format("%s/store", copy->directory);
  char *configuration = settings->configuration
                            ? hk_format("%s/configuration.json", copy->directory)
                            : hk_copy_text("", 0);
  int32_t code = TIDINGS_OK;
  if (!own_label || !store || !configuration) {
    code = hk_error(error, TIDINGS_E_NOMEM, "out of memory while starting the probe program");
    goto out;
  }
  code = hk_probe_path(settings->probe_path, &program, error);
  if (!code && settings->configuration)
    code = write_configuration(configuration, settings->configuration, error);
  if (code) goto out;
  if (mkdir(store, 0700)) {
    code = hk_error(error, TIDINGS_E_STORE, "cannot make the probe's store folder %s: %s", store,
                    strerror(errno));
    goto out;
  }
  const char *argv[] = {program, copy->path, own_label, store, configuration, NULL};
  code = start(&trial, program, argv, error);
  if (code) goto out;
  await_end(&trial, settings->probe_timeout_ms);
  code = judge(&trial, label, settings->probe_timeout_ms, error);
out:
  if (trial.pipe >= 0) close(trial.pipe);
  free(configuration);
  free(store);
  free(own_label);
  free(program);
  return code;
}
