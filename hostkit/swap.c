/* SPDX-License-Identifier: MIT
 *
 * swap.c: swaps a running plugin for a rebuilt one. The store refuses a second instance in one
 * process, so the old one is closed first; after that, each failure leads back to the old build,
 * which is loaded from the descriptor of its copy.
 */
#include <stdlib.h>

#include "errors.h"
#include "json.h"
#include "kit.h"
#include "text.h"

#include "common/store_url.h"

#define OLD_GOES_ON " (the old build goes on)"

/* Reads the configuration in force, as text, from the answer to `configure`: what differs from the
 * defaults, since the other build may not know every key of this one. *ret_configuration NULL: the
 * answer does not state it. */
static int32_t read_configuration(const char *json, size_t len, char **ret_configuration,
                                  struct tidings_error *error) {
  struct arena arena = ARENA_EMPTY;
  const struct json *answer = NULL;
  char *text = NULL;
  int32_t code = hk_json_read_object(span_of(json, len), "the plugin's answer to configure", &arena,
                                     &answer, error);
  const struct json *config = json_member(answer, "changed");
  if (!config) config = json_member(answer, "config");
  if (code && code != TIDINGS_E_NOMEM) code = TIDINGS_OK;
  if (config && config->kind == JSON_IS_OBJECT) {
    text = hk_copy_text(json + config->start, config->end - config->start);
    if (!text)
      code = hk_error(error, TIDINGS_E_NOMEM,
                      "out of memory while reading the configuration in force");
  }
  arena_free(&arena);
  if (!code) *ret_configuration = text;
  return code;
}

/* Replaces the configuration of the settings by the one in force. If the plugin cannot report it,
 * the settings stay. */
static int32_t take_configuration(struct hostkit *kit, struct tidings_error *error) {
  if (!kit->now.query.query) return TIDINGS_OK;
  struct tidings_span request = hk_span("{\"name\":\"configure\"}");
  char *answer = NULL;
  size_t len = 0;
  int32_t code = hk_ask(&kit->now, &request, &answer, &len, error);
  if (code) return code == TIDINGS_E_UNSUPPORTED ? TIDINGS_OK : code;
  char *configuration = NULL;
  code = read_configuration(answer, len, &configuration, error);
  free(answer);
  if (code) return code;
  if (!configuration) {
    hk_log(&kit->settings, TIDINGS_LOG_WARNING,
           "the plugin does not report its configuration; the new build gets the one "
           "given at open");
    return TIDINGS_OK;
  }
  free(kit->settings.configuration);
  kit->settings.configuration = configuration;
  return TIDINGS_OK;
}

/* Closes the old instance; the gate is shut, and no call runs. On failure the old instance is as it
 * was. There is no quiesce before: close does it, and changes nothing when it answers BUSY. */
static int32_t close_old(struct hostkit *kit, struct tidings_error *error) {
  int32_t code = take_configuration(kit, error);
  if (!code) code = kit->now.functions.close(kit->now.plugin, error);
  if (!code) hk_unload(&kit->now, &kit->settings);
  return code;
}

/* Opens the old build again. `failure` says why the new build could not be opened; this adds
 * whether the old one goes on. */
static void back_to_old(struct hostkit *kit, struct tidings_error *failure) {
  struct hk_copy copy = HK_COPY_NONE;
  struct hk_copy old = kit->now.copy;
  struct tidings_error why = {.size = sizeof why};
  int32_t code = hk_copy_again(&old, kit->settings.copy_dir, &copy, &why);
  if (!code) code = hk_load(&copy, kit->settings.plugin_path, &kit->settings, &kit->now, &why);
  if (!code) {
    hk_copy_drop(&old);
    hk_wait_again(kit);
    hk_error_append(failure, OLD_GOES_ON);
    return;
  }
  hk_copy_drop(&copy);
  hk_log(&kit->settings, TIDINGS_LOG_ERROR, why.text);
  hk_error_append(failure, " (and the old build cannot be opened again: ");
  hk_error_append(failure, hostkit_error_name(code));
  hk_error_append(failure, ")");
}

/* Replaces the old build by the one prepared in *copy; the gate is shut. Takes over *path. If an
 * earlier swap has lost the old build, there is nothing to close. */
static int32_t exchange(struct hostkit *kit, struct hk_copy *copy, char **path,
                        struct tidings_error *error) {
  int32_t code = kit->now.image ? close_old(kit, error) : TIDINGS_OK;
  if (code) return code;
  struct hk_copy old = kit->now.copy;
  struct tidings_error why = {.size = sizeof why};
  code = hk_load(copy, *path, &kit->settings, &kit->now, &why);
  if (code) {
    back_to_old(kit, &why);
    return hk_error_copy(error, &why);
  }
  hk_copy_drop(&old);
  free(kit->settings.plugin_path);
  kit->settings.plugin_path = *path;
  *path = NULL;
  kit->generation++;
  hk_wait_again(kit);
  return TIDINGS_OK;
}

/* Finds the file of the new build. For a store in a database this is the plugin for databases
 * beside it. */
static int32_t find_build(const struct hk_settings *settings, const char *plugin_path,
                          char **ret_path, struct tidings_error *error) {
  char *path = NULL;
  int32_t code = hk_absolute_path(plugin_path ? plugin_path : settings->plugin_path, &path, error);
  if (code) return code;
  *ret_path = store_url_plugin(path, settings->store_dir);
  free(path);
  return *ret_path ? TIDINGS_OK : hk_error(error, TIDINGS_E_NOMEM, "out of memory for a swap");
}

/* The caller holds the claim. Does everything that can fail without touching the old build before
 * it shuts the gate. */
static int32_t swap_plugin(struct hostkit *kit, const char *plugin_path, uint32_t drain_ms,
                           struct tidings_error *error) {
  struct hk_copy copy = HK_COPY_NONE;
  char *path = NULL;
  int32_t code = find_build(&kit->settings, plugin_path, &path, error);
  if (!code) code = hk_prepare(path, &kit->settings, &copy, error);
  if (code) goto out;
  struct timespec deadline = hk_deadline(drain_ms);
  uint64_t calls = hk_gate_shut(&kit->gate, &deadline);
  if (calls) {
    code = hk_still_busy(calls, drain_ms, error);
    goto out;
  }
  code = exchange(kit, &copy, &path, error);
  hk_gate_open(&kit->gate);
out:
  hk_copy_drop(&copy);
  free(path);
  return code;
}

int32_t hostkit_swap(struct hostkit *kit, const char *plugin_path, uint32_t drain_ms,
                     struct tidings_error *error) {
  if (!kit) return hk_error(error, TIDINGS_E_INVAL, "hostkit is a null pointer");
  if (plugin_path && !plugin_path[0])
    return hk_error(error, TIDINGS_E_INVAL,
                    "plugin_path is empty, expected a path or a null pointer");
  if (hk_gate_is_forked(&kit->gate)) return hk_forked(error);
  hk_gate_claim(&kit->gate, NULL);
  int32_t code = swap_plugin(kit, plugin_path, drain_ms, error);
  hk_gate_unclaim(&kit->gate);
  return code;
}
