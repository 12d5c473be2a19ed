/* SPDX-License-Identifier: MIT
 *
 * doctor/store.c: the store's folder, whether it can be opened, and what its sessions say.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "agents/wait/wakes.h"
#include "cli/doctor/doctor.h"
#include "command/kit.h"
#include "command/paths.h"
#include "command/print.h"
#include "command/session_list.h"
#include "command/store.h"
#include "common/store_url.h"

enum { LITTLE_SPACE = 64 << 20 };

static const char *remedy_for(int32_t code) {
  switch (code) {
  case TIDINGS_E_SCHEMA_NEWER:
    return "Install the newer tidings that wrote it, or use another store: TIDINGS_STORE=DIR.";
  case TIDINGS_E_BUSY:
    return "Look for a process that is stopped or hangs while it uses the store.";
  case TIDINGS_E_NOMEM: return "Free memory.";
  default:
    return "If it is damaged, recover what is left with 'tidings store salvage FROM TO', or "
           "restore a "
           "backup. If it is of an older build, 'tidings store migrate FROM TO' makes a new one.";
  }
}

/* Does the folder have a store? If not, it was named by mistake, and others may need their access
 * to it. */
static bool has_store(const char *path) {
  char *file = paths_join(path, "data.mdb");
  bool there = file && access(file, F_OK) == 0;
  free(file);
  return there;
}

/* Reports that there is no store, and, by the nearest existing folder above, whether one can be
 * made. */
static void report_no_store(struct doctor *doctor, const char *path) {
  char *above = strdup(path), *slash = NULL;
  int reason = ENOENT;
  while (above && reason == ENOENT && (slash = strrchr(above, '/'))) {
    slash[slash == above] = '\0';
    reason = access(above, W_OK | X_OK) ? errno : 0;
    if (slash == above) break;
  }
  if (reason)
    doctor_find(doctor, SEVERITY_PROBLEM, "store",
                "Make it writable, or name another folder with TIDINGS_STORE or XDG_STATE_HOME.",
                "there is no store at %s, and none can be made, so nothing can be pushed: %s: %s",
                path, above ? above : "", strerror(reason));
  else
    doctor_find(doctor, SEVERITY_NOTE, "store", NULL,
                "there is no store at %s yet; the first push creates it", path);
  free(above);
}

/* Returns whether to open the store. */
static bool examine_folder(struct doctor *doctor, const char *path) {
  struct stat info;
  if (lstat(path, &info)) {
    int reason = errno;
    if (reason == ENOENT) report_no_store(doctor, path);
    else
      doctor_find(doctor, SEVERITY_PROBLEM, "store",
                  "Make it reachable, or name another with TIDINGS_STORE.", "%s: %s", path,
                  strerror(reason));
    return false;
  }
  if (!S_ISDIR(info.st_mode)) {
    doctor_find(doctor, SEVERITY_PROBLEM, "store", "Name the folder itself with TIDINGS_STORE.",
                "%s is %s, not a folder", path,
                S_ISLNK(info.st_mode) ? "a symbolic link" : "a file");
    return false;
  }
  if (info.st_uid != geteuid()) {
    doctor_find(doctor, SEVERITY_PROBLEM, "store",
                "Use it as its owner, or name another with TIDINGS_STORE.",
                "%s belongs to user %u, you are %u", path, (unsigned)info.st_uid,
                (unsigned)geteuid());
    return false;
  }
  if (info.st_mode & 077) {
    doctor_find(doctor, SEVERITY_PROBLEM, "store",
                has_store(path) ? "Remove the access of others: chmod 700 on it."
                                : "Name an empty folder of your own with TIDINGS_STORE.",
                "other users may access %s (mode %04o)", path, (unsigned)info.st_mode & 07777);
    return false;
  }
  return true;
}

static void examine_space(struct doctor *doctor, const char *path) {
  struct statvfs space;
  if (statvfs(path, &space)) return;
  unsigned long long left = (unsigned long long)space.f_bavail * space.f_frsize;
  if (left >= LITTLE_SPACE) return;
  doctor_find(doctor, left < LITTLE_SPACE / 8 ? SEVERITY_PROBLEM : SEVERITY_WARNING, "disk",
              "Free some space: nothing can be pushed on a full disk.",
              "%llu MiB are free on the store's file system", left >> 20);
}

static void tell_flushes(struct doctor *doctor, const json_t *answer) {
  size_t flushes = (size_t)json_value_count(answer, "flushes");
  if (flushes == 1)
    doctor_find(doctor, SEVERITY_OK, "store", NULL, "a commit flushes the disk once");
  if (flushes == 2)
    doctor_find(doctor, SEVERITY_NOTE, "store",
                "A build with liblmdb linked in flushes once: -DTIDINGS_LINK_IN_LMDB=ON.",
                "a commit flushes the disk twice");
}

/* Checks the file in a child process, because a damaged file may kill the process that opens it.
 * Returns whether to open the store; for an unknown layout too, because the error of opening
 * explains it. */
static bool examine_file(struct doctor *doctor, const char *path) {
  const json_t *finding = NULL;
  json_t *answer = NULL;
  size_t i = 0;
  if (store_check(path, &answer, NULL)) return true;
  bool sound = json_is_true(json_object_get(answer, "sound"));
  bool only_layout = json_object_get(answer, "layout") && !json_value_count(answer, "damaged");
  json_array_foreach(json_object_get(answer, "findings"), i, finding) {
    if (json_object_get(finding, "page")) only_layout = false;
  }
  if (!sound && !only_layout) json_array_foreach(json_object_get(answer, "findings"), i, finding) {
      char page[32] = "";
      if (json_object_get(finding, "page"))
        snprintf(page, sizeof page,
                 "page %llu: ", (unsigned long long)json_value_count(finding, "page"));
      doctor_find(doctor, SEVERITY_PROBLEM, "store", remedy_for(TIDINGS_E_STORE), "%s: %s%s", path,
                  page, json_value_text(finding, "text"));
    }
  if (sound) tell_flushes(doctor, answer);
  json_decref(answer);
  return sound || only_layout;
}

