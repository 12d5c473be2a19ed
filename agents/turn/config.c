/* SPDX-License-Identifier: MIT
 *
 * agents/turn/config.c: reports changes of the agent's own configuration, which the agent reports,
 * or which the stamps of its files show. A change may be reported again, because the store ignores
 * an event whose id it has seen recently.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "agents/call/log.h"
#include "agents/deliver/status.h"
#include "agents/transcript/time.h"
#include "agents/turn/report.h"
#include "command/json_value.h"
#include "command/paths.h"
#include "common/clock.h"

enum { RECENT_MS = 12 * 3600 * 1000 };
enum { TRANSITIONS = 64 }; /* entries of a history that surely contain the last prompt */

int32_t hook_report_configured(struct hostkit *kit, const struct hook_call *call,
                               struct tidings_error *error) {
  const char *path = hook_call_text(call, FIELD_FILE);
  json_t *summary = path[0] ? json_sprintf("`%s` (%s)", path, call->source)
                            : json_string(call->source[0] ? call->source : "settings");
  return hook_send_event_once(kit, call, "config.changed", json_pack("{s:o}", "summary", summary),
                              error);
}

/* -- files ------------------------------------------------------------------------------------- */

/* Returns whether the file exists. Links are followed, because a person may keep the file
 * elsewhere. */
static bool is_file(const char *path, struct stat *ret_info) {
  return !stat(path, ret_info) && S_ISREG(ret_info->st_mode);
}

static int64_t changed_ms(const struct stat *info) {
  return (int64_t)info->st_mtim.tv_sec * 1000 + info->st_mtim.tv_nsec / 1000000;
}

/* Returns when this process got the session; 0: it does not have it, or that is not known. */
static int64_t attached_ms(struct hostkit *kit, const struct hook_call *call) {
  json_t *status = NULL;
  if (hook_status(kit, call, &status, NULL)) return 0;
  int64_t since = hook_time_ms(json_value_text(json_object_get(status, "attachment"), "since"));
  json_decref(status);
  return since;
}

/* Returns how long the store remembers an event's id; 0: it does not, or that is not known. */
static int64_t window_ms(struct hostkit *kit) {
  json_t *answer = NULL;
  if (kit_query(kit, json_pack("{s:s}", "name", "configure"), &answer, NULL)) return 0;
  const json_t *limits = json_object_get(json_object_get(answer, "config"), "limits");
  int64_t window = json_integer_value(json_object_get(limits, "dedup_window_ms"));
  json_decref(answer);
  return window;
}

static bool is_event(const json_t *transition, const char *name) {
  return strcmp(json_value_text(transition, "event"), name) == 0;
}

/* Returns the time of the last prompt, which may be a nudge of tidings; 0: it is not known. */
static int64_t last_prompt_ms(struct hostkit *kit, const struct hook_call *call) {
  json_t *history = NULL, *request = json_pack("{s:s, s:s, s:i}", "name", "history", "session",
                                               call->session, "limit", TRANSITIONS);
  int64_t last_ms = 0;
  if (kit_query(kit, request, &history, NULL)) return 0;
  const json_t *transitions = json_object_get(history, "transitions"), *before = NULL;
  for (size_t i = 0; i < json_array_size(transitions); i++) {
    const json_t *transition = json_array_get(transitions, i);
    bool nudged = before && is_event(before, "turn.resume") && is_event(transition, "chat_request");
    if (nudged || is_event(transition, "turn.started"))
      last_ms = hook_time_ms(json_value_text(transition, "time"));
    before = transition;
  }
  json_decref(history);
  return last_ms;
}

/* Is the change new? The store recognizes an event only for a limited time; a change that is older
 * than that is new only if it came after the last prompt. */
static bool is_new(struct hostkit *kit, const struct hook_call *call, int64_t changed) {
  int64_t age_ms = clock_wall_ms() - changed;
  if (age_ms >= RECENT_MS) return false;
  int64_t since = attached_ms(kit, call);
  if (!since || changed <= since) return false;
  return age_ms < window_ms(kit) || changed > last_prompt_ms(kit, call);
}

static void report_file(struct hostkit *kit, const struct hook_call *call, const char *path,
                        const struct stat *info) {
  struct tidings_error error = {.size = sizeof error};
  const struct host *host = call->host;
  json_t *summary =
      host->reads_settings_again
          ? json_sprintf("`%s` has changed", path)
          : json_sprintf("`%s` has changed; %s reads it when it starts", path, host->title);
  json_t *event =
      kit_new_event("config.changed", call->session, json_pack("{s:o}", "summary", summary));
  json_object_set_new(event, "id",
                      json_sprintf("config:%ju:%jd.%09ld", (uintmax_t)info->st_ino,
                                   (intmax_t)info->st_mtim.tv_sec, (long)info->st_mtim.tv_nsec));
  if (kit_event(kit, event, NULL, &error)) hook_log("%s", error.text);
}

static void look_at(struct hostkit *kit, const struct hook_call *call, char *path) {
  struct stat info;
  if (path && is_file(path, &info) && is_new(kit, call, changed_ms(&info)))
    report_file(kit, call, path, &info);
  free(path);
}

void hook_report_files(struct hostkit *kit, const struct hook_call *call) {
  const struct host *host = call->host;
  if (!host->settings_file) return;
  char *home = host_home(host);
  if (home) look_at(kit, call, paths_join(home, host->settings_file));
  if (call->cwd[0] == '/') look_at(kit, call, paths_join(call->cwd, host->project_settings));
  free(home);
}
