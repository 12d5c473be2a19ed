/* SPDX-License-Identifier: MIT
 *
 * agents/hook/hook_config.c: the agent's own configuration: what it says of it, and where it says
 * nothing, the stamps of its files. Which changes were reported is in the store: an event with an
 * id that was there is no new one. So this remembers nothing.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "agents/hook/hook_log.h"
#include "agents/hook/hook_report.h"
#include "agents/hook/hook_time.h"
#include "agents/hook/hook_turns.h"
#include "command/json_value.h"
#include "command/paths.h"
#include "common/clock.h"

enum { RECENT_MS = 12 * 3600 * 1000 }; /* shorter than the store remembers an event's id */

int32_t hook_report_configured(struct hostkit *kit, const struct hook_call *call,
                               struct tidings_error *error) {
  const char *path = json_value_text(call->input, "file_path");
  json_t *summary = path[0] ? json_sprintf("`%s` (%s)", path, call->source)
                            : json_string(call->source[0] ? call->source : "settings");
  return hook_tell(kit, call, "config.changed", json_pack("{s:o}", "summary", summary), NULL,
                   error);
}

/* -- files ------------------------------------------------------------------------------------- */

/* What a link names: a person may keep the file elsewhere. Returns whether it is there. */
static bool is_file(const char *path, struct stat *ret_info) {
  return !stat(path, ret_info) && S_ISREG(ret_info->st_mode);
}

static int64_t changed_ms(const struct stat *info) {
  return (int64_t)info->st_mtim.tv_sec * 1000 + info->st_mtim.tv_nsec / 1000000;
}

/* Since when this process has the session; 0: it does not, or that is not known. */
static int64_t attached_ms(struct hostkit *kit, const struct hook_call *call) {
  json_t *status = NULL;
  if (kit_query(kit, json_pack("{s:s, s:s}", "name", "status", "session", call->session), &status,
                NULL))
    return 0;
  int64_t since = hook_time_ms(json_value_text(json_object_get(status, "attachment"), "since"));
  json_decref(status);
  return since;
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
  int64_t since = 0;
  if (path && is_file(path, &info) && clock_wall_ms() - changed_ms(&info) < RECENT_MS)
    since = attached_ms(kit, call);
  if (since && changed_ms(&info) > since) report_file(kit, call, path, &info);
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