static void examine_opening(struct doctor *doctor, const char *path) {
  struct tidings_error error = {.size = sizeof error};
  struct hostkit *kit = NULL;
  int32_t code = kit_open(doctor->cli, TIDINGS_ROLE_PRODUCER, 0, &kit, &error);
  kit_close(kit);
  if (code)
    doctor_find(doctor, SEVERITY_PROBLEM, "store", remedy_for(code), "%s (%s)", error.text,
                hostkit_error_name(code));
  else doctor_find(doctor, SEVERITY_OK, "store", NULL, "%s", path);
}

/* Writes the name by which other machines of a store know this one, as plugin/store/db/owner.c
 * makes it. Empty: not known. */
static void name_machine(char name[64]) {
  const unsigned long long first_namespace = 0xEFFFFFFC;
  FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
  struct stat space;
  name[0] = '\0';
  if (file && fgets(name, 9, file) && stat("/proc/self/ns/pid", &space) == 0 &&
      space.st_ino != first_namespace)
    (void)snprintf(name + 8, 56, "/%llu", (unsigned long long)space.st_ino);
  if (file) (void)fclose(file);
}

/* Reports what is known without the database, and then opens it. */
static void examine_url(struct doctor *doctor, const char *url) {
  char *shown = store_url_shown(url), machine[64];
  if (shown && doctor->plugin_works) examine_opening(doctor, shown);
  name_machine(machine);
  if (machine[0])
    doctor_find(doctor, SEVERITY_OK, "machine", NULL, "other machines see this one as %s", machine);
  free(shown);
}

void doctor_store(struct doctor *doctor) {
  char *path = kit_store_path(doctor->cli);
  if (!path) {
    doctor_find(doctor, SEVERITY_PROBLEM, "store", "Set HOME, or name a store with TIDINGS_STORE.",
                "neither XDG_STATE_HOME nor HOME is set");
    return;
  }
  if (store_url_is(path)) {
    examine_url(doctor, path);
  } else if (examine_folder(doctor, path) && doctor->plugin_works) {
    if (examine_file(doctor, path)) examine_opening(doctor, path);
    examine_space(doctor, path);
  }
  free(path);
}

/* -- sessions ---------------------------------------------------------------------------------- */

static void count_sessions(struct doctor *doctor, const json_t *sessions) {
  const json_t *session = NULL;
  size_t i = 0, running = 0, forgotten = 0;
  uint64_t pending = 0;
  json_array_foreach(sessions, i, session) {
    bool alive = json_is_true(json_object_get(session, "alive"));
    if (alive) running++;
    else if (json_value_count(session, "pending")) {
      forgotten++;
      pending += json_value_count(session, "pending");
    }
  }
  doctor_find(doctor, running ? SEVERITY_OK : SEVERITY_NOTE, "sessions",
              running
                  ? NULL
                  : "Start an agent that is set up ('tidings help setup'), and send it a message.",
              "%zu of running hosts, of %zu in all", running, json_array_size(sessions));
  if (forgotten)
    doctor_find(doctor, SEVERITY_NOTE, "sessions",
                "They are delivered when the conversation is resumed; 'tidings status --all' "
                "lists the sessions.",
                "pending in sessions whose host does not run: %llu, in %zu of them",
                (unsigned long long)pending, forgotten);
}

/* Reports idle sessions that nothing wakes: urgent things wait there for a person. */
static void report_asleep(struct doctor *doctor, struct hostkit *kit, const json_t *sessions) {
  enum { MOST_SHOWN = 8 };
  const json_t *session = NULL;
  size_t i = 0, shown = 0;
  json_array_foreach(sessions, i, session) {
    const char *id = json_value_text(session, "session");
    if (!json_is_true(json_object_get(session, "alive")) || shown == MOST_SHOWN) continue;
    char *why = hook_wakes_ask(doctor->cli, kit, id);
    if (why)
      doctor_find(doctor, SEVERITY_NOTE, "sessions", NULL,
                  "session %s: %s: messages and urgent notifications wait for the next prompt", id,
                  why);
    shown += why != NULL;
    free(why);
  }
}

static bool is_known(const json_t *sessions, const char *id) {
  const json_t *session = NULL;
  size_t i = 0;
  json_array_foreach(sessions, i, session) {
    if (strcmp(json_value_text(session, "session"), id) == 0) return true;
  }
  return false;
}

void doctor_sessions(struct doctor *doctor) {
  const char *named = getenv("TIDINGS_SESSION");
  struct hostkit *kit = NULL;
  json_t *answer = NULL;
  char *path = kit_store_path(doctor->cli);
  bool there = path && (store_url_is(path) || access(path, F_OK) == 0);
  free(path);
  if (!there || kit_open(doctor->cli, TIDINGS_ROLE_PRODUCER, 0, &kit, NULL))
    return; /* this was reported before */
  if (!session_list(kit, json_object(), &answer, NULL)) {
    const json_t *sessions = json_object_get(answer, "sessions");
    count_sessions(doctor, sessions);
    report_asleep(doctor, kit, sessions);
    doctor_log(doctor, sessions);
    if (named && named[0] && !is_known(sessions, named))
      doctor_find(doctor, SEVERITY_WARNING, "TIDINGS_SESSION",
                  "Unset it, or check its spelling against 'tidings status --all'.",
                  "the store has no session '%s'", named);
  }
  json_decref(answer);
  kit_close(kit);
}
