/* SPDX-License-Identifier: MIT
 *
 * open.c: the life of a hostkit object: open, info, close.
 */
#include <stdlib.h>
#include <string.h>

#include "errors.h"
#include "kit.h"

int32_t hostkit_open(const struct hostkit_options *options, struct hostkit **ret_hostkit,
                     struct tidings_error *error) {
  if (!ret_hostkit) return hk_error(error, TIDINGS_E_INVAL, "ret_hostkit is a null pointer");
  struct hostkit *kit = calloc(1, sizeof *kit);
  if (!kit) return hk_error(error, TIDINGS_E_NOMEM, "out of memory while opening a plugin");
  struct hk_copy copy = HK_COPY_NONE;
  int32_t code = hk_settings_init(&kit->settings, options, error);
  if (code) goto out;
  code = hk_prepare(kit->settings.plugin_path, &kit->settings, &copy, error);
  if (code) goto out;
  if (hk_gate_init(&kit->gate)) {
    code = hk_error(error, TIDINGS_E_NOMEM, "out of memory while opening a plugin");
    goto out;
  }
  code = hk_load(&copy, kit->settings.plugin_path, &kit->settings, &kit->now, error);
  if (code) hk_gate_finish(&kit->gate);
out:
  if (code) {
    hk_copy_drop(&copy);
    hk_settings_finish(&kit->settings);
    free(kit);
    return code;
  }
  kit->generation = 1;
  *ret_hostkit = kit;
  return TIDINGS_OK;
}

int32_t hk_forked(struct tidings_error *error) {
  return hk_error(error, TIDINGS_E_CLOSED,
                  "this process was forked from the one that opened it; open another one here");
}

int32_t hk_begin(struct hostkit *kit, struct tidings_error *error) {
  if (!kit) return hk_error(error, TIDINGS_E_INVAL, "hostkit is a null pointer");
  if (!hk_gate_enter(&kit->gate)) return hk_forked(error);
  if (kit->now.image) return TIDINGS_OK;
  hk_gate_leave(&kit->gate);
  return hk_error(
      error, TIDINGS_E_CLOSED,
      "no plugin is loaded: a swap failed, and the old build could not be opened again");
}

void hk_end(struct hostkit *kit) { hk_gate_leave(&kit->gate); }

int32_t hk_still_busy(uint64_t calls, uint32_t drain_ms, struct tidings_error *error) {
  if (!calls)
    return hk_error(error, TIDINGS_E_BUSY, "a swap was still under way after %u ms",
                    (unsigned)drain_ms);
  return hk_error(error, TIDINGS_E_BUSY, "%llu %s still under way after %u ms",
                  (unsigned long long)calls, calls == 1 ? "call was" : "calls were",
                  (unsigned)drain_ms);
}

static void copy_name(char ret_name[64], const char *name) {
  size_t len = strnlen(name, 63);
  memcpy(ret_name, name, len);
  ret_name[len] = '\0';
}

int32_t hostkit_info(struct hostkit *kit, struct hostkit_info *ret_info) {
  if (!ret_info || ret_info->size < sizeof ret_info->size) return TIDINGS_E_INVAL;
  int32_t code = hk_begin(kit, NULL);
  if (code) return code;
  struct hostkit_info info = {
      .size = sizeof info,
      .generation = kit->generation,
      .abi_major = kit->now.entry.abi_major,
      .abi_minor = kit->now.entry.abi_minor,
      .has_query = kit->now.query.query != NULL,
      .has_wake = kit->now.wake.descriptor != NULL,
  };
  copy_name(info.name, kit->now.entry.name);
  copy_name(info.version, kit->now.entry.version);
  copy_name(info.build_id, kit->now.entry.build_id);
  hk_end(kit);

  uint32_t size = ret_info->size < sizeof info ? ret_info->size : (uint32_t)sizeof info;
  info.size = ret_info->size;
  memcpy(ret_info, &info, size);
  return TIDINGS_OK;
}

int32_t hostkit_close(struct hostkit *kit, uint32_t drain_ms, struct tidings_error *error) {
  if (!kit) return TIDINGS_OK;
  if (hk_gate_is_forked(&kit->gate)) return hk_forked(error);
  struct timespec deadline = hk_deadline(drain_ms);
  if (!hk_gate_claim(&kit->gate, &deadline)) return hk_still_busy(0, drain_ms, error);
  bool leaves = kit->settings.flags & HOSTKIT_LEAVE_TO_EXIT && kit->now.entry.abi_minor >= 2;
  int32_t code = TIDINGS_OK;
  uint64_t calls = hk_gate_shut(&kit->gate, &deadline);
  if (calls) {
    code = hk_still_busy(calls, drain_ms, error);
  } else if (kit->now.image) {
    const struct tidings_plugin *functions = &kit->now.functions;
    code = (leaves ? functions->quiesce : functions->close)(kit->now.plugin, error);
    if (code) hk_gate_open(&kit->gate);
  }
  if (code) {
    hk_gate_unclaim(&kit->gate);
    return code;
  }
  if (leaves) return TIDINGS_OK;
  if (kit->now.image) hk_unload(&kit->now, &kit->settings);
  hk_copy_drop(&kit->now.copy);
  hk_gate_finish(&kit->gate);
  hk_settings_finish(&kit->settings);
  free(kit);
  return TIDINGS_OK;
}
